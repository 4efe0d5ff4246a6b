# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The test suites that Mailman's own clients bring along (Debian packages), run as they are against an instance."""
import os
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

from support import rest
from support.instance import Instance, let_through, tool
from support.sink import Sink

PYTHON = "/usr/bin/python3"
PACKAGES = Path("/usr/lib/python3/dist-packages")
THEIR_PORT = 9001  # where the suites expect a Mailman

# Runs inside of their pytest: an empty server for each module (or class), by nothing but their client.
WIPE = """\
import os
import pytest
from mailmanclient import Client
from urllib.error import HTTPError


def gone(delete, *args, **kwargs):
    try:
        delete(*args, **kwargs)
    except HTTPError as error:
        if error.code != 404:
            raise


@pytest.fixture(scope="{scope}", autouse=True)
def empty_server():
    client = Client(os.environ["REST_URL"] + "/3.1", "{user}", "{password}")
    for things in (client.domains, client.users):
        for thing in things:
            gone(thing.delete)
    for address in client._connection.call("addresses")[1].get("entries", ()):
        gone(client._connection.call, address["self_link"], method="DELETE")
    for thing in [*client.bans, *client.templates]:
        gone(thing.delete)
    bad = client.queues["bad"]
    for name in bad.files:
        client._connection.call(bad._url + "/" + name, method="DELETE")
    yield
"""

DJANGO = """\
import importlib.util
import os
from pathlib import Path

HERE = Path(__file__).parent
SECRET_KEY = "nothing to hide"
SITE_ID = 1
TESTING = True
ALLOWED_HOSTS = ["*"]
MAILMAN_REST_API_URL = os.environ["REST_URL"]
MAILMAN_REST_API_USER, MAILMAN_REST_API_PASS = "{user}", "{password}"
MAILMAN_ARCHIVER_KEY, MAILMAN_ARCHIVER_FROM = "key", ("127.0.0.1",)
POSTORIUS_TEMPLATE_BASE_URL = os.environ.get("WEB_URL", "http://localhost:8000")
INSTALLED_APPS = ["postorius", "django_mailman3", "django_gravatar", "allauth", "allauth.account",
                  "allauth.socialaccount", *(f"django.contrib.{{name}}" for name in (
                      "admin", "auth", "contenttypes", "humanize", "sessions", "sites", "messages", "staticfiles"))]
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.common.CommonMiddleware",
              "django.middleware.csrf.CsrfViewMiddleware", "django.middleware.locale.LocaleMiddleware",
              "django.contrib.auth.middleware.AuthenticationMiddleware",
              "django.contrib.messages.middleware.MessageMiddleware", "django_mailman3.middleware.TimezoneMiddleware",
              "postorius.middleware.PostoriusMiddleware"]
if importlib.util.find_spec("allauth.account.middleware"):  # newer versions have it, and want it
    MIDDLEWARE.append("allauth.account.middleware.AccountMiddleware")
ROOT_URLCONF = "site_urls"
CONTEXT = [*(f"django.template.context_processors.{{name}}" for name in (
               "debug", "i18n", "media", "static", "tz", "csrf", "request")),
           "django.contrib.auth.context_processors.auth", "django.contrib.messages.context_processors.messages",
           "django_mailman3.context_processors.common", "postorius.context_processors.postorius"]
TEMPLATES = [{{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
              "OPTIONS": {{"context_processors": CONTEXT}}}}]
DATABASES = {{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": HERE / "web.db"}}}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = USE_I18N = True
STATIC_URL = "/static/"
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_URL = "account_login", "list_index", "account_logout"
MESSAGE_TAGS = {{40: "danger"}}
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend",
                           "allauth.account.auth_backends.AuthenticationBackend"]
ACCOUNT_AUTHENTICATION_METHOD, ACCOUNT_EMAIL_REQUIRED = "username_email", True
ACCOUNT_EMAIL_VERIFICATION, ACCOUNT_UNIQUE_EMAIL = "mandatory", True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
"""

URLS = """\
from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("postorius/", include("postorius.urls")), path("", include("django_mailman3.urls")),
               path("accounts/", include("allauth.urls")), path("admin/", admin.site.urls)]
"""


class EmptySite:
    """An instance as the suites expect a Mailman: no list, archivers switched off, letters stay in the queue virgin."""

    def __init__(self, directory, **settings):
        let_through(directory)
        self.sink = Sink(tool("smtp-sink"), directory=directory / "sink")
        self.instance = Instance(self.sink.port, directory=directory / "site")
        self.instance.set(rest.serving(directory))
        self.port = self.instance.sections["runner.rest"]["listen"].split(":")[1]
        self.url = f"http://localhost:{self.port}"
        self.instance.set({**rest.as_mailman(self.instance.directory), "rest": {
            **self.instance.sections["rest"], "base_url": self.url}, **settings})
        self.instance.create_store()
        self.instance.start()

    def localised(self, text):
        """Text of a suite, pointed at this instance."""
        return text.replace(f":{THEIR_PORT}", f":{self.port}").replace("'restpass'", repr(rest.PASSWORD))

    def close(self):
        self.instance.stop()
        self.instance.close()
        self.sink.stop()


def write_django(directory):
    """A Django site with Postorius in it; its settings are the module site_settings."""
    (directory / "site_settings.py").write_text(DJANGO.format(user=rest.USER, password=rest.PASSWORD))
    (directory / "site_urls.py").write_text(URLS)


def run_suite(site, directory, sources, options=(), scope="module"):
    """Run the test files in a pytest of their own; return how many passed, and the names of those that did not."""
    directory.mkdir()
    for source in sources:
        (directory / source.name).write_text(site.localised(source.read_text()))
    (directory / "conftest.py").write_text(WIPE.format(scope=scope, user=rest.USER, password=rest.PASSWORD))
    (directory / "pytest.ini").write_text("[pytest]\nasyncio_mode = strict\n")
    result = directory / "result.xml"
    done = subprocess.run([PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--tb=short",
                           f"--junitxml={result}", *options, "."], cwd=directory, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "REST_URL": site.url, "PYTHONDONTWRITEBYTECODE": "1",
                               "PYTHONPATH": str(directory)})
    print(done.stdout[-20000:], file=sys.stderr)
    cases = list(xml.etree.ElementTree.parse(result).iter("testcase"))
    failed = [f"{case.get('classname')}.{case.get('name')}" for case in cases
              if case.find("failure") is not None or case.find("error") is not None]
    return len(cases) - len(failed), failed

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Postorius as Debian ships it, served by Django's own server, and a headless Chromium to look at it."""
import os
import shutil
import subprocess
import urllib.error
import urllib.request

from support import clients
from support.instance import free_port, wait_until

ADMIN, PASSWORD, ADDRESS = "anne", "a good password", "anne@example.net"

FIRST_USER = f"""\
import django
django.setup()
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
user = User.objects.create_superuser("{ADMIN}", "{ADDRESS}", "{PASSWORD}")
EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
"""


class Postorius:
    """A site of its own over the REST interface of an instance."""

    def __init__(self, directory, rest_url):
        directory.mkdir()
        clients.write_django(directory)
        self.url = f"http://127.0.0.1:{free_port()}"
        self.log = (directory / "log").open("w")
        self.how = {"cwd": directory, "stdout": self.log, "stderr": subprocess.STDOUT, "env": {
            **os.environ, "REST_URL": rest_url, "WEB_URL": self.url, "PYTHONPATH": str(directory),
            "PYTHONDONTWRITEBYTECODE": "1", "DJANGO_SETTINGS_MODULE": "site_settings"}}
        django = [clients.PYTHON, "-m", "django"]
        subprocess.run([*django, "migrate", "--run-syncdb"], check=True, **self.how)
        subprocess.run([clients.PYTHON, "-c", FIRST_USER], check=True, **self.how)
        self.process = subprocess.Popen([*django, "runserver", "--noreload", "--insecure", self.url.split("//")[1]],
                                        **self.how)
        wait_until(self.answers, 60, "Postorius to answer")

    def answers(self):
        try:
            return urllib.request.urlopen(f"{self.url}/accounts/login/", timeout=10).status == 200
        except (urllib.error.URLError, ConnectionError):
            return False

    def close(self):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()


class Browser:
    """A window: opens pages, fills forms by the names of their fields, and reads what is shown."""

    def __init__(self, directory, site, scripts=True, width=1280):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--window-size={max(width, 500)},2000", f"--user-data-dir={directory / 'browser'}"):
            options.add_argument(word)
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        if width < 500:  # narrower than Chromium makes a window
            options.add_experimental_option("mobileEmulation", {"deviceMetrics": {
                "width": width, "height": 640, "pixelRatio": 2}})
        self.site, self.width = site, width
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_page_load_timeout(60)

    def open(self, path):
        self.driver.get(f"{self.site}{path}")

    @property
    def text(self):
        return self.driver.find_element("tag name", "body").text

    def fill(self, **fields):
        for name, value in fields.items():
            found = self.driver.find_elements("name", name)
            self.filled = found[0]
            kind = found[0].get_attribute("type")
            if kind in ("radio", "checkbox"):
                (box,) = [box for box in found if kind == "checkbox" or box.get_attribute("value") == value]
                if box.is_selected() != bool(value):
                    self.driver.execute_script("arguments[0].click()", box)
            elif found[0].tag_name == "select":
                self.driver.execute_script("arguments[0].value = arguments[1]", found[0], value)
            else:
                found[0].clear()
                found[0].send_keys(value)

    def submit(self, button=None):
        """Press the button of that name or, without one, send the form that was filled last."""
        before = self.driver.find_element("tag name", "html")
        if button:
            self.driver.execute_script("arguments[0].click()", self.driver.find_element("name", button))
        else:
            self.driver.execute_script("arguments[0].form.requestSubmit()", self.filled)
        wait_until(lambda: self.gone(before), 60, "the next page")

    def press(self, what="main button", how="css selector"):
        """Touch a button or a link that leads to another page."""
        before = self.driver.find_element("tag name", "html")
        self.touch(self.driver.find_element(how, what))
        wait_until(lambda: self.gone(before), 60, "the next page")

    def touch(self, element):
        """Scroll to it and touch it: the touch must not meet something else."""
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def fits(self):
        """Nothing is wider than the screen."""
        inner, whole = self.driver.execute_script("return [innerWidth, document.documentElement.scrollWidth]")
        print(f"{self.driver.current_url} is {whole} wide")
        return whole <= min(inner, self.width)

    def be(self, person):
        """Have the session of somebody who signed in elsewhere."""
        self.open("/")
        name, value = person.cookie.split("=", 1)
        self.driver.add_cookie({"name": name, "value": value})

    @staticmethod
    def gone(element):
        from selenium.common.exceptions import WebDriverException
        try:
            element.is_enabled()
            return False
        except WebDriverException:  # it is stale, or belongs to no document just now
            return True

    def log_in(self):
        self.open("/accounts/login/")
        self.fill(login=ADMIN, password=PASSWORD)
        self.submit()

    def close(self):
        self.driver.quit()


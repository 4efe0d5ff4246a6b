# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The REST interface of an instance, spoken with Python's own client."""
import base64
import http.client
import json
import urllib.parse
from contextlib import contextmanager
from dataclasses import dataclass

from support.instance import Instance, free_port, let_through, tool, write_secret
from support.sink import Sink

USER, PASSWORD = "restadmin", "restpass"


def serving(directory, **more):
    """Return what an instance needs to serve REST on a free port."""
    passwords = directory / "rest.passwd"
    write_secret(passwords, f"# who may\n{USER}:{PASSWORD}\n")
    return {"runner.rest": {"start": "yes", "listen": f"127.0.0.1:{free_port()}"},
            "rest": {"password_file": passwords, **more}}


def as_mailman(directory):  # of the instance
    """Settings that the test suites of Mailman's clients find in a Mailman as it comes: its archivers, letters that
    stay in the queue virgin, and what their manual prints of the configuration."""
    return {"runner.virgin": {"start": "no"}, "archiver.maildir": None, "archiver.mbox": None,
            **{f"archiver.{name}": {"type": "maildir", "path": directory / "archive" / name}
               for name in ("mail-archive", "mhonarc", "prototype")},
            "site": {"site_owner": "changeme@example.com", "template_refresh": "7d", "template_hosts": "*"},
            "handlers": {"html_to_plain_text_command": "/usr/bin/lynx -dump $filename"}}


@contextmanager
def site(directory, settings=None, **rest):
    """An instance that serves REST and sends to a sink of its own, started; `rest` has further keys of [rest]."""
    let_through(directory)
    sink = Sink(tool("smtp-sink"), directory=directory / "sink")
    instance = Instance(sink.port, directory=directory / "site")
    try:
        instance.set(serving(directory, **rest))
        instance.set(settings or {})
        instance.create_store()
        instance.start()
        yield instance
    finally:
        instance.close()
        sink.stop()


@dataclass
class Answer:
    status: int
    headers: dict
    text: str

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def location(self):
        """The path below the version."""
        return self.headers["Location"].split("/3.1/", 1)[-1].split("/3.0/", 1)[-1]


class Rest:
    def __init__(self, instance, user=USER, password=PASSWORD):
        host, port = instance.sections["runner.rest"]["listen"].split(":")
        self.place = host, int(port)
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        self.headers = {"Authorization": f"Basic {token}"}

    def raw(self, verb, path, body=None, headers=()):
        connection = http.client.HTTPConnection(*self.place, timeout=120)
        try:
            connection.request(verb, path, body, {**self.headers, **dict(headers)})
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
        finally:
            connection.close()

    def call(self, verb, path, form=None, version="3.1", **fields):
        """A form is what is sent in the body; it may hold lists."""
        values = {**(form or {}), **fields}
        body = urllib.parse.urlencode(values, doseq=True) if values else None
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        return self.raw(verb, f"/{version}/{path}", body, headers)

    def json(self, verb, path, value):
        return self.raw(verb, f"/3.1/{path}", json.dumps(value), {"Content-Type": "application/json"})

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The pages of the runner web, asked as a browser without a memory asks. Each page that comes is checked."""
import http.client
import os
import re
import urllib.parse
from pathlib import Path

from support.instance import free_port

checks = []  # functions that are called with each page; the tests add theirs, the demonstration none
LINK = re.compile(r"https?://[^/\s]+(/\S*?(?:confirm|decide|sign-in|u)/[^\s<>]+)")


def link_in(letter):
    """The path of the link to a page in a letter."""
    return LINK.search(letter.get_body(("plain",)).get_content()).group(1)


def leave_link(copy):
    """The path of the link by which who got this copy leaves."""
    return re.search(r"<https://pages\.example(/u/[^>]+)>", copy["List-Unsubscribe"]).group(1)


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.octets = response.status, response.headers, response.read()

    @property
    def text(self):
        return self.octets.decode(errors="replace")

    def says(self, *words):
        assert all(word in self.text for word in words), self.text
        return self


class Pages:
    """Pages behind a proxy that says who asks."""

    def __init__(self, instance):
        self.port = int(instance.sections["runner.web"]["listen"].rpartition(":")[2])

    def ask(self, verb, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"X-Forwarded-For": "192.0.2.7", **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(verb, path, body, headers)
        answer = Answer(connection.getresponse())
        connection.close()
        if answer.octets and answer.headers["Content-Type"].startswith("text/html"):
            for check in checks:
                check(answer.octets)
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def send(self, path, fields, **headers):
        return self.ask("POST", path, urllib.parse.urlencode(fields),
                        Content_Type="application/x-www-form-urlencoded", **headers)

    def link(self, path, pattern):
        """The first link of a page that fits."""
        found = re.search(rf'href="({pattern})"', self.get(path).text)
        assert found, f"{path} has no link {pattern}"
        return found.group(1)

    def form_mark(self, list_id):
        return re.search(r'name="mark" value="([^"]+)"', self.get(f"/list/{list_id}").text).group(1)

    def join(self, list_id, address, **fields):
        return self.send(f"/list/{list_id}/join", {"mark": self.form_mark(list_id), "address": address, **fields})


def memory(pid):
    """Bytes of a process that are in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def make_site(instances, sink, **settings):
    """A site whose pages are at https://pages.example, behind a proxy."""
    instance = instances(sink.port, settings={
        "site": {"web_url": "https://pages.example", "held_notice_interval": "0"},
        "runner.web": {"listen": f"127.0.0.1:{free_port()}"}, **settings}).start()
    instance.pages = Pages(instance)
    return instance


def letters(instance, sink, to):
    """The letters that came to an address since they were looked at."""
    instance.wait_idle()
    return sink.take_mail().get(to, [])


def letter_link(instance, sink, to):
    """The link in the one letter that came."""
    (letter,) = letters(instance, sink, to)
    return link_in(letter)

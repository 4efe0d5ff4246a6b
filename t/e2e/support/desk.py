# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""People who sign in on the pages, and what they send from the desk."""
import html
import re

from support.post import post
from support.instance import HOST


def mark(text):
    return re.search(r'name="mark" value="([^"]+)"', text).group(1)


def form_fields(text):
    """All fields of the form of a page, as a browser sends them."""
    inputs = re.findall(r'<input[^>]* name="([^"]+)"[^>]*? value="([^"]*)"', text)
    found = {name: html.unescape(value) for name, value in inputs if not name.startswith("drop-")}
    found.update((name, html.unescape(value).replace("\n", "\r\n")) for name, value in
                 re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n(.*?)</textarea>', text, re.S))
    for name, choices in re.findall(r'<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>', text):
        found[name] = re.search(r"<option selected>(.*?)</option>", choices).group(1)
    return found


def sign_in(instance, sink, address):
    """Returns the cookie of a new session."""
    pages = instance.pages
    assert pages.send("/sign-in", {"mark": mark(pages.get("/sign-in").text), "address": address}).status == 200
    instance.wait_idle()
    letters = sink.take_mail().get(address, [])
    (link,) = [found.group(1) for found in (
        re.search(r"https?://\S+?(/sign-in/\S+)", letter.get_body(("plain",)).get_content()) for letter in letters)
        if found]
    answer = pages.send(link, {})
    assert answer.status == 303
    return answer.headers["Set-Cookie"].split("; ")[0]


class Person:
    """Somebody with a session, who sends forms with its mark."""

    def __init__(self, instance, sink, address):
        self.address, self.pages = address, instance.pages
        self.cookie = sign_in(instance, sink, address)
        self.mark = mark(self.get("/my").text)

    def get(self, path, **headers):
        return self.pages.get(path, Cookie=self.cookie, **headers)

    def send(self, path, fields, **headers):
        return self.pages.send(path, {"mark": self.mark, **fields}, Cookie=self.cookie, **headers)

    def waiting(self):
        """The fields of what waits, "post-12", in their order, and the titles."""
        return re.findall(r'type="checkbox" name="((?:post|request)-\d+)" value="yes"> (.*?)</label>',
                          self.get("/desk").text)

    def field(self, title):
        (found,) = [name for name, shown in self.waiting() if title in shown]
        return found


def write_to(instance, name, sender, subject, **options):
    """A post, which waits unless the sender may write."""
    instance.lmtp_send(post(sender=sender, to=f"{name}@{HOST}", subject=subject, **options), f"{name}@{HOST}",
                       sender=sender)
    instance.wait_idle()

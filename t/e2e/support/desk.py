# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""People who sign in on the pages, and what they send from the desk."""
import html
import re

from support.instance import HOST
from support.pages import letters
from support.post import post

CATS = f"/desk/list/cats.{HOST}"


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


def ask_to_sign_in(instance, address):
    pages = instance.pages
    return pages.send("/sign-in", {"mark": mark(pages.get("/sign-in").text), "address": address})


def sign_in_links(instance, sink, address):
    """The paths of the links to sign in that came to an address."""
    came = letters(instance, sink, address)
    texts = [letter.get_body(("plain",)).get_content() for letter in came]
    assert "$" not in "".join(texts) + "".join(str(letter["Subject"]) for letter in came)
    return [found.group(1) for found in (re.search(r"https?://\S+?(/sign-in/\S+)", text) for text in texts) if found]


def sign_in(instance, sink, address):
    """Returns the cookie of a new session."""
    assert ask_to_sign_in(instance, address).status == 200
    (link,) = sign_in_links(instance, sink, address)
    answer = instance.pages.send(link, {})
    assert answer.status == 303 and answer.headers["Location"].endswith("/my")
    cookie, *attributes = answer.headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(attributes)
    return cookie


def operator(instance, address):
    """Somebody who runs the site."""
    instance.cli("user", "create", address)
    instance.cli("user", "set", address, "server_owner=yes")


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

    def confirm(self, path, page):
        """Send the form of a page that asks whether it is meant."""
        return self.send(path, {**form_fields(page.text), "confirm": "yes"})

    def membership(self, name):
        """The path of the page of an own list."""
        found = re.search(rf'href="(/my/member/[^"]+)">{name}<', self.get("/my").text)
        return found and found.group(1)

    def waiting(self):
        """The fields of what waits, "post-12", in their order, and the titles."""
        return re.findall(r'type="checkbox" name="((?:post|request)-\d+)" value="yes"> (.*?)</label>',
                          self.get("/desk").text)

    def field(self, title):
        (found,) = [name for name, shown in self.waiting() if title in shown]
        return found


def write_to(instance, name, sender, subject="Weather", **options):
    """A post, which waits unless the sender may write."""
    instance.lmtp_send(post(sender=sender, to=f"{name}@{HOST}", subject=subject, **options), f"{name}@{HOST}",
                       sender=sender)
    instance.wait_idle()

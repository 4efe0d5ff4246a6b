# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Texts of letters that somebody set: for a list, a domain, the site; kept here, or fetched from a web server; and what
is refused."""
import base64
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support import rest
from support.instance import HOST, wait_until

pytestmark = pytest.mark.main

LIST, OTHER = f"test@{HOST}", f"other@{HOST}"
ANNE, BERTRAND = "anne@example.net", "bertrand@example.fr"
HELD = "list:user:notice:hold"


@pytest.fixture
def pages():
    """A web server: {path: (status, octets)}; it notes who asked for what."""
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append((self.path, self.headers["Authorization"]))
            status, octets = self.server.pages.get(self.path, (404, b"none"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(octets)))
            self.end_headers()
            self.wfile.write(octets)

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.pages, server.asked = {}, []
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


class Site:
    def __init__(self, instance, sink):
        self.instance, self.sink, self.cli = instance, sink, instance.cli
        self.numbers = iter(range(1000))

    def mail(self):
        self.instance.wait_idle()
        return self.sink.take_mail()

    def told(self, to=LIST, who=ANNE):
        """The letter to the author of a post that is held."""
        self.instance.lmtp_send(f"From: {who}\r\nTo: {to}\r\nSubject: hello\r\n"
                                f"Message-ID: <{next(self.numbers)}@t>\r\n\r\nHi\r\n".encode(), to, sender=who)
        return self.mail()[who][0]

    def refused(self, code, says, *words, **more):
        done = self.instance.run(*words, **more)
        assert done.returncode == code and says in done.stderr, (done.returncode, done.stderr)

    def rows(self, *words):
        return self.instance.rows("template", "ls", *words)


@pytest.fixture
def site(instances, sink, pages):
    instance = instances(sink.port, settings={"site": {"template_hosts": pages.url.split("//")[1]}}).start()
    for name in ("test", "other"):
        instance.create_list(name, [ANNE, BERTRAND], settings=["subject_prefix=", "default_member_action=hold"])
        instance.cli("member", "set", f"{name}@{HOST}", BERTRAND, "--language", "fr")
    return Site(instance, sink)


def test_list_before_domain_before_site_before_file(site):
    assert site.told()["Subject"] == "Your message to Test is waiting for approval"
    site.cli("template", "set", HELD, input="Of the site, $list_name\n")
    letter = site.told()
    assert letter["Subject"] == "Your message to Test is waiting for approval"
    assert letter.get_content().startswith("Of the site, Test")
    site.cli("template", "set", "--domain", HOST, HELD, input="Subject: Hello $sender_email\n\nOf the domain\n")
    site.cli("template", "set", "--list", LIST, "held_poster", input="Of the list: $$5 ${short_listname}\n")
    assert site.told(OTHER)["Subject"] == f"Hello {ANNE}"
    assert "Of the list: $5 test" in site.told().get_content()
    site.cli("template", "set", "--list", LIST, "--language", "fr", "held_poster", input="De la liste\n")
    french = site.told(who=BERTRAND)
    assert french["Subject"] == "Votre message à Test attend un accord" and "De la liste" in french.get_content()
    rows = [row for row in site.rows("--list", LIST) if row["name"] == HELD]
    assert [(row["from"], row["language"]) for row in rows] == [
        ("list", None), ("list", "fr"), ("domain", None), ("site", None)]
    assert "De la liste" in site.cli("template", "show", "--list", LIST, "--language=fr", "held_poster")
    site.cli("template", "unset", "--list", LIST, "held_poster")
    assert "Of the domain" in site.told().get_content()
    site.refused(66, "nobody has set", "template", "unset", "--list", LIST, "held_poster")


def test_a_reason_is_in_the_language_of_the_person(site):
    assert "The sender is a moderated member" in site.told().get_content()
    french = site.told(who=BERTRAND).get_content()
    assert "Les messages de ce membre de la liste sont soumis à modération." in french and "The sender" not in french


def test_owners_are_told_of_their_new_list(site):
    site.cli("list", "create", f"new@{HOST}", "--owner", "olga@example.com", "--notify")
    letter, = site.mail()["olga@example.com"]
    assert letter["Subject"] == f"Your list new@{HOST}" and f"new-join@{HOST}" in letter.get_content()
    # A From at another domain than the signature's is refused by DMARC; answers go to the people of the site.
    assert letter["From"] == f"new-owner@{HOST}" and "postmaster@" in letter["Reply-To"]
    site.cli("list", "create", f"newer@{HOST}", "--owner", "olga@example.com")
    assert site.mail() == {}


def test_a_text_that_cannot_be_right_is_refused_at_once(site):
    site.refused(64, "$adress is not filled in; there are: $address,", "template", "set", "welcome",
                 input="Hello $adress\n")
    site.refused(66, "hello", "template", "set", "hello", input="x\n")
    site.refused(64, "not a list's", "template", "set", "--list", LIST, "list_created", input="x\n")
    site.refused(64, "is no language", "template", "set", "--language", "../x", "welcome", input="x\n")
    site.refused(64, "cannot be fetched", "template", "set", "--uri", "gopher://x/y", "welcome")
    site.refused(64, "below template_directory", "template", "set", "--uri", "file:///etc/passwd", "welcome")
    site.refused(66, "nolist", "template", "set", "--list", f"nolist@{HOST}", "welcome", input="x\n")
    site.refused(64, "$lst_name is not filled in; there are: $list_name,", "list", "set", LIST,
                 "msg_footer=Of $lst_name")
    site.cli("list", "set", LIST, "msg_footer=Of $list_name, $$lst_name")
    assert "all texts are well" in site.cli("template", "check")


def test_a_text_comes_from_a_web_server(site, pages):
    pages.pages["/held"] = (200, "Grüße aus dem Netz, $display_name\r\n".encode())
    site.cli("template", "set", "--list", LIST, "--uri", pages.url + "/held", "--user", "core", "--password-file", "-",
             HELD, input="pw\n")
    wait_until(lambda: "aus dem Netz" in site.cli("template", "show", "--list", LIST, "held_poster"), 20, "the text")
    assert pages.asked[0] == ("/held", "Basic " + base64.b64encode(b"core:pw").decode())
    assert "Grüße aus dem Netz, Test" in site.told().get_content()
    asked = len(pages.asked)
    site.told()
    assert len(pages.asked) == asked, "a letter does not wait for a web server"


def test_a_text_comes_only_from_hosts_that_the_site_names(site, pages):
    """Neither a list nor a domain makes this host fetch what only this host can reach."""
    pages.pages["/held"] = (200, b"Of this host\n")
    port = pages.url.split(":")[2]
    other = f"http://localhost:{port}/held"
    for place in (("--list", LIST), ("--domain", HOST)):
        site.refused(64, "the site names in [site] template_hosts", "template", "set", *place, "--uri", other, HELD)
    site.cli("template", "set", "--uri", other, HELD)
    wait_until(lambda: len(pages.asked) == 1, 20, "the site's text")
    # Any host, but with a public address: found out only when the name has become one. A redirection is not followed.
    site.instance.set({"site": {"template_hosts": f"*, 127.0.0.1:{port}"}})
    site.cli("reload")
    pages.pages["/away"] = (302, b"")
    site.cli("template", "set", "--list", LIST, "--uri", other, HELD)
    site.cli("template", "set", "--list", OTHER, "--uri", f"http://[::ffff:127.0.0.1]:{port}/held", HELD)
    site.cli("template", "set", "--domain", HOST, "--uri", pages.url + "/held", HELD)
    site.cli("template", "set", "--domain", HOST, "--uri", pages.url + "/away", "goodbye")

    def fault(*place):
        return [row["fault"] for row in site.rows(*place) if row["name"] == HELD and row["from"] == "list"]
    for address in (LIST, OTHER):
        wait_until(lambda: fault("--list", address)[0], 20, "the fault")
        assert "has an address that is not a public one, or is one of this host" in fault("--list", address)[0]
    wait_until(lambda: len(pages.asked) >= 3, 20, "the domain's texts")
    assert sorted(path for path, _ in pages.asked[1:]) == ["/away", "/held"]


def test_what_a_rest_client_stores_has_its_effect(instances, sink, pages):
    """As Postorius does: it keeps the text itself, and tells where."""
    instance = instances(sink.port)
    instance.set({**rest.serving(instance.directory), "site": {"template_hosts": pages.url.split("//")[1]}})
    instance.start()
    instance.create_list("test", [ANNE], settings=["default_member_action=hold"])
    site, api = Site(instance, sink), rest.Rest(instance)
    pages.pages["/postorius/api/templates/list/x"] = (200, b"From Postorius: $subject\n")
    answer = api.call("PATCH", f"lists/test.{HOST}/uris", {HELD: pages.url + "/postorius/api/templates/list/x"})
    assert answer.status == 204
    wait_until(lambda: "From Postorius" in site.cli("template", "show", "--list", LIST, "held_poster"), 20, "the text")
    assert "From Postorius: hello" in site.told().get_content()
    assert api.call("DELETE", f"lists/test.{HOST}/uris").status == 204
    assert "has to look at it first" in site.told().get_content()


def test_what_cannot_be_fetched_leaves_the_text_that_was_there(site, pages):
    site.cli("template", "set", "--list", LIST, "--uri", pages.url + "/gone", HELD)
    pages.pages["/odd"] = (200, b"Hello $adress\n")
    pages.pages["/binary"] = (200, b"\xff\xfe\n")
    pages.pages["/long"] = (200, b"x" * 300000)
    for name, path in (("goodbye", "/odd"), ("rejected", "/binary"), ("welcome", "/long")):
        site.cli("template", "set", "--uri", pages.url + path, name)

    def faults():
        return {row["file"]: row["fault"] for row in site.rows("--list", LIST) if row["fault"]}
    wait_until(lambda: len(faults()) == 4, 20, "four faults")
    found = faults()
    assert "answered 404" in found["held_poster"] and "$adress" in found["goodbye"] and "UTF-8" in found["rejected"]
    assert "longer than" in found["welcome"]
    assert "has to look at it first" in site.told().get_content()
    checked = site.instance.run("template", "check")
    assert checked.returncode == 1 and len(checked.stdout.splitlines()) == 4
    pages.pages["/gone"] = (200, b"Back again\n")
    site.cli("template", "set", "--list", LIST, "--uri", pages.url + "/gone", HELD)
    wait_until(lambda: "Back again" in site.cli("template", "show", "--list", LIST, "held_poster"), 20, "the text")


def test_a_file_of_the_installation(site):
    site.cli("template", "set", "--list", LIST, "--uri", "mailman:///fr/held_poster.txt", HELD)
    assert site.told()["Subject"] == "Votre message à Test attend un accord"
    site.cli("template", "set", HELD, input="Of the site\n")
    site.cli("template", "set", "--list", LIST, "--uri", "mailman:///list:user:notice:hold.txt", HELD)
    assert "has to look at it first" in site.told().get_content()


def post(site, subject="hello"):
    site.instance.lmtp_send(f"From: {ANNE}\r\nTo: {LIST}\r\nSubject: {subject}\r\n"
                            f"Message-ID: <{next(site.numbers)}@t>\r\n\r\nHi\r\n".encode(), LIST, sender=ANNE)
    return site.mail()[ANNE][0].get_content().replace("\r\n", "\n")


def test_header_and_footer_of_posts(site):
    site.cli("list", "set", LIST, "default_member_action=accept")
    assert post(site) == "Hi\n"
    site.cli("template", "set", "list:member:generic:footer", input="-- \n$display_name at $fqdn_listname\n")
    assert post(site) == f"Hi\n-- \nTest at {LIST}\n"
    site.cli("template", "set", "--domain", HOST, "list:member:regular:footer", input="$short_listname-leave@$domain\n")
    site.cli("template", "set", "--list", LIST, "list:member:regular:header", input="For $listname:\n")
    assert post(site) == f"For {LIST}:\nHi\ntest-leave@{HOST}\n"
    site.cli("list", "set", LIST, "msg_footer=The setting")
    assert post(site).endswith("Hi\nThe setting\n")
    site.cli("list", "set", LIST, "msg_footer=")
    site.cli("template", "unset", "--domain", HOST, "list:member:regular:footer")
    site.cli("template", "unset", "--list", LIST, "list:member:regular:header")
    assert post(site) == f"Hi\n-- \nTest at {LIST}\n"


def test_texts_go_with_their_list(site):
    site.cli("template", "set", "--list", OTHER, HELD, input="Old\n")
    site.cli("list", "remove", OTHER, "--yes")
    site.instance.create_list("other")
    assert [row["from"] for row in site.rows("--list", OTHER) if row["name"] == HELD] == ["file"]

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The pages and hostile clients: what is no request, comes from elsewhere, or comes in very many parts."""
import contextlib
import os
import random
import re
import signal
import socket
import time
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from support.desk import write_to
from support.instance import HOST, wait_until
from support.pages import leave_link, letter_link, make_site, memory
from support.post import post

ANNE, BART, CORA, OLGA = (f"{name}@example.org" for name in ("anne", "bart", "cora", "olga"))
FORM = {"Content_Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def world(instances, sink):
    instance = make_site(instances, sink)
    instance.create_list("cats", [ANNE, BART], owner=OLGA)
    return instance


def raw(world, octets):
    """Return what is answered to these bytes, up to the connection's end."""
    with socket.create_connection(("127.0.0.1", world.pages.port), 60) as client:
        with contextlib.suppress(OSError):  # it is closed before all has been sent
            client.sendall(octets)
            client.shutdown(socket.SHUT_WR)
        found = b""
        with contextlib.suppress(ConnectionError):
            while more := client.recv(65536):
                found += more
        return found


def status(answer):
    return int(answer.split()[1]) if answer else 0


def alive(world, pid):
    """The pages still come, from the same process."""
    assert world.pages.get("/").status == 200 and world.pids("web") == [pid]


def test_a_request_on_its_way_when_the_process_is_to_leave(world):
    """It is answered, since its connection was taken before."""
    (pid,) = world.pids("web")
    with socket.create_connection(("127.0.0.1", world.pages.port), timeout=180) as client:
        client.sendall(b"GET / HTTP/1.1\r\n")
        alive(world, pid)  # so the connection before was accepted, too
        os.kill(pid, signal.SIGTERM)
        time.sleep(0.1)
        client.sendall(b"Host: x\r\n\r\n")
        assert client.recv(64).startswith(b"HTTP/1.1 200 ")
    wait_until(lambda: world.pids("web") not in ([], [pid]), 60, "the next process")


def test_forms_come_from_our_own_pages(world):
    """As browsers say, by Sec-Fetch-Site or, older ones, by Origin; a program that says nothing is none."""
    pages, form = world.pages, f"/list/cats.{HOST}/join"
    fields = {"mark": pages.form_mark(f"cats.{HOST}"), "address": CORA}
    for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
                    {"Origin": "https://evil.example"}, {"Origin": "https://pages.example.evil.example"},
                    {"Origin": "http://pages.example"}, {"Origin": "https://pages.example:444"},
                    {"Origin": "https://evil.example", "Sec_Fetch_Site": "x"}):
        answer = pages.send(form, fields, **headers)
        assert answer.status == 403, headers
        answer.says("page elsewhere")
        assert pages.get(f"/list/cats.{HOST}", **headers).status == 200  # links lead here from anywhere
    for number, headers in enumerate((
            {}, {"Sec_Fetch_Site": "same-origin"}, {"Sec_Fetch_Site": "none"}, {"Origin": "https://pages.example"},
            {"Origin": "HTTPS://Pages.Example"}, {"Origin": "null"},
            {"Origin": "null", "Sec_Fetch_Site": "same-origin"})):
        fields["address"] = f"cora{number}@example.org"  # of one address a day's forms would be too many
        assert pages.send(form, fields, **headers).status == 200, headers


def link_of_new_copy(world, sink, to):
    write_to(world, "cats", CORA)
    return leave_link(sink.take_mail()[to][0])


def test_one_click_comes_from_anywhere(instances, sink):
    world = make_site(instances, sink, pipeline={"verp_delivery_interval": "1"})
    world.create_list("cats", [ANNE], owner=OLGA)
    answer = world.pages.ask("POST", link_of_new_copy(world, sink, ANNE), "List-Unsubscribe=One-Click", **FORM,
                             Origin="https://mail.example", Sec_Fetch_Site="cross-site")
    assert answer.status == 200 and world.members() == []


def test_the_sites_new_secret_counts_at_once(instances, sink):
    """A link that was signed with it counts, and one signed with the one before, while the process goes on."""
    world = make_site(instances, sink, pipeline={"verp_delivery_interval": "1"})
    world.create_list("cats", [ANNE, BART], owner=OLGA)
    old = link_of_new_copy(world, sink, ANNE)
    pid, = world.pids("web")
    world.cli("bounce", "rotate")
    for runner in ("in", "pipeline"):  # which keep keys for a minute
        before = world.pids(runner)
        world.kill_runner(runner)
        wait_until(lambda: world.pids(runner) not in ([], before), 30, f"another {runner}")
    new = link_of_new_copy(world, sink, BART)
    assert link_of_new_copy(world, sink, ANNE) != old
    world.pages.get(new).says("Leave Cats?", BART)
    world.pages.get(old).says("Leave Cats?", ANNE)
    world.pages.join(f"cats.{HOST}", CORA).says("Please read your mail")
    assert world.pids("web") == [pid]


def test_all_answers_are_pages(world):
    """Also to what is too large, or no request."""
    large = b"x" * 70_000
    host = b"Host: x\r\n"
    cases = {
        413: [b"POST /u/x HTTP/1.1\r\n" + host + b"Content-Length: 70000\r\n\r\n" + large,
              b"POST /u/x HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n" +
              b"1170\r\n" + b"x" * 0x1170 + b"\r\n" + (b"1170\r\n" + b"x" * 0x1170 + b"\r\n") * 15],
        431: [b"GET / HTTP/1.1\r\n" + host + b"X: " + large + b"\r\n\r\n", b"GET /" + large + b" HTTP/1.1\r\n\r\n"],
        400: [b"GET / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\n" + host * 2 + b"\r\n",
              b"POST /u/x HTTP/1.1\r\n" + host + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
              b"POST /u/x HTTP/1.1\r\n" + host + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc"],
        501: [b"POST /u/x HTTP/1.1\r\n" + host + b"Transfer-Encoding: gzip\r\n\r\n"],
        505: [b"GET / HTTP/2.0\r\n" + host + b"\r\n"],
    }
    for wanted, requests in cases.items():
        for request in requests:
            answer = raw(world, request)
            head, _, body = answer.partition(b"\r\n\r\n")
            assert status(answer) == wanted, (wanted, request[:80], answer[:200])
            assert b"Content-Type: text/html" in head and b"Content-Security-Policy" in head and b"<h1>" in body
    german = raw(world, b"POST /u/x HTTP/1.1\r\nHost: x\r\nAccept-Language: de\r\n"
                        b"Content-Length: 70000\r\n\r\n" + large)
    assert "Das ist zu groß".encode() in german


def test_a_path_of_the_site_like_a_page(instances, sink):
    """web_url leads to /list, and pages are below /list as well; the proxy passes that on or takes it away."""
    world = make_site(instances, sink, site={"web_url": "https://pages.example/list"})
    world.create_list("cats", owner=OLGA)
    for path in ("/list", "/list/", "/"):
        world.pages.get(path).says(f'href="/list/list/cats.{HOST}"')
    for path in (f"/list/list/cats.{HOST}", f"/list/cats.{HOST}"):
        world.pages.get(path).says("<h1>Cats</h1>")
    mark = world.pages.form_mark(f"cats.{HOST}")
    for path in (f"/list/list/cats.{HOST}/join", f"/list/cats.{HOST}/join"):
        assert world.pages.send(path, {"mark": mark, "address": CORA}).status == 200
    assert world.pages.get("/list/list/list/x").status == 404
    assert world.pages.get(f"/list/list/cats.{HOST}/join").status == 405


PATHS = ["..", "/..", "/../", "/../../etc/passwd", "/list/..", "/list/../list/", "/files/../web.c", "/files/..%2fweb.c",
         "/files/%2e%2e/%2e%2e/etc/passwd", "/files/%2e%2e%2fhead.mustache", "/files/head.mustache", "/files/po/de.po",
         "/files/", "/files", "//", "///", "//list//", "/list//join", "/list/%00", "/list/a%00b", "/confirm/%00",
         "/confirm/%", "/confirm/%g0", "/confirm/%ff%fe", "/confirm/%c0%af", "/u/" + "a" * 9000,
         "/decide/" + "%41" * 3000,
         "/decide/x/post/-1", "/decide/x/post/1/file/-1/x", "/decide/x/post/99999999999999999999",
         "/?after=" + "%ff" * 100, "/?after=%00", "/?after", "/?" + "&" * 5000, "/?after=a&after=b", "/#x", "/?#", "*",
         "http://evil.example/", "https://evil.example:99/list/x", "http://", "http:///", "http://x", "javascript:x()",
         "evil.example:443", "/list/\xff\xfe", "/list/\x7f", "/;x=y", "/list;x/y", "/%2f%2f", "/robots.txt/", "\\",
         "/list/<script>", "/list/\"onload=x()"]
HOSTS = ["", " ", "x y", "a" * 9000, "evil.example", "evil.example:99999", "[::1", "\xff", "<script>x()</script>",
         "a,b", "http://x/"]


def test_paths_and_hosts(world):
    """None reaches a file or a page that is not there, none is repeated unescaped, and none ends the process."""
    pid, = world.pids("web")
    for path in PATHS:
        for verb in ("GET", "POST", "HEAD"):
            answer = raw(world, f"{verb} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode("latin-1"))
            head, _, body = answer.partition(b"\r\n\r\n")
            moved = status(answer) == 301 and re.search(rb"\r\nLocation: /([^/]|\r)", head + b"\r")
            assert moved or status(answer) in (200, 304, 400, 404, 405, 431), (path, answer[:100])
            assert b"<script" not in body and b"root:" not in body and b"{{" not in body and b"\"onload" not in body
            assert b"evil.example" not in answer, path
    for host in HOSTS:
        answer = raw(world, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("latin-1"))
        assert status(answer) in (200, 400) and b"evil" not in answer and b"<script" not in answer
    alive(world, pid)


def test_requests_with_broken_bytes(world):
    """Good requests with a few bytes changed, left out or doubled, from a fixed seed: each is answered or cut off."""
    pid, = world.pids("web")
    chance = random.Random(7)
    mark = world.pages.form_mark(f"cats.{HOST}")
    body = f"mark={mark}&address=x%40example.net&name=%f0%9f%90%88".encode()
    good = [b"GET /list/cats.lists.example.com?after=x HTTP/1.1\r\nHost: x\r\nAccept-Language: de;q=0.5, en\r\n\r\n",
            b"POST /list/cats.lists.example.com/join HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(body) + body,
            b"POST /u/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\nList-Unsubscribe=One-Click\r\n"
            b"0\r\n\r\nGET / HTTP/1.0\r\n\r\n"]
    bytes_ = [0, 10, 13, 32, 37, 58, 127, 128, 255]
    for _ in range(400):
        request = bytearray(chance.choice(good))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(request))
            how = chance.randrange(4)
            if how == 0:
                request[at] = chance.choice(bytes_)
            elif how == 1:
                del request[at:at + chance.randint(1, 9)]
            elif how == 2:
                request[at:at] = request[at:at + chance.randint(1, 40)]
            else:
                request[at:at] = bytes([chance.choice(bytes_)]) * chance.randint(1, 3)
            if not request:
                break
        answer = raw(world, bytes(request))
        assert status(answer) in (0, 200, 400, 403, 404, 405, 413, 429, 431, 501, 505), (bytes(request), answer[:100])
    alive(world, pid)
    assert world.members() == [ANNE, BART]


@pytest.mark.parametrize("named", ["", ",", "x", "192.0.2.7, ", "192.0.2.7,,", "999.1.1.1", "192.0.2.7:80",
                                   "[2001:db8::1]", "<script>", "a" * 5000, "\xff", "unix", "127.0.0.1, x",
                                   "fe80::1%eth0"])
def test_a_proxy_that_names_nobody(world, named):
    """The client is then the proxy; nothing of the field is believed or shown."""
    for verb, path in (("GET", "/"), ("GET", "/confirm/aaaaaaaaaaaaaaaaaaaaaaaaaa")):
        answer = raw(world, f"{verb} {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {named}\r\n\r\n".encode("latin-1"))
        assert status(answer) in (200, 404) and b"<script" not in answer
    mark = world.pages.form_mark(f"cats.{HOST}")
    body = f"mark={mark}&address=dora%40example.org"
    answer = raw(world, f"POST /list/cats.{HOST}/join HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {named}\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n{body}".encode("latin-1"))
    assert status(answer) == 200
    world.wait_idle()
    assert "<script>" not in world.log_text()


def test_slow_clients_do_not_keep_others_out(instances, sink):
    """Three hundred: heads and bodies a byte now and then, and some who read nothing. Between two of their bytes each
    visitor gets a page."""
    world = make_site(instances, sink)
    world.create_list("cats", [ANNE], owner=OLGA)
    world.cli("list", "set", f"cats@{HOST}", "default_nonmember_action=hold")
    mail = post(to=f"cats@{HOST}", sender=CORA) + b"z" * 2_000_000
    world.lmtp_send(mail, f"cats@{HOST}", sender=CORA)
    link = letter_link(world, sink, OLGA)
    pid, = world.pids("web")
    head = f"GET /list/cats.{HOST} HTTP/1.1\r\nHost: x\r\nX-Slow: ".encode()
    body = b"POST /u/x HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n"
    with contextlib.ExitStack() as stack:
        def connect():
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", world.pages.port))
            stack.callback(client.close)
            return client
        slow = [connect() for _ in range(200)]
        readers = [connect() for _ in range(100)]
        for client in readers:
            client.sendall((f"GET {link}/post/1 HTTP/1.1\r\nHost: x\r\n\r\n").encode() * 3)
        for at, client in enumerate(slow):
            client.sendall(head if at % 2 else body)
        for _ in range(5):
            for client in slow:
                with contextlib.suppress(ConnectionError):
                    client.sendall(b"y")
            assert world.pages.get("/").status == 200
            world.pages.get(f"/list/cats.{HOST}").says("<form")
    alive(world, pid)


def held_file(world, sink, size):
    """The path of a file of that many bytes, in a post that waits."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Message-ID"] = CORA, f"cats@{HOST}", f"<{size}@example.org>"
    mail.add_attachment(os.urandom(size), maintype="application", subtype="octet-stream", filename="x.bin")
    world.lmtp_send(mail.as_bytes(policy=SMTP), f"cats@{HOST}", sender=CORA)
    link = letter_link(world, sink, OLGA)
    number = re.search(r'name="post-(\d+)"', world.pages.get(link).text).group(1)
    page = world.pages.get(f"{link}/post/{number}")
    return re.search(r'href="([^"]*/file/[^"]*)"', page.text).group(1)


def test_large_files_do_not_multiply(instances, sink):
    """One that very many fetch is in memory once; another one beside it finds no room until they are gone."""
    world = make_site(instances, sink, lmtp={"max_message_size": "100M"})
    world.create_list("cats", [CORA], owner=OLGA)
    world.cli("list", "set", f"cats@{HOST}", "default_member_action=hold")
    large, other = held_file(world, sink, 34_000_000), held_file(world, sink, 33_999_999)
    pid, = world.pids("web")
    before = memory(pid)
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", world.pages.port))
            client.sendall(f"GET {large} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert client.recv(12) == b"HTTP/1.1 200"
        assert memory(pid) - before < 5 * 34_000_000
        busy = world.pages.get(other)
        assert busy.status == 503 and busy.headers["Retry-After"] and "Content-Disposition" not in busy.headers
        busy.says("no room")
        assert len(world.pages.ask("GET", large).octets) == 34_000_000
    wait_until(lambda: world.pages.ask("HEAD", other).status == 200, 60, "room for another file")


def test_a_slash_behind_an_address(instances, sink):
    """It leads to the page without it, on this site, with its query; what is no page has none with a slash either."""
    world = make_site(instances, sink)
    world.create_list("cats", [ANNE], owner=OLGA)
    pages = world.pages
    for path, place in ((f"/archive/cats.{HOST}/", f"/archive/cats.{HOST}"), ("/archive/", "/archive"),
                        ("/archive", "/"), ("/list/", "/list"), ("/list", "/"),
                        (f"/list/cats.{HOST}///", f"/list/cats.{HOST}"), ("/my/", "/my"), ("/sign-in/", "/sign-in"),
                        ("/search/?q=two%20words&by=date", "/search?q=two%20words&by=date"),
                        ("/search/?q=//evil.example/", "/search?q=//evil.example/"), ("//", "/"),
                        ("/confirm/a%2Fb%0d%0aX:y/", "/confirm/a%2Fb%0d%0aX:y")):
        for verb in ("GET", "HEAD"):
            answer = pages.ask(verb, path)
            assert answer.status == 301 and answer.headers["Location"] == place, (verb, path, answer.headers)
            assert not answer.octets and "X" not in answer.headers
    for path in ("//evil.example/", "///evil.example/archive/", "//evil.example/archive/", "/%2f/evil.example/",
                 "/\\evil.example/", "/nothing/", "/my/sign-out/", "/archive//cats/", "//evil.example/..//"):
        answer = pages.get(path)
        assert answer.status == 404 and "Location" not in answer.headers, path
    assert pages.get(f"/list/cats.{HOST}").status == 200 and pages.get("/").status == 200
    assert pages.send("/sign-in/", {}).status == 404  # a form is sent to where it says
    assert raw(world, b"GET http://evil.example/my/ HTTP/1.0\r\n\r\n").count(b"Location: /my\r\n") == 1


def test_a_slash_below_a_path(instances, sink):
    """web_url may have a path, which a proxy may have taken away."""
    world = make_site(instances, sink, site={"web_url": "https://pages.example/lists"})
    for path in ("/lists/my/", "/my/"):
        answer = world.pages.get(path)
        assert answer.status == 301 and answer.headers["Location"] == "/lists/my"
    assert world.pages.get("/lists/").status == 200 and world.pages.get("/lists").status == 200

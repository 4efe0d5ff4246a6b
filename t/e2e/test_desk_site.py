# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The operator's page of the desk: what waits, processes, destinations, what was set aside, and orders about them."""
import html
import http.client
import json
import re
import shutil
import socket
import struct
import time
import urllib.parse

import pytest

from support.desk import Person, operator
from support.instance import HOST, free_port, wait_until
from support.pages import make_site
from support.post import post
from support.web import Browser

OPAL, OLGA, MONA, ANNE = (f"{name}@example.org" for name in ("opal", "olga", "mona", "anne"))
PAGE = "/desk/site"


@pytest.fixture
def site(instances, sink):
    """Opal runs the site, Olga the list cats, which Mona moderates and of which Anne is a member."""
    instance = make_site(instances, sink)
    instance.create_list("cats", [ANNE], owner=OLGA)
    instance.cli("member", "add", f"cats@{HOST}", MONA, "--role", "moderator")
    operator(instance, OPAL)
    return instance


def shunt_rows(site):
    return [json.loads(line) for line in site.run("shunt", "ls", "--json").stdout.splitlines()]


def set_aside(site, name):
    """A post for a list that is gone before it is worked on."""
    address = site.create_list(name)
    before = len(shunt_rows(site))
    site.cli("queue", "stat")
    site.stop()
    site.cli("inject", address, "--sender", "poster@example.net", "-",
             input=post(to=address).decode())
    site.cli("list", "remove", "--yes", address)
    site.start()
    wait_until(lambda: len(shunt_rows(site)) > before, 30, "an entry in shunt")


@pytest.mark.main
def test_who_may_see_it(site, sink):
    people = {name: Person(site, sink, name) for name in (OPAL, OLGA, MONA, ANNE)}
    assert people[OPAL].get(PAGE).says("All is well", "Destinations").status == 200
    assert people[OLGA].get(PAGE).says("For those who run the site").status == 403
    assert people[MONA].get(PAGE).status == people[ANNE].get(PAGE).status == 403
    assert site.pages.get(PAGE).status == 303
    assert 'href="/desk/site"' in people[OPAL].get("/desk").text
    assert 'href="/desk/site"' not in people[OLGA].get("/desk").text
    # One who is on no list finds the desk, too.
    assert 'href="/desk"' in people[OPAL].get("/my").text and 'href="/desk"' not in people[ANNE].get("/my").text
    for name, status in ((OLGA, 403), (MONA, 403), (ANNE, 403)):
        assert people[name].send(PAGE, {"suspend": "relay relay"}).status == status
    assert site.pages.send(PAGE, {"suspend": "relay relay", "mark": people[OPAL].mark}).status == 303
    # Opal's own form with a foreign mark, and without one.
    for mark in (people[OLGA].mark, ""):
        assert people[OPAL].send(PAGE, {"suspend": "relay relay", "mark": mark}).status == 400
    assert "suspended" not in site.cli("dest", "ls")
    # Rights are those of now.
    site.cli("user", "set", OPAL, "server_owner=no")
    assert people[OPAL].get(PAGE).status == 403


def test_a_destination_is_suspended_and_resumed(site, sink):
    opal = Person(site, sink, OPAL)
    site.lmtp_send(post(to=f"cats@{HOST}"), f"cats@{HOST}")
    site.wait_idle()
    value = wait_until(lambda: re.search(r'name="suspend" value="([^"]+)"', opal.get(PAGE).text), 30,
                       "the destination to be shown").group(1)
    assert opal.send(PAGE, {"suspend": value}).headers["Location"].endswith("/desk/site?ordered=1")
    opal.get(PAGE).says("suspended", 'name="resume"')
    german = opal.get(PAGE, **{"Accept-Language": "de"}).says("Mail an das Ziel relay (Transport relay) wartet")
    assert "suspended" not in german.text and ">ausgesetzt <" in german.text, german.text
    assert "suspended" in site.cli("dest", "ls")
    assert opal.send(PAGE, {"resume": value}).status == 303
    assert "suspended" not in opal.get(PAGE).text + site.cli("dest", "ls")
    for wrong in ("", "relay", "nowhere at-all"):
        assert opal.send(PAGE, {"resume": wrong}).status in (303, 404, 503), wrong
    assert opal.send(PAGE, {"do": "nonsense"}).status == 404


def test_what_was_set_aside(site, sink):
    set_aside(site, "gone")
    set_aside(site, "lost")
    opal = Person(site, sink, OPAL)
    page = opal.get(PAGE).says("What was set aside", "no list", "listrunner shunt ls")
    first, second = re.findall(r'name="(entry-[^"]+)"', page.text)
    assert opal.send(PAGE, {"do": "delete"}).status == 303 and len(shunt_rows(site)) == 2  # nothing was ticked
    assert opal.send(PAGE, {"do": "delete", "all": "yes"}).status == 303 and len(shunt_rows(site)) == 2
    answer = opal.send(PAGE, {"do": "delete", first: "yes", "entry-1792670000.000000+" + 40 * "0": "yes"})
    assert answer.headers["Location"].endswith("done=1&left=0")
    assert [row["name"] for row in shunt_rows(site)] == [second.removeprefix("entry-")]
    site.create_list("gone", ["gus@example.org"])
    site.create_list("lost", ["lou@example.org"])
    assert opal.send(PAGE, {"do": "retry", "all": "yes"}).status == 303
    wait_until(lambda: not shunt_rows(site), 30, "shunt to be empty")
    site.wait_idle()
    assert "lou@example.org" in sink.take_mail()


def test_nothing_of_others_is_markup(instances, sinks):
    """The last reply of a server, and what stands in the address of the page."""
    vector = "<img src=x onerror=alert(1)>"
    sink = sinks(faults=[f"rcpt match=^slow@ do 450 4.2.1 {vector}"])
    site = make_site(instances, sink)
    address = site.create_list("cats", ["slow@example.org"])
    operator(site, OPAL)
    opal = Person(site, sink, OPAL)
    site.lmtp_send(post(to=address), address)
    wait_until(lambda: html.escape(vector) in opal.get(PAGE).text, 60, lambda: opal.get(PAGE).text)
    assert "<img" not in opal.get(f"{PAGE}?done={urllib.parse.quote(vector)}").text


def test_without_the_master_the_page_says_so(site, sink):
    opal = Person(site, sink, OPAL)
    sock = site.directory / "run" / "control.sock"
    away, dead = sock.with_suffix(".away"), sock.with_suffix(".dead")
    away.hardlink_to(sock)
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind(str(dead))
    dead.rename(sock)  # not just away: the master makes a missing one again
    opal.get(PAGE).says("Listrunner does not answer")
    assert opal.send(PAGE, {"suspend": "relay relay"}).status == 503
    away.rename(sock)
    opal.get(PAGE).says("Processes", "lmtp")


def test_figures_of_the_last_hours(site, sink):
    """Bars by minute, quarter of an hour and six hours, of the file that the master keeps."""
    opal = Person(site, sink, OPAL)
    opal.get(PAGE).says("not known yet", "Done a minute")
    site.stop()
    path = site.spool / ".master" / "history"
    octets, now = bytearray(path.read_bytes()), int(time.time())
    head, figures = 16 + 32 * 32, 8 + 32 * 12
    octets[16:18] = b"in"
    for first, slots, period, done in ((0, 60, 60, (7, 14)), (60, 96, 900, (30,)), (156, 124, 21600, (500,))):
        for before, count in enumerate(done):
            turn = now // period - before
            place = head + (first + turn % slots) * figures
            octets[place:place + 20] = struct.pack("=qIII", turn * period, count, 3, 9)
    # 100 recipients that were tried within 2 to 4 seconds, a day ago one that was delivered after half an hour.
    delays = head + 280 * figures
    for first, slots, period in ((0, 60, 60), (60, 96, 900), (156, 124, 21600)):
        place = delays + (first + now // period % slots) * 2 * 24 * 4
        octets[place + 6 * 4:place + 7 * 4] = struct.pack("=I", 100)
        if period == 21600:
            octets[place + 24 * 4 + 15 * 4:place + 24 * 4 + 16 * 4] = struct.pack("=I", 1)
    path.write_bytes(octets)
    site.own(path)
    site.start()
    opal.get(PAGE).says("How long mail takes", 'aria-label="half within 3s, 99 of 100 within 4s; in the slowest')
    opal.get(PAGE + "?range=month").says('<td class="number">1</td><td class="number">26m</td>')
    opal.get(PAGE).says('aria-label="at most 14"', 'viewBox="0 0 60 20"')
    opal.get(PAGE + "?range=day").says('aria-label="at most 30"', 'viewBox="0 0 96 20"', "Done in 15 minutes")
    opal.get(PAGE + "?range=month").says('aria-label="at most 500"', 'viewBox="0 0 124 20"', "Done in 6 hours")
    opal.get(PAGE + "?range=century").says("Done a minute")
    # A damaged file is begun anew.
    site.stop()
    path.write_bytes(octets[:5000])
    site.start()
    opal.get(PAGE).says("not known yet")


def test_how_long_mail_takes(instances, sinks):
    """Of two recipients one is put off again and again: both were tried for the first time, once, and one is settled.
    Letters to Opal, who signs in, are counted, too."""
    sink = sinks(faults=["rcpt match=^slow@ do 450 4.2.1 later"])
    site = make_site(instances, sink)
    address = site.create_list("cats", ["slow@example.org", "anne@example.org"])
    operator(site, OPAL)
    opal = Person(site, sink, OPAL)
    site.lmtp_send(post(to=address), address)

    def recipients():
        return [int(number) for number in re.findall(r'(?:first time|refused)</th><td class="number">(\d+)<',
                                                     opal.get(PAGE).text)]
    wait_until(lambda: (found := recipients()) and found[0] == found[1] + 1 >= 3, 150, recipients)  # once a minute


def test_the_page_is_sent_anew(site, sink):
    """A browser that looks on gets the changing part again and again, and nobody else does."""
    opal, olga = Person(site, sink, OPAL), Person(site, sink, OLGA)
    assert olga.get(PAGE + "/live").status == 403
    assert site.pages.get(PAGE + "/live").status == 303
    page = opal.get(PAGE)
    assert "connect-src 'self'" in page.headers["Content-Security-Policy"]
    connection = http.client.HTTPConnection("127.0.0.1", site.pages.port, timeout=60)
    connection.request("GET", PAGE + "/live", headers={"Cookie": opal.cookie})
    answer = connection.getresponse()
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/event-stream")

    def picture():
        lines = []
        for line in iter(answer.readline, b"\n"):
            assert line, lines
            lines.append(line.decode())
        return "".join(line.removeprefix("data: ") for line in lines if line.startswith("data: "))
    assert picture() == ""  # when to come again
    assert "Destinations" in picture() and "suspended" not in picture()
    site.cli("dest", "suspend", "relay")
    wait_until(lambda: "suspended" in picture(), 60, "a picture of that; older ones may be still to be read", 0.001)
    connection.close()
    connection.request("GET", PAGE + "/live", headers={"Cookie": opal.cookie, "Accept-Language": "de"})
    answer = connection.getresponse()
    assert picture() == "" and "Mail an das Ziel relay" in picture()
    connection.close()


def test_an_operator_sees_and_mends_in_a_browser(instances, sink, tmp_path, until_end):
    """The page changes by itself with what it shows; a destination that was suspended is found and resumed. Nothing is
    wider than the screen of a phone."""
    if not shutil.which("chromedriver"):
        pytest.skip("no chromedriver")
    listen = f"127.0.0.1:{free_port()}"
    site = make_site(instances, sink, **{"site": {"web_url": f"http://{listen}"}, "runner.web": {"listen": listen}})
    site.create_list("cats", [ANNE])
    operator(site, OPAL)
    browser = until_end(Browser(tmp_path, f"http://{listen}", width=360))
    browser.be(Person(site, sink, OPAL))
    browser.open(PAGE)
    assert "The site" in browser.text and "suspended" not in browser.text
    site.cli("dest", "suspend", "relay")
    wait_until(lambda: "suspended" in browser.text, 60, lambda: browser.text)
    assert browser.fits()
    browser.submit("resume")
    wait_until(lambda: "The order was given" in browser.text and "suspended" not in browser.text, 60,
               lambda: browser.text)

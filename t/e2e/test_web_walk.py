# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A person with a browser and a mailbox, without scripts: joins on a page, answers the letter that Postfix brought by
its link, gets a post, leaves by the link in it, comes back by the undo; a moderator decides on a narrow screen."""
import re

import pytest

from support import postfix
from support.instance import HOST, free_port, wait_until
from support.pages import link_in
from support.post import post
from support.web import Browser

NINA, OLGA, STRANGER = "nina@example.org", "olga@example.org", "stranger@example.net"


@pytest.fixture
def site(instances, sink):
    """An instance with pages between a real Postfix and itself; all mail that leaves is in the sink."""
    why = postfix.missing()
    if why:
        pytest.skip(why)
    mta_port, web = free_port(), f"127.0.0.1:{free_port()}"
    instance = instances(mta_port, settings={
        "site": {"web_url": f"http://{web}", "held_notice_interval": "0"}, "runner.web": {"listen": web},
        "pipeline": {"verp_delivery_interval": "1"}})
    mta = postfix.Postfix("mta", {
        "relay_domains": HOST, "relayhost": f"[127.0.0.1]:{sink.port}",
        "transport_maps": f"inline:{{ {{ {HOST} = lmtp:[127.0.0.1]:{instance.port} }} }}"}, port=mta_port)
    try:
        mta.start()
        instance.start()
        instance.web = f"http://{web}"
        yield instance
    finally:
        mta.close()


@pytest.fixture
def browsers(tmp_path):
    made = []

    def make(site, **options):
        made.append(Browser(tmp_path / str(len(made)), site, **options))
        return made[-1]
    yield make
    for browser in made:
        browser.close()


class Mailbox:
    """What came to one address."""

    def __init__(self, sink, address):
        self.sink, self.address = sink, address

    def next(self):
        return wait_until(lambda: self.sink.take_mail().get(self.address), 60, f"mail to {self.address}")[0]


def press(browser):
    before = browser.driver.find_element("tag name", "html")
    browser.driver.find_element("css selector", "main button").click()
    wait_until(lambda: browser.gone(before), 60, "the next page")


def members(instance, name):
    return instance.cli("member", "ls", f"{name}@{HOST}", "--names").split()


def test_joins_reads_leaves_and_comes_back(site, sink, browsers):
    site.create_list("cats", owner=OLGA, settings=["description=All about cats"])
    browser, mailbox = browsers(site.web, scripts=False), Mailbox(sink, NINA)
    browser.open("/")
    browser.driver.find_element("link text", "Cats").click()
    assert "All about cats" in browser.text
    browser.driver.find_element("name", "address").send_keys(NINA)
    press(browser)
    assert "Please read your mail" in browser.text and NINA in browser.text
    browser.open(link_in(mailbox.next()))
    assert "Join Cats?" in browser.text and members(site, "cats") == []
    press(browser)
    assert "You are on the list" in browser.text and members(site, "cats") == [NINA]
    site.lmtp_send(post(to=f"cats@{HOST}", sender="anne@example.org"), f"cats@{HOST}", sender="anne@example.org")
    copy = mailbox.next()
    link = re.search(rf"<{re.escape(site.web)}(/u/[^>]+)>", copy["List-Unsubscribe"]).group(1)
    browser.open(link)
    assert "Leave Cats?" in browser.text and members(site, "cats") == [NINA]
    press(browser)
    assert "You have left the list" in browser.text and members(site, "cats") == []
    browser.open(link_in(mailbox.next()))
    press(browser)
    assert "You are on the list again" in browser.text and members(site, "cats") == [NINA]


def test_decides_on_a_narrow_screen(site, sink, browsers):
    """Nothing is wider than the screen; two posts are decided with two touches each and one button."""
    site.create_list("cats", [NINA], owner=OLGA, settings=["default_nonmember_action=hold"])
    browser, mailbox = browsers(site.web, width=360), Mailbox(sink, OLGA)
    site.lmtp_send(post(to=f"cats@{HOST}", sender=STRANGER, subject="Mice " + "and" * 60), f"cats@{HOST}",
                   sender=STRANGER)
    link = link_in(mailbox.next())
    browser.open(link)
    assert browser.driver.execute_script("return [innerWidth, document.documentElement.scrollWidth]") == [360, 360]
    browser.driver.find_element("link text", "Read it").click()
    assert "It rains." in browser.text and STRANGER in browser.text
    browser.open(link)
    browser.driver.find_element("css selector", "input[value=accept]").click()
    press(browser)
    assert "Decided: 1" in browser.text and "Nothing waits" in browser.text
    copy = Mailbox(sink, NINA).next()
    assert copy["Subject"].endswith("and" * 60)

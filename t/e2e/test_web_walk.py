# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A person with a browser and a mailbox, without scripts: joins on a page, answers the letter that Postfix brought by
its link, gets a post, leaves by the link in it, comes back by the undo; a moderator decides on a narrow screen."""
import os
import re
import shutil
import subprocess
import time

import pytest

from support import postfix, talk
from support.instance import HOST, free_port, need, wait_until
from support.pages import Pages, link_in
from support.post import post
from support.web import Browser

NINA, OLGA, STRANGER = "nina@example.org", "olga@example.org", "stranger@example.net"


@pytest.fixture
def site(instances, sink, until_end):
    """An instance with pages between a real Postfix and itself; all mail that leaves is in the sink."""
    need(postfix.missing())
    mta_port, web = free_port(), f"127.0.0.1:{free_port()}"
    instance = instances(mta_port, settings={
        "site": {"web_url": f"http://{web}", "held_notice_interval": "0"}, "runner.web": {"listen": web},
        "pipeline": {"verp_delivery_interval": "1"}})
    mta = until_end(postfix.Postfix("mta", {
        "relay_domains": HOST, "relayhost": f"[127.0.0.1]:{sink.port}",
        "transport_maps": f"inline:{{ {{ {HOST} = lmtp:[127.0.0.1]:{instance.port} }} }}"}, port=mta_port))
    mta.start()
    instance.start()
    instance.web = f"http://{web}"
    yield instance


@pytest.fixture
def browsers(tmp_path, until_end):
    return lambda site, **options: until_end(Browser(tmp_path / "browser", site, **options))


class Mailbox:
    """Holds what came to one address."""

    def __init__(self, sink, address):
        self.sink, self.address = sink, address

    def next(self):
        return wait_until(lambda: self.sink.take_mail().get(self.address), 60, f"mail to {self.address}")[0]


def test_joins_reads_leaves_and_comes_back(site, sink, browsers):
    site.create_list("cats", owner=OLGA, settings=["description=All about cats"])
    browser, mailbox = browsers(site.web, scripts=False), Mailbox(sink, NINA)
    browser.open("/")
    browser.driver.find_element("link text", "Cats").click()
    wait_until(lambda: "All about cats" in browser.text, 60, "the list's page")
    browser.driver.find_element("name", "address").send_keys(NINA)
    browser.press()
    assert "Please read your mail" in browser.text and NINA in browser.text
    browser.open(link_in(mailbox.next()))
    assert "Join Cats?" in browser.text and site.members("cats") == []
    browser.press()
    assert "You are on the list" in browser.text and site.members("cats") == [NINA]
    site.lmtp_send(post(to=f"cats@{HOST}", sender="anne@example.org"), f"cats@{HOST}", sender="anne@example.org")
    copy = mailbox.next()
    browser.open(re.search(rf"<{re.escape(site.web)}(/u/[^>]+)>", copy["List-Unsubscribe"]).group(1))
    assert "Leave Cats?" in browser.text and site.members("cats") == [NINA]
    browser.press()
    assert "You have left the list" in browser.text and site.members("cats") == []
    browser.open(link_in(mailbox.next()))
    browser.press()
    assert "You are on the list again" in browser.text and site.members("cats") == [NINA]


def test_decides_on_a_narrow_screen(site, sink, browsers):
    """Nothing is wider than the screen; two posts are decided with two touches each and one button."""
    site.create_list("cats", [NINA], owner=OLGA, settings=["default_nonmember_action=hold"])
    browser, mailbox = browsers(site.web, width=360), Mailbox(sink, OLGA)
    site.lmtp_send(post(to=f"cats@{HOST}", sender=STRANGER, subject="Mice " + "and" * 60), f"cats@{HOST}",
                   sender=STRANGER)
    link = link_in(mailbox.next())
    browser.open(link)
    assert browser.fits()
    browser.driver.find_element("link text", "Read it").click()
    wait_until(lambda: "It rains." in browser.text and STRANGER in browser.text, 60, "the post")
    browser.open(link)
    browser.driver.find_element("css selector", "input[value=accept]").click()
    browser.press()
    assert "Decided: 1" in browser.text and "Nothing waits" in browser.text
    copy = Mailbox(sink, NINA).next()
    assert copy["Subject"].endswith("and" * 60)


def make_garden(site):
    """A list with an archive."""
    site.create_list("garden", owner=OLGA)
    talk.write_mbox(site.directory / "garden.mbox", f"garden@{HOST}")
    (site.directory / "garden.mbox").chmod(0o644)
    site.cli("archive", "import", f"garden@{HOST}", site.directory / "garden.mbox")


def active(browser):
    return browser.driver.execute_script("return document.activeElement.id || document.activeElement.textContent")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_reads_and_searches(site, browsers, scripts):
    """A stranger goes from the list to a thread and finds a word; with scripts, keys go from message to message."""
    make_garden(site)
    browser = browsers(site.web, scripts=scripts)
    browser.open("/")
    for link in ("Garden", "Archive", "Soil test results"):
        browser.driver.find_element("link text", link).click()
        wait_until(lambda wanted=link: wanted in browser.text, 60, link)
    wait_until(lambda: "13 messages" in browser.text, 60, "the thread")
    mails = [mail.get_attribute("id") for mail in browser.driver.find_elements("css selector", "article.mail")]
    assert len(mails) == 13
    if scripts:
        body = browser.driver.find_element("tag name", "body")
        for key, at in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
            body.send_keys(key)
            wait_until(lambda at=at: active(browser) == mails[at], 60, f"message {at}")
        for fixed in (True, False):
            body.send_keys("f")
            wait_until(lambda fixed=fixed: browser.driver.find_element("id", "fixed").is_selected() is fixed, 60, "f")
    browser.driver.find_element("link text", "Archive").click()
    wait_until(lambda: "Latest discussions" in browser.text, 60, "the archive")
    browser.fill(q='"nettle manure"')
    browser.press()
    assert "Best first" in browser.text and "nettle manure" in browser.text
    browser.driver.find_element("css selector", "ol.found a").click()
    wait_until(lambda: "Save this message" in browser.text, 60, "the message")
    assert "nettle manure" in browser.text and "@members" not in browser.text
    reply = browser.driver.find_element("link text", "Reply by mail").get_attribute("href")
    assert reply.startswith(f"mailto:garden@{HOST}?Subject=Re%3A%20") and "In-Reply-To=%3Ctalk-" in reply


def test_reads_without_a_browser(site):
    """The archive in w3m: the thread from its list, with all of its text."""
    if not shutil.which("w3m"):
        pytest.skip("no w3m here")
    make_garden(site)
    pages = Pages(site)
    home = f"/archive/garden.{HOST}"
    thread = pages.link(home, rf"{home}/\w+/thread")

    def look(path):
        shown = subprocess.run(["w3m", "-dump", "-cols", "100", f"{site.web}{path}"], capture_output=True, text=True,
                               check=True, timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8"})
        return shown.stdout
    first = look(home)
    assert "Plan for the greenhouse" in first and "6 messages" in first and "トマトの苗" in first
    read = look(thread)
    assert "Three metres by five" in read and "+begin = 05:30" in read and "watering.patch" in read
    assert read.count("wrote:") >= 5
    source = pages.get(thread).text
    assert '<span class="plus">+begin = 05:30' in source and '<span class="plus">+++' not in source
    assert '<span class="minus">---' not in source


def cats(instance):
    row = instance.member("cats", NINA)
    return row["delivery_status"], row["delivery_mode"]


@pytest.mark.parametrize("options", [{}, {"scripts": False}, {"width": 360}], ids=["scripts", "no-scripts", "narrow"])
def test_sees_and_changes_the_own_lists(site, sink, browsers, options):
    """Signs in by the letter that Postfix brought, has no mail for some days, changes an option, leaves, comes back."""
    site.create_list("cats", [NINA], owner=OLGA, settings=["description=All about cats"])
    site.create_list("dogs", [NINA], owner=OLGA)
    browser, mailbox = browsers(site.web, **options), Mailbox(sink, NINA)
    browser.open("/")
    browser.press("My lists", "link text")
    browser.driver.find_element("name", "address").send_keys(NINA)
    browser.press()
    assert "Please read your mail" in browser.text and browser.fits()
    browser.open(link_in(mailbox.next()))
    assert "Sign in?" in browser.text and NINA in browser.text and browser.fits()
    browser.press()
    assert "Cats" in browser.text and "this browser" in browser.text and browser.fits()
    first, last = (time.strftime("%m%d%Y", time.gmtime(time.time() + 86400 * days)) for days in (0, 9))
    browser.driver.find_element("name", "vacation_from").send_keys(first)
    browser.driver.find_element("name", "vacation_until").send_keys(last)
    browser.press("button[value=away]")
    assert "Your settings were changed" in browser.text and browser.text.count("You have stopped mail") == 2
    assert [site.member(name, NINA)["delivery_status"] for name in ("cats", "dogs")] == ["by_user", "by_user"]
    browser.press("button[value=on]")
    assert browser.text.count("Mail comes") == 2 and site.member("dogs", NINA)["delivery_status"] == "enabled"
    browser.press("Cats", "link text")
    assert browser.fits()
    from selenium.webdriver.support.ui import Select
    Select(browser.driver.find_element("name", "digest")).select_by_visible_text("digests of plain text")
    browser.press()
    assert "Your settings were changed" in browser.text and "Digests come" in browser.text
    assert cats(site) == ("enabled", "plaintext_digests")
    browser.press("//button[text()='Leave Cats']", "xpath")
    assert "You have left Cats" in browser.text and site.members("cats") == [] and site.members("dogs") == [NINA]
    browser.open(link_in(mailbox.next()))
    browser.press()
    assert "You are on the list again" in browser.text
    assert cats(site) == ("enabled", "plaintext_digests")
    browser.press("My lists", "link text")
    browser.press("My addresses, and what is stored about me", "link text")
    assert "you are signed in by it" in browser.text and browser.fits()
    browser.press("Remove it, and leave all lists", "link text")
    assert "You are no member of Cats any more" in browser.text and browser.fits()
    browser.open("/my")
    browser.press("//button[text()='Sign out']", "xpath")
    browser.open("/my")
    assert "There is no password" in browser.text and site.members("cats") == [NINA]

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""An owner at the desk with a phone: a browser of 360 pixels."""
import re

import pytest

from support.desk import Person, write_to
from support.instance import HOST, free_port, wait_until
from support.pages import Pages
from support.post import post
from support.web import Browser

OLGA, ANNE = "olga@example.org", "anne@example.org"


@pytest.fixture
def site(instances, sink):
    web = f"127.0.0.1:{free_port()}"
    instance = instances(sink.port, settings={
        "site": {"web_url": f"http://{web}", "held_notice_interval": "0"}, "runner.web": {"listen": web}}).start()
    instance.web, instance.pages = f"http://{web}", Pages(instance)
    for name in ("cats", "dogs"):
        instance.create_list(name, [ANNE], owner=OLGA, settings=["default_nonmember_action=hold", "subject_prefix="])
    return instance


@pytest.fixture
def phone(site, sink, tmp_path, until_end):
    """The owner's, who is signed in."""
    browser = until_end(Browser(tmp_path, site.web, width=360))
    browser.be(Person(site, sink, OLGA))
    return browser


def test_an_owner_with_a_phone(site, sink, phone):
    """Ten posts are decided about, the first by two touches; a setting is changed after a look at the difference, and
    undone."""
    for number in range(10):
        write_to(site, ("cats", "dogs")[number % 2], f"author{number}@example.net",
                 f"Post {number} " + "donaudampfschifffahrts" * 3)
    phone.open("/my")
    phone.press("main a[href$='/desk']")
    assert phone.fits()
    ticks = phone.driver.find_elements("css selector", "legend input")
    assert len(ticks) == 10
    phone.touch(ticks[0])
    phone.press("button[value=accept]")
    assert "Decided: 1" in phone.text
    for tick in phone.driver.find_elements("css selector", "legend input")[:3]:
        phone.touch(tick)
    phone.press("button[value=discard]")
    assert "Decided: 3" in phone.text
    phone.press("fieldset a[href*='/desk/post/']")
    assert phone.fits()
    assert "It rains." in phone.text
    phone.press("button[value=discard]")
    phone.touch(phone.driver.find_element("name", "all"))
    phone.press("button[value=accept]")
    assert "Decided: 5" in phone.text and "Nothing waits on your lists." in phone.text
    site.wait_idle()
    found = sorted(re.match(r"Post \d", mail["Subject"]).group() for mail in sink.take_mail()[ANNE])
    assert found == [f"Post {number}" for number in (0, 5, 6, 7, 8, 9)]

    for page in ("Lists that you run", "Cats", "Settings", "About the list"):
        phone.driver.find_element("link text", page).click()
        wait_until(lambda wanted=page: wanted in phone.driver.find_element("tag name", "h1").text, 60, page)
        assert phone.fits()
    phone.fill(**{"set-description": "All about cats"})
    phone.press(".bar button")
    assert phone.fits()
    assert "All about cats" in phone.text and site.cli("list", "get", f"cats@{HOST}", "description") == "\n"
    phone.press("button[name=confirm]")
    assert site.cli("list", "get", f"cats@{HOST}", "description") == "All about cats\n"
    phone.press(".done a")
    assert phone.fits()
    assert phone.driver.find_element("css selector", "ol.log li").text.count("All about cats") == 1
    phone.press("button[name=undo]")
    assert "It was undone." in phone.text
    assert site.cli("list", "get", f"cats@{HOST}", "description") == "\n"


def test_each_page_fits(site, phone):
    site.cli("ban", "add", "--list", f"cats@{HOST}", "a" * 60 + "@" + "b" * 60 + ".example")
    site.cli("header-match", "add", "--list", f"cats@{HOST}", "X-Spam", "x" * 90)
    for page in ("", *(f"/{name}" for name in (
            "settings", "settings/moderation", "settings/posts", "log", "members", "members/add", "bans",
            "header-matches", "templates", "templates/list:user:notice:welcome", "bounces"))):
        phone.open(f"/desk/list/cats.{HOST}{page}")
        assert phone.fits()


def test_the_operators_page_fits(site, sink, phone):
    """With a destination, a fault, and a post that was set aside; the tables scroll by themselves."""
    site.cli("user", "set", OLGA, "server_owner=yes")
    write_to(site, "cats", ANNE, "A post")
    wait_until(lambda: sink.recipients() > 0, 60, "mail to be sent")
    site.cli("dest", "suspend", "relay")
    site.lmtp_send(post(to=f"cats@{HOST}", sender=ANNE), f"cats@{HOST}")
    gone = site.create_list("gone-" + "x" * 40)
    site.stop()
    site.cli("inject", gone, "--sender", "poster@example.net", "-", input=post(to=gone).decode())
    site.cli("list", "remove", "--yes", gone)
    site.start()
    wait_until(lambda: site.run("shunt", "ls", "--json").stdout, 30, "an entry in shunt")
    for language in ("en", "de"):
        phone.driver.execute_cdp_cmd("Network.enable", {})
        phone.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": language}})
        for page in ("/desk/site", "/desk/site?range=day", "/desk/site/trace"):
            phone.open(page)
            assert phone.driver.find_element("tag name", "html").get_attribute("lang") == language
            assert phone.fits()

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A site's first afternoon in Postorius, in a real browser, with mail through a real Postfix."""
import smtplib

import pytest

from support import clients, postfix, web
from support.instance import HOST, wait_until
from support.post import post

STRANGER, MEMBER, LATE = "stranger@example.net", "member@members.example.org", "late@members.example.org"
LIST, PAGES = f"garden@{HOST}", f"/postorius/lists/garden.{HOST}"

pytestmark = pytest.mark.skipif(postfix.missing() is not None, reason=str(postfix.missing()))


@pytest.fixture
def site(tmp_path, until_end):
    return until_end(clients.EmptySite(tmp_path, **{"runner.virgin": {"start": "yes"}}))


@pytest.fixture
def browser(site, tmp_path):
    served = web.Postorius(tmp_path / "postorius", site.url)
    site.instance.set({"site": {"template_hosts": served.url.split("//")[1]}})
    site.instance.cli("reload")
    window = web.Browser(tmp_path, served.url)
    yield window
    print(window.driver.current_url, window.text)
    window.close()
    served.close()


@pytest.fixture
def mta(site, until_end):
    mta = postfix.Postfix("front", {"relay_domains": HOST, "transport_maps": f"inline:{{ {{ {HOST} = lmtp:[127.0.0.1]:"
                                    f"{site.instance.port} }} }}", "relay_recipient_maps": ""})
    return until_end(mta).start()


def test_first_afternoon(site, browser, mta):
    def letters(to):
        return [mail for mail in site.sink.transactions() if to in mail.to]

    browser.log_in()
    browser.open("/postorius/domains/new/")
    browser.fill(mail_host=HOST, description="Gardens")
    browser.submit()
    assert HOST in browser.text and "error" not in browser.text.lower()

    browser.open("/postorius/lists/new/")
    browser.fill(listname="garden", mail_host=HOST, list_owner=web.ADDRESS, advertised="True", description="Roses")
    browser.submit()
    assert LIST in browser.text and "Roses" in browser.text

    browser.open(f"{PAGES}/mass_subscribe/")
    browser.fill(emails=f"Member <{MEMBER}>", pre_verified="yes")
    browser.submit()
    browser.open(f"{PAGES}/members/member/")
    assert MEMBER in browser.text
    wait_until(lambda: letters(MEMBER), 30, "the welcome")

    # a stranger's post waits, is read in the browser and let through
    with smtplib.SMTP(mta.host, mta.port) as smtp:
        smtp.sendmail(STRANGER, LIST, post(to=LIST, sender=STRANGER, subject="Slugs!", body="They ate it all.\n"))
    wait_until(lambda: site.instance.cli("held", "ls", "--json").strip(), 30, "the post to be held")
    browser.open(f"{PAGES}/held_messages")
    assert "Slugs!" in browser.text and STRANGER in browser.text
    browser.fill(choices="yes")
    browser.submit("accept")
    wait_until(lambda: any(b"They ate it all." in mail.octets for mail in letters(MEMBER)), 30, "the copy")
    browser.open(f"{PAGES}/held_messages")
    assert "Slugs!" not in browser.text

    # what the owner writes is what the next member reads
    browser.open(f"{PAGES}/templates/new")
    browser.fill(name="list:user:notice:welcome", data="Hello, you who joined $listname: bring a spade.\n")
    browser.submit()
    browser.open(f"{PAGES}/mass_subscribe/")
    browser.fill(emails=LATE, pre_verified="yes")
    browser.submit()
    wait_until(lambda: letters(LATE), 30, "the welcome of the second member")
    assert f"Hello, you who joined {LIST}: bring a spade." in letters(LATE)[0].octets.decode()

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The pages of the runner web: links in letters, leaving by one click, joining by a form."""
import html
import http.client
import json
import os
import random
import re
import signal
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from support.clock import DAY, let_turn
from support.desk import ask_to_sign_in, write_to
from support.instance import HOST, free_port, wait_until
from support.pages import leave_link, letter_link, letters, link_in, make_site
from support.vectors import VECTORS, Tags

ANNE, BART, CORA, OLGA, MAX = (f"{name}@example.org" for name in ("anne", "bart", "cora", "olga", "max"))
STRANGER = "stranger@example.net"


@pytest.fixture
def world(instances, sink):
    """A site with pages, and two lists."""
    instance = make_site(instances, sink)
    instance.create_list("cats", [ANNE, BART], owner=OLGA)
    instance.create_list("dogs", [ANNE], owner=MAX)
    return instance


@pytest.mark.parametrize("path, page", [
    ("/mailman/listinfo/cats", f"/list/cats.{HOST}"), ("/mailman/listinfo/Cats/", f"/list/cats.{HOST}"),
    ("/mailman/options/cats/anne--at--example.org", f"/list/cats.{HOST}"), ("/mailman/listinfo", "/"),
    ("/mailman/admindb/cats", f"/desk/list/cats.{HOST}"), ("/sympa/info/dogs", f"/list/dogs.{HOST}"),
    ("/wws/signoff/dogs", f"/list/dogs.{HOST}"), ("/sympa/lists", "/"),
    ("/sympa/modindex/dogs", f"/desk/list/dogs.{HOST}"),
    (f"/postorius/lists/cats.{HOST}/", f"/list/cats.{HOST}"), (f"/mailman3/lists/cats@{HOST}/", f"/list/cats.{HOST}"),
    (f"/mailman3/postorius/lists/cats.{HOST}/members/member/", f"/list/cats.{HOST}"), ("/postorius/lists/", "/"),
    ("/mailman/listinfo/old", f"/list/old.{HOST}"), ("/mailman/listinfo/owls", 404), ("/mailman/listinfo/elks", 404),
    ("/mailman/nothing/cats", 404), ("/sympa/info/..", 404), (f"/postorius/lists/owls.{HOST}/", 404)])
def test_links_of_old_mails(world, path, page):
    """Each mail of another system has a link to the page of its list there."""
    cli = world.cli
    cli("list", "create", f"old@{HOST}")
    cli("list", "rename", f"old@{HOST}", f"new@{HOST}")
    for host in ("a.example", "b.example"):
        cli("domain", "create", host)
        cli("list", "create", f"elks@{host}")
    answer = world.pages.get(path)
    assert (answer.headers["Location"] if answer.status == 301 else answer.status) == (
        page if page == 404 else "https://pages.example" + page)
    there = world.pages.get("/mailman/listinfo/elks", Host="b.example").headers["Location"]
    assert there.endswith("/list/elks.b.example")
    assert world.pages.ask("POST", "/mailman/listinfo/cats", "x=1").status in (403, 405)


@pytest.mark.main
def test_joins_by_form_and_link(world, sink):
    pages = world.pages
    world.cli("list", "create", f"c++@{HOST}")
    assert pages.get(re.search(r'href="([^"]*c%2B[^"]*)"', pages.get("/").text).group(1)).status == 200
    pages.get("/").says(f"cats.{HOST}", f"dogs.{HOST}")
    refused = pages.join(f"cats.{HOST}", "cora", name="Cora & Co").says("is no address that can be on this list")
    assert re.findall(r'value="([^"]*)"></p>', refused.text) == ["cora", "Cora &amp; Co"], "what was typed stays"
    pages.join(f"cats.{HOST}", CORA, name="Cora & Co").says("Please read your mail", CORA)
    assert world.members("cats") == [ANNE, BART]
    link = letter_link(world, sink, CORA)
    for _ in range(3):  # programs that look through mail
        pages.get(link).says("Join Cats?", CORA, "<form")
    assert world.members("cats") == [ANNE, BART] and world.members("dogs") == [ANNE]
    pages.send(link, {"confirm": "yes"}).says("You are on the list", CORA)
    assert world.members("cats") == [ANNE, BART, CORA] and world.members("dogs") == [ANNE]
    assert world.member("cats", CORA)["display_name"] == "Cora & Co"
    for answer in (pages.get(link), pages.send(link, {"confirm": "yes"})):
        assert answer.status == 404
        answer.says("used already")
    pages.get("/confirm/aaaaaaaaaaaaaaaaaaaaaaaaaa").says("not known here")


@pytest.mark.main
def test_a_form_tells_nobody_who_is_a_member(world, sink):
    """Nor who is banned, or got a letter already; and an address that somebody proved is asked all the same."""
    world.cli("list", "set", f"cats@{HOST}", "subscription_policy=open")
    world.cli("ban", "add", "bad@example.org")
    pages = world.pages
    same = {pages.join(f"cats.{HOST}", address).text.replace(address, "X")
            for address in (ANNE, BART, CORA, CORA, "bad@example.org")}
    assert len(same) == 1
    world.wait_idle()
    assert {to: len(found) for to, found in sink.take_mail().items()} == {CORA: 1}
    assert world.members("cats") == [ANNE, BART]
    pages.join(f"cats.{HOST}", "nonsense").says("is no address", 'value="nonsense"')
    pages.join(f"cats.{HOST}", f"dogs@{HOST}").says("is no address")
    pages.join(f"cats.{HOST}", '"><script>x</script>@example.org').says("&quot;&gt;&lt;script")


def everything(world):
    """How many rows each table has and files each queue, and which letters there are."""
    with world.database() as database:
        tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                  if name != "account"]  # which counts forms, so that a second one makes no row
        rows = {name: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
    queues = [path.name for path in world.spool.iterdir() if path.is_dir()]
    return rows, {queue: len(names) for queue, names in world.files(*queues).items()}


@pytest.mark.sqlite
def test_a_form_is_answered_before_anybody_looks_who_it_is(world, sink):
    """The same rows and files come to be for each, so the answers take the same time; what differs, comes later."""
    world.cli("ban", "add", "bad@example.org")
    world.pages.join(f"cats.{HOST}", CORA)
    assert letters(world, sink, CORA)
    mark = world.pages.form_mark(f"cats.{HOST}")
    pid, = world.pids("command")
    os.kill(pid, signal.SIGSTOP)
    try:
        changes = set()
        for address in (ANNE, STRANGER, "bad@example.org", CORA, MAX):
            rows, files = everything(world)
            answer = world.pages.send(f"/list/cats.{HOST}/join", {"mark": mark, "address": address})
            answer.says("Please read your mail")
            rows_then, files_then = everything(world)
            changes.add(str(({name: rows_then[name] - rows[name] for name in rows},
                             {name: files_then[name] - files[name] for name in files})))
        assert len(changes) == 1, changes
    finally:
        os.kill(pid, signal.SIGCONT)
    world.wait_idle()
    assert set(sink.take_mail()) == {STRANGER, MAX}


@pytest.mark.main
def test_forms_of_other_pages_are_refused(world):
    pages = world.pages
    other = pages.form_mark(f"dogs.{HOST}")
    for mark in ("", "1.2", other):
        answer = pages.send(f"/list/cats.{HOST}/join", {"mark": mark, "address": CORA})
        assert answer.status == 400
        answer.says("once more", f'value="{CORA}"')


def test_forms_of_the_whole_site(instances, sink):
    """No more forms than the site allows, which the page then says."""
    instance = make_site(instances, sink, site={"web_url": "https://pages.example", "max_form_letters_per_day": "4"})
    for name in ("cats", "dogs"):
        instance.create_list(name, owner=OLGA)
    let_turn(DAY)
    for address in (ANNE, BART):
        for name in ("cats", "dogs"):
            instance.pages.join(f"{name}.{HOST}", address)
    instance.wait_idle()
    assert {to: len(found) for to, found in sink.take_mail().items()} == {ANNE: 2, BART: 2}
    answer = instance.pages.join(f"cats.{HOST}", CORA)
    assert answer.status == 429
    answer.says("Too many forms", f"cats-join@{HOST}", f'value="{CORA}"')
    instance.wait_idle()
    assert CORA not in sink.take_mail()
    instance.lmtp_send(f"From: {CORA}\r\nTo: cats-join@{HOST}\r\nMessage-ID: <j@x>\r\n\r\nx\r\n".encode(),
                       f"cats-join@{HOST}", sender=CORA)
    assert letter_link(instance, sink, CORA)


@pytest.mark.main
def test_leaves_by_mail_and_link(world, sink):
    world.lmtp_send(f"From: {BART}\r\nTo: cats-leave@{HOST}\r\nSubject: x\r\nMessage-ID: <l@x>\r\n\r\nx\r\n".encode(),
                    f"cats-leave@{HOST}", sender=BART)
    link = letter_link(world, sink, BART)
    world.pages.get(link).says("Leave Cats?", BART)
    world.pages.send(link, {"confirm": "yes"}).says("You have left")
    assert world.members("cats") == [ANNE]


@pytest.mark.main
def test_one_click_and_undo(instances, sink):
    """A GET leaves nothing, the POST of RFC 8058 does in both encodings; the letter's link brings each option back."""
    instance = make_site(instances, sink, pipeline={"verp_delivery_interval": "1"})
    instance.create_list("cats", [ANNE, BART], owner=OLGA)
    instance.create_list("dogs", [ANNE], owner=MAX)
    instance.cli("member", "set", f"cats@{HOST}", ANNE, "--acknowledge-posts=yes", "--hide-address=no",
                 "--moderation=accept")
    before = instance.member("cats", ANNE)
    write_to(instance, "cats", CORA)
    copies = sink.take_mail()
    assert all(copies[who][0]["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click" for who in (ANNE, BART))
    links = {who: leave_link(copies[who][0]) for who in (ANNE, BART)}
    for _ in range(3):
        instance.pages.get(links[ANNE]).says("Leave Cats?", ANNE)
    instance.pages.send(links[ANNE], {"unrelated": "yes"}).says("Leave Cats?")
    assert instance.members("cats") == [ANNE, BART]
    one = "List-Unsubscribe=One-Click"
    done = instance.pages.ask("POST", links[ANNE], f"stray&{one}&%=", Content_Type="application/x-www-form-urlencoded")
    assert done.status == 200
    parts = '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
    done = instance.pages.ask("POST", links[BART], parts, Content_Type="multipart/form-data; boundary=b")
    assert done.status == 200
    assert instance.members("cats") == [] and instance.members("dogs") == [ANNE]
    assert instance.log_text().count("way=one-click") == 2
    instance.pages.get(links[ANNE]).says("You are not on Cats")
    undo = letter_link(instance, sink, ANNE)
    instance.pages.get(undo).says("Be on Cats again?", ANNE)
    assert instance.members("cats") == []
    instance.pages.send(undo, {"confirm": "yes"}).says("You are on the list again")
    after, = instance.rows("member", "ls", f"cats@{HOST}")
    for key in ("joined_at", "member_id"):
        before.pop(key, None), after.pop(key, None)
    assert after == before
    assert instance.pages.send(undo, {"confirm": "yes"}).status == 404
    # By the button, which is another way; a link of another site's secret is none.
    instance.pages.send(links[ANNE], {"leave": "yes"}).says("You have left")
    assert instance.log_text().count("way=page") == 1
    forged = links[ANNE][:-1] + ("a" if links[ANNE][-1] != "a" else "b")
    for answer in (instance.pages.get(forged), instance.pages.send(forged, {"leave": "yes"})):
        assert answer.status == 404


@pytest.mark.main
def test_a_moderator_decides(world, sink):
    """From the link in the letter, about what the letter is about and nothing else."""
    pages = world.pages
    for name in ("cats", "dogs"):
        world.cli("list", "set", f"{name}@{HOST}", "default_nonmember_action=hold")
        write_to(world, name, STRANGER, f"<b>{name}</b>")
    found = sink.take_mail()
    link, other = (link_in(found[to][0]) for to in (OLGA, MAX))
    page = pages.get(link).says("&lt;b&gt;cats&lt;/b&gt;", STRANGER, OLGA)
    assert "dogs" not in page.text
    number = re.search(r'name="post-(\d+)"', page.text).group(1)
    theirs = re.search(r'name="post-(\d+)"', pages.get(other).text).group(1)
    pages.send(link, {f"post-{theirs}": "accept", "post-0": "accept", "post-x": "accept",
                      f"post-{number}": "nonsense"}).says("did not wait")
    assert len(world.cli("held", "ls").splitlines()) == 3  # a heading and two
    pages.send(link, {f"post-{number}": "accept"}).says("Decided: 1", "Nothing waits")
    world.wait_idle()
    copies = sink.take_mail()
    assert {to for to in copies if to in (ANNE, BART)} == {ANNE, BART}
    pages.send(other, {f"post-{theirs}": "reject", "reason": "No dogs & <cats>"}).says("Decided: 1")
    told, = letters(world, sink, STRANGER)
    assert "No dogs & <cats>" in told.as_string()
    assert STRANGER not in world.cli("held", "ls")


def harmless(page):
    """Nothing in the page can be run, and its links lead to pages of ours, to the web or to mail programs."""
    Tags().check(page.text)
    assert "<script" not in page.text
    return page


@pytest.mark.parametrize("at", range(len(VECTORS)))
def test_held_posts_are_only_read(world, sink, at):
    """Each field of a mail that a moderator looks at is text, whatever stands in it."""
    vector = VECTORS[at]
    world.cli("list", "set", f"cats@{HOST}", "default_nonmember_action=hold", f"display_name={vector}",
              f"description={vector}", f"info={vector}")
    mail = EmailMessage()
    mail["From"] = Address(vector, addr_spec=STRANGER)
    mail["To"], mail["Cc"] = Address(vector, addr_spec=f"cats@{HOST}"), Address(vector, addr_spec="z@example.net")
    mail["Subject"], mail["Message-ID"] = vector, f"<v{at}@example.net>"
    mail.set_content(f"{vector}\n\njavascript:x() https://example.org/\"onclick=\"x()\n\nOn {vector} wrote:\n"
                     f"> {vector}\n> a\n> b\n> c\n> d\n> e\n\n-- \n{vector}\n")
    mail.add_attachment(f"{vector}", subtype="html", filename=f"{vector}.html")
    mail.add_attachment(mail.as_bytes(), maintype="message", subtype="rfc822")
    world.lmtp_send(mail.as_bytes(policy=SMTP), f"cats@{HOST}", sender=STRANGER)
    link = letter_link(world, sink, OLGA)
    listed = harmless(world.pages.get(link))
    post_link = re.search(r'href="(/decide/[^"]*/post/\d+)"', listed.text).group(1)
    page = harmless(world.pages.get(post_link))
    assert "<details" in page.text and "x()" in page.text
    for path in re.findall(r'href="(/[^"]*/file/[^"]*)"', page.text):
        file = world.pages.get(html.unescape(path))
        assert file.status == 200 and file.headers["Content-Disposition"].startswith("attachment;")
        assert file.headers["Content-Type"] in ("application/octet-stream", "text/plain; charset=utf-8")
        assert file.headers["X-Content-Type-Options"] == "nosniff"
    for path in ("/", f"/list/cats.{HOST}"):
        harmless(world.pages.get(path))
    assert harmless(world.pages.get(post_link.rpartition("/")[0] + "/999")).status == 404
    assert harmless(world.pages.get(f"{post_link}/file/99/x")).status == 404


def test_a_held_post_of_any_bytes_is_listed(world, sink):
    """Else a moderator would not see it: bytes that are no UTF-8, controls, text that turns around."""
    world.cli("list", "set", f"cats@{HOST}", "default_nonmember_action=hold")
    head = [f"From: \xff\xfe<{STRANGER}>\r\n".encode("latin-1"),
            b"Subject: \xff\x80 \x01 \xe2\x80\xaetxt.exe " + b"s" * 900,
            b"\r\nMessage-ID: <bytes@example.net>\r\nTo: cats@" + HOST.encode() + b"\r\n\r\n\xff\x00\r\n"]
    world.lmtp_send(b"".join(head), f"cats@{HOST}", sender=STRANGER)
    page = world.pages.get(letter_link(world, sink, OLGA))
    assert page.text.count("<fieldset") == 1 and STRANGER in page.text and "\u202e" not in page.text
    assert "<dt>To" in world.pages.get(re.search(r'href="(/decide/[^"]*/post/\d+)"', page.text).group(1)).text


def test_a_held_post_to_nobody_has_no_empty_field(world, sink):
    world.cli("list", "set", f"cats@{HOST}", "default_nonmember_action=hold")
    world.lmtp_send(f"From: {STRANGER}\r\nMessage-ID: <to-nobody@example.net>\r\n\r\nbody\r\n".encode(), f"cats@{HOST}",
                    sender=STRANGER)
    page = world.pages.get(letter_link(world, sink, OLGA))
    read = world.pages.get(re.search(r'href="(/decide/[^"]*/post/\d+)"', page.text).group(1))
    assert "<dt>From" in read.text and "<dt>To" not in read.text


@pytest.mark.parametrize("page", ["confirm", "decide", "sign-in"])
def test_unknown_tokens_lock_nobody_out(world, sink, page):
    """A person who shares a network with somebody who brings unknown links follows his own as before."""
    world.cli("list", "set", f"cats@{HOST}", "default_nonmember_action=hold")
    write_to(world, "cats", STRANGER)
    decide = letter_link(world, sink, OLGA)
    world.pages.join(f"cats.{HOST}", CORA)
    confirm = letter_link(world, sink, CORA)
    ask_to_sign_in(world, OLGA)
    good = {"decide": decide, "confirm": confirm, "sign-in": letter_link(world, sink, OLGA)}[page]
    for number in range(300):
        token = "".join(random.choices("abcdefghijkmnpqrstuvwxyz23456789", k=26))
        assert world.pages.ask(("GET", "POST")[number % 2], f"/{page}/{token}").status == 404
    assert world.pages.get(good).status == 200


def test_a_flood_of_forms_keeps_nobody_from_signing_in(instances, sink):
    """Forms to join from four networks reach the site's limit: the owner and a member get their links nevertheless.
    When links reach the limit, the owner gets one, and the page says how it is."""
    instance = make_site(instances, sink, site={"web_url": "https://pages.example", "max_form_letters_per_day": "8"})
    instance.create_list("cats", [ANNE, BART], owner=OLGA)
    instance.create_list("dogs", [MAX], owner=OLGA)
    let_turn(3600)
    mark = instance.pages.form_mark(f"cats.{HOST}")
    statuses = [instance.pages.send(f"/list/cats.{HOST}/join", {"mark": mark, "address": f"v{at}@example.net"},
                                    X_Forwarded_For=f"198.51.100.{at % 4}").status for at in range(20)]
    assert statuses == [200] * 8 + [429] * 12
    for who in (OLGA, ANNE):
        ask_to_sign_in(instance, who).says("is on its way")
    instance.wait_idle()
    found = sink.take_mail()
    assert {OLGA, ANNE} <= found.keys()
    for _ in range(6):  # three links, which stay good
        ask_to_sign_in(instance, ANNE).says("still good")
    instance.wait_idle()
    letters = sink.take_mail()[ANNE]
    assert len(letters) == 2
    assert instance.pages.get(link_in(found[ANNE][0])).status == 200
    with instance.database() as database:
        database.execute("UPDATE account SET total = 8 WHERE kind = 'sign_in_all' AND who = 'site'")
        database.commit()
    for who in (OLGA, BART):
        answer = ask_to_sign_in(instance, who).says("as many links to sign in today")
        assert answer.status == 429
    instance.wait_idle()
    assert set(sink.take_mail()) == {OLGA}


def test_forms_of_a_stranger_leave_room_for_the_person(instances, sink):
    """A stranger fills in forms with a person's address until the page refuses: from another network hers is taken, and
    answered, and those for somebody else are."""
    instance = make_site(instances, sink)
    for name in ("cats", "dogs"):
        instance.create_list(name, owner=OLGA)
    let_turn(DAY)
    mark = {name: instance.pages.form_mark(f"{name}.{HOST}") for name in ("cats", "dogs")}

    def fill_in(name, address, network):
        return instance.pages.send(f"/list/{name}.{HOST}/join", {"mark": mark[name], "address": address},
                                   X_Forwarded_For=network)
    statuses = [fill_in("dogs", CORA, "198.51.100.1").status for _ in range(5)]
    assert statuses == [200] * 3 + [429] * 2
    fill_in("dogs", CORA, "198.51.100.1").says("Too many forms were filled in", f"dogs-join@{HOST}")
    assert fill_in("cats", CORA, "192.0.2.9").status == fill_in("dogs", BART, "198.51.100.1").status == 200
    instance.wait_idle()
    letters = sink.take_mail()
    assert sorted(str(letter["To"]) for who in (CORA, BART) for letter in letters[who]) == sorted([CORA, CORA, BART])
    fields = [fill_in("cats", CORA, f"203.0.113.{at}").status for at in range(10)]
    assert 429 in fields, "all networks together have a limit, too"


def doctor_of_pages(instance):
    done = instance.run("doctor", "--no-dns", "--no-probe", "--json")
    return [row for row in map(json.loads, done.stdout.splitlines()) if row["subject"] == "pages"]


def test_a_proxy_that_is_not_named(instances, sink):
    """All visitors come from its address, which is in no list: they are not one network that has had its letters. Who
    comes without a proxy is counted; and the doctor names what is missing."""
    port = free_port()
    instance = make_site(instances, sink, web={"proxies": "192.0.2.1"}, site={
        "web_url": "https://pages.example", "max_letters_per_host_per_day": "2"})
    instance.create_list("cats", owner=OLGA)
    let_turn(DAY)
    path, mark = f"/list/cats.{HOST}/join", instance.pages.form_mark(f"cats.{HOST}")
    assert [instance.pages.send(path, {"mark": mark, "address": f"p{at}@example.net"},
                                X_Forwarded_For=f"198.51.100.{at}").status for at in range(5)] == [200] * 5
    assert "which [web] proxies does not name" in instance.log_text()
    assert [row["state"] for row in doctor_of_pages(instance)] == ["ok"]
    for proxies, state in (("127.0.0.1, unix", "warning"), ("127.0.0.1, 192.0.2.1", "ok")):
        instance.set({"web": {"proxies": proxies},
                      "runner.web": {"listen": f"127.0.0.1:{port}, 0.0.0.0:{free_port()}"}})
        row, = doctor_of_pages(instance)
        assert row["state"] == state and ("[web] proxies" in (row["mend"] or "")) == (state == "warning"), row


@pytest.mark.main
def test_headers(world):
    """No script, no cookie, nothing from elsewhere; the address of a page goes to nobody."""
    for path, status in (("/", 200), (f"/list/cats.{HOST}", 200), ("/nothing", 404), ("/confirm/x", 404)):
        answer = world.pages.get(path)
        assert answer.status == status and answer.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "Set-Cookie" not in answer.headers and "<script" not in answer.text
        assert not re.search(r'(?:src|href|action)="(?!/|mailto:|#)', answer.text)
    style = world.pages.get("/files/style.css")
    assert style.status == 200 and style.headers["Content-Type"].startswith("text/css")
    assert world.pages.get("/files/style.css", If_None_Match=style.headers["ETag"]).status == 304
    assert world.pages.ask("DELETE", "/").status == 405
    head = world.pages.ask("HEAD", "/")
    assert head.status == 200 and not head.octets and int(head.headers["Content-Length"]) > 0
    assert 'lang="de"' in world.pages.get("/", Accept_Language="de-AT, en;q=0.5").says("Mailinglisten").text


@pytest.mark.main
@pytest.mark.sqlite
def test_the_database_is_away(world):
    path = world.directory / "lib" / "listrunner.db"
    path.rename(path.with_suffix(".away"))
    for page in ("/", "/confirm/x"):
        answer = world.pages.get(page)
        assert answer.status == 503 and answer.headers["Retry-After"]
        answer.says("try again later")
    path.with_suffix(".away").rename(path)
    wait_until(lambda: world.pages.get("/").status == 200, 30, "the pages to come back")


def test_not_started_without_an_address(instances, sink):
    instance = instances(sink.port).start()
    assert "web" not in instance.cli("status")
    instance.set({"runner.web": {"start": "yes"}})
    asked = instance.run("config", "check")
    assert asked.returncode == 78 and "[site] web_url must be set" in asked.stderr
    for url in ("ftp://x", "https://", "https://x?y", "lists.example.com", "https://x y", "https://a@x"):
        instance.set({"site": {"web_url": url}, "runner.web": None})
        asked = instance.run("config", "check")
        assert asked.returncode == 78 and f'found "{url}"' in asked.stderr, url


def test_below_a_path(instances, sink):
    """web_url has a path, which the proxy passes on or takes away; the site has templates of its own."""
    instance = make_site(instances, sink, site={"web_url": "https://pages.example/mail/"})
    instance.create_list("cats", owner=OLGA)
    for path in ("/mail/", "/mail", "/"):
        instance.pages.get(path).says('href="/mail/files/style.css"', f'href="/mail/list/cats.{HOST}"')
    assert instance.pages.get("/mailing").status == 404
    instance.pages.join(f"cats.{HOST}", CORA)
    assert letter_link(instance, sink, CORA).startswith("/mail/confirm/")
    theme = instance.directory / "lib" / "theme"
    theme.mkdir()
    (theme / "lists.mustache").write_text("{{>head}}<h1>ours</h1>{{>foot}}")
    instance.own(theme)
    instance.set({"web": {"directory": theme}})
    instance.cli("reload")

    def is_ours():
        try:
            return "<h1>ours</h1>" in instance.pages.get("/mail/").text
        except (http.client.HTTPException, ConnectionError):  # of the process that goes
            return False
    wait_until(is_ours, 30, "the site's own page")


@pytest.mark.main
def test_who_leaves_is_promised_what_comes(instances, sink):
    """A letter with an undo, for as many days as it is good; where moderators decide, that they do."""
    instance = make_site(instances, sink, pipeline={"verp_delivery_interval": "1"})
    instance.create_list("cats", [ANNE], owner=OLGA)
    write_to(instance, "cats", CORA)
    link = leave_link(sink.take_mail()[ANNE][0])
    instance.pages.get(link).says("within 30 days")
    instance.cli("list", "set", f"cats@{HOST}", "unsubscription_policy=moderate")
    page = instance.pages.get(link).says("are asked first")
    assert "days" not in page.text
    instance.pages.send(link, {"leave": "yes"}).says("leaves", "when they have agreed")
    instance.cli("list", "set", f"cats@{HOST}", "unsubscription_policy=open")
    instance.pages.send(link, {"leave": "yes"}).says("You have left", "within 30 days")
    assert instance.members("cats") == []

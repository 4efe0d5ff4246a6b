# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Refused mail is kept for trials where the site wants it, and nothing else comes of that."""
import pytest

from support.desk import Person, form_fields, write_to
from support.instance import HOST, free_port
from support.pages import Pages

OLGA, ANNE, BART, CLEO = (f"{name}@example.org" for name in ("olga", "anne", "bart", "cleo"))
LIST = f"cats@{HOST}"
CATS = f"/desk/list/cats.{HOST}"


@pytest.fixture
def start(instances, sink):
    def begin(**refused):
        instance = instances(sink.port, settings={
            "archiver.maildir": {"index": "yes"},
            "site": {"web_url": "https://pages.example", "held_notice_interval": "0"},
            "runner.web": {"listen": f"127.0.0.1:{free_port()}"}})
        refused.setdefault("directory", instance.directory / "lib" / "refused")
        instance.set({"refused": refused})
        instance.start()
        instance.pages = Pages(instance)
        instance.place = instance.directory / "lib" / "refused"
        for name in ("cats", "dogs"):
            instance.create_list(name, [ANNE], owner=OLGA,
                                 settings=["default_nonmember_action=discard", "subject_prefix="])
        return instance
    return begin


def kept(instance, name="cats"):
    return sorted((instance.place / f"{name}.{HOST}").glob("*.*"))


def attempt(instance, *words):
    """The rows, and the last line."""
    rows = instance.rows("list", "try", LIST, *words)
    return rows[:-1], rows[-1]


def test_what_would_have_been_accepted(start, sink):
    """By rules, by a moderator and by the content filter; of this list alone, and each with what became of it."""
    site = start(keep="30d")
    write_to(site, "cats", ANNE, "Of a member")
    write_to(site, "cats", BART, "Discarded", extra=["Approved: secret phrase"])
    site.cli("list", "set", LIST, "default_nonmember_action=reject")
    write_to(site, "cats", CLEO, "Rejected")
    site.cli("list", "set", LIST, "default_nonmember_action=hold")
    write_to(site, "cats", CLEO, "Held and refused")
    write_to(site, "cats", CLEO, "Held and accepted")
    write_to(site, "dogs", BART, "Of another list")
    olga = Person(site, sink, OLGA)
    fields = {olga.field("Held and refused"): "yes"}
    olga.send("/desk", {**fields, "do": "discard"}).says("Decided: 1")
    olga.send("/desk", {olga.field("Held and accepted"): "yes", "do": "accept"}).says("Decided: 1")
    site.wait_idle()
    assert len(kept(site)) == 3 and len(kept(site, "dogs")) == 1
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in kept(site))
    assert all(b"secret phrase" not in file.read_bytes() for file in kept(site))
    rows, all_ = attempt(site, "default_nonmember_action=accept")
    told = {row["subject"]: row for row in rows}
    assert {subject: row["refused"] and row["refused"]["fate"] for subject, row in told.items()} == {
        "Discarded": "discarded", "Rejected": "rejected", "Held and refused": "held", "Held and accepted": None}
    assert all(row["after"]["fate"] == "accepted" for row in rows)
    assert "not a member" in told["Discarded"]["refused"]["reasons"]
    assert (all_["posts"], all_["refused"], all_["refused_accepted"]) == (5, 3, 3)
    text = site.cli("list", "try", LIST, "default_nonmember_action=accept")
    assert "4 of 5 posts would have been accepted (refused then: 3)." in text and "refused " in text
    # Twice the same, and nothing is delivered.
    assert text == site.cli("list", "try", LIST, "default_nonmember_action=accept") and not sink.take_mail().get("x")
    # The desk says the same.
    path = f"{CATS}/settings/moderation"
    asked = olga.send(path, {**form_fields(olga.get(path).text), "set-default_nonmember_action": "accept"})
    asked.says("4 of 5 posts would have been accepted", "(refused then: 3)", "It was refused then:", "Discarded")
    # Once they may write, a post like those is accepted.
    site.cli("list", "set", LIST, "default_nonmember_action=accept")
    write_to(site, "cats", BART, "Now")
    assert "Now" in [str(mail["Subject"]) for mail in sink.take_mail()[ANNE]] and len(kept(site)) == 3


def test_off_unless_the_site_wants_it(start, sink):
    site = start()
    write_to(site, "cats", BART, "Discarded")
    assert not site.place.exists()
    rows, all_ = attempt(site, "default_nonmember_action=accept")
    assert not rows and all_["refused"] == 0


def test_where_it_cannot_be_kept(start, sink):
    """The post fares as it would, and the log says why it is not kept."""
    site = start(keep="30d", directory="/dev/null/none")
    site.cli("list", "set", LIST, "default_nonmember_action=reject")
    write_to(site, "cats", BART, "Rejected")
    assert "not a member" in sink.take_mail()[BART][0].as_string()
    write_to(site, "cats", ANNE, "Of a member")
    assert [str(mail["Subject"]) for mail in sink.take_mail()[ANNE]] == ["Of a member"]
    assert "refused mail is not kept for trials" in site.log_text() and not site.set_aside()


def test_no_more_than_its_size(start, sink):
    site = start(keep="30d", size="1M")
    for number in range(4):
        write_to(site, "cats", BART, f"Large {number}", body="x" * 70 + "\n" + ("y" * 70 + "\n") * 5000)
    assert len(kept(site)) == 2
    site.run_job("refused")
    assert len(kept(site)) == 2 and attempt(site, "emergency=yes")[1]["refused"] == 2


def test_it_goes_with_the_person_and_with_time(start, sink):
    site = start(keep="30d")
    for sender in (BART, CLEO):
        write_to(site, "cats", sender, f"Of {sender[:4]}", body=f"Greetings from {sender}\n")
    found = site.cli("person", "find", BART)
    assert "refused mail" in found and kept(site)[0].name in found and kept(site)[1].name not in found
    said = site.cli("person", "replace", BART, "--yes")
    assert "of refused mail: 1\n" in said and len(kept(site)) == 1
    assert BART.encode() not in kept(site)[0].read_bytes()
    assert "refused mail" not in site.run("person", "find", BART).stdout
    (file,) = kept(site)
    old = file.with_name(f"{int(file.name[:16]) - 31 * 86400 * 10**6:016}{file.name[16:]}")
    file.rename(old)
    assert attempt(site, "default_nonmember_action=accept")[1]["refused"] == 0
    site.run_job("refused")
    assert not kept(site)

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Addresses of another list system, in mails that it sent, in address books and in bounces, after its list moved in."""
import smtplib

import pytest

import test_ezmlm
import test_mlmmj
import test_sympa
from support.instance import HOST
from support.post import post
from test_moving import report

ANNE, OLGA, BOB = "anne@example.com", "olga@example.com", "bob@example.net"


def mlmmj(tmp_path):
    return [test_mlmmj.make_list(tmp_path / "lists", "talk", subscribers=[ANNE])]


def ezmlm(tmp_path):
    return [test_ezmlm.make_list(tmp_path / "lists", "talk", {"owner": f"{OLGA}\n", "public": ""}, members=[ANNE])]


def sympa(tmp_path):
    site = tmp_path / "expl"
    test_sympa.make_list(site, f"{HOST}/talk", "subject Talk\n\nsend public\n\nsubscribe open\n\nstatus open\n")
    database = test_sympa.make_database(tmp_path / "sympa.db", members=[("talk", HOST, ANNE, {})],
                                        staff=[(OLGA, "talk", HOST, "owner")])
    return ["--db", database, site]


# The ending of each address, and who gets mail for it: the owners, whoever wrote (an answer), or nobody.
ADDRESSES = {
    mlmmj: {"+owner": OLGA, "+subscribe": BOB, "+Unsubscribe": BOB, "+help": BOB, "+list": BOB, "+get-7": BOB,
            "+confsub-0123456789abcdef": BOB, "+moderate-0123456789abcdef": BOB,
            "+bounces-7-anne=example.com": None},
    ezmlm: {"-owner": OLGA, "-subscribe-bob=example.net": BOB, "-unsubscribe-bob=example.net": BOB, "-help": BOB,
            "-get.7": BOB, "-sc.1234.abcd-bob=example.net": BOB, "-return-7-anne=example.com": None, "-return-": None},
    sympa: {"-owner": OLGA, "-editor": OLGA, "-request": OLGA, "-subscribe": BOB, "-unsubscribe": BOB}}


@pytest.mark.parametrize("system", ADDRESSES, ids=lambda system: system.__name__)
def test_no_address_of_the_old_system_is_the_list(instances, sink, tmp_path, system):
    instance = instances(sink.port)
    instance.create_store()
    instance.run("import", system.__name__, *system(tmp_path), timeout=120)
    instance.cli("list", "set", f"talk@{HOST}", "default_nonmember_action=accept")
    plain = instance.create_list("plain", [ANNE])
    instance.start()

    def recipients(address, octets=None):
        sink.purge()
        octets = octets or post(sender=BOB, to=address, subject="", body="\n")
        instance.lmtp_send(octets, address, sender="" if b"MAILER-DAEMON" in octets else BOB)
        instance.wait_idle()
        return {to for transaction in sink.transactions() for to in transaction.to}

    def bounces():
        with instance.database() as database:
            return database.execute("SELECT COALESCE(SUM(bounces), 0) FROM bounce WHERE email = ?",
                                    (ANNE,)).fetchone()[0]

    assert recipients(f"talk@{HOST}") == {ANNE}
    reports = 0
    for rest, who in ADDRESSES[system].items():
        assert recipients(f"talk{rest}@{HOST}", None if who else report(ANNE)) == ({who} if who else set()), rest
        reports += not who
    assert bounces() == reports
    assert recipients(f"talk+elsewhere@{HOST}") == {ANNE}
    # Mail that failed comes back to the sender that Sympa wrote, which is a person's address, too.
    assert recipients(f"talk-owner@{HOST}", report(ANNE)) == (set() if system is sympa else {OLGA})
    assert bounces() == reports + (system is sympa)
    # A list that was made here has no such words.
    instance.cli("list", "set", plain, "default_nonmember_action=accept")
    for rest in ADDRESSES[system]:
        if rest.startswith("+"):
            assert recipients(f"plain{rest}@{HOST}") == {ANNE}, rest
    for unknown in ("plain-return-7-anne=example.com", "plain-editor", "plain-help", "talk-nothing", "nobody-help"):
        with pytest.raises(smtplib.SMTPRecipientsRefused):
            recipients(f"{unknown}@{HOST}")


def came(instance, tmp_path, system):
    instance.create_store()
    instance.run("import", system.__name__, *system(tmp_path), timeout=120)


@pytest.mark.parametrize("system", [ezmlm, sympa], ids=lambda system: system.__name__)
def test_files_for_the_mta_have_old_addresses(instances, tmp_path, system):
    """The files have old addresses that have an end; and an export tells where its lists came from."""
    instance = instances(1)
    came(instance, tmp_path, system)
    instance.cli("list", "create", f"plain@{HOST}")

    def known(instance):
        place = instance.directory / "lib" / "maps"
        instance.cli("mta", "maps", "--directory", place)
        return {line.split()[0] for line in (place / "recipients").read_text().splitlines() if f"@{HOST}" in line}

    wanted = {f"talk-{word}@{HOST}" for word in (
        ("help", "info", "index", "digest-subscribe", "get") if system is ezmlm else ("editor",))}
    assert wanted <= known(instance) and f"plain-help@{HOST}" not in known(instance)
    assert f"plain-editor@{HOST}" not in known(instance)
    file = tmp_path / "site.jsonl"
    instance.cli("export", "-o", file)
    assert file.read_text().count(f'"came_from": "{system.__name__}"') + file.read_text().count(
        f'"came_from":"{system.__name__}"') == 1
    other = instances(1)
    other.create_store()
    other.cli("import", "listrunner", "--site", file)
    assert known(other) == known(instance)
    other.cli("export", "-o", tmp_path / "again.jsonl")
    assert '"came_from"' in (tmp_path / "again.jsonl").read_text()


def test_a_command_for_a_list_of_sympa_is_answered(instances, sink, tmp_path):
    """Mail to -request with a command is no letter to the owners."""
    instance = instances(sink.port)
    came(instance, tmp_path, sympa)
    instance.start()
    for body, to in (("help\n", BOB), ("Dear owners,\nhow do I join?\n", OLGA)):
        sink.purge()
        instance.lmtp_send(post(sender=BOB, to=f"talk-request@{HOST}", subject="", body=body), f"talk-request@{HOST}",
                           sender=BOB)
        instance.wait_idle()
        assert [one.to for one in sink.transactions()] == [[to]]

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Domains, lists, their settings, members, the configuration."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import stat  # noqa: E402

from harness import CONFIG, LATER, MISSING, NOT_RUNNING, NOT_SO, TOOL, USAGE, Skip, main, on_terminal  # noqa: E402
from harness import read_terminal  # noqa: E402

LIST = "test@example.com"


def test_config_check(site):
    out = site.run("config", "check", "--offline").out
    assert f"{site.config} is in order" in out
    site.config.write_text("[spool]\ndirectry = /tmp\n[runner.in]\ninstances = 3\n")
    err = site.run("config", "check", code=CONFIG).err
    assert f"{site.config}:2:" in err and "directry" in err and f"{site.config}:4:" in err and "instances" in err


def test_config_check_of_the_canary(site):
    """Its domain is looked for in the database, where there is one."""
    os.environ["LISTRUNNER_ALLOW_ROOT"] = "yes"
    text = site.config.read_text()
    site.config.write_text(f"{text}[watch]\ncanary = lists.example.com\n")
    warning = 'warning: [watch] canary: found "lists.example.com", which is no domain of the site'
    told = site.run("config", "check", says=warning)
    assert "see the warnings" in told.out and "listrunner domain create lists.example.com" in told.err
    assert site.run("config", "check", "--offline").err == ""
    site.run("domain", "create", "other.example.com")
    site.run("domain", "alias", "other.example.com", "lists.example.com")
    site.run("config", "check", says=warning)  # an alias has no lists
    site.run("domain", "alias", "other.example.com")
    site.run("domain", "create", "lists.example.com")
    assert "[watch]" not in site.run("config", "check", code=None).err


def test_config_check_of_what_cannot_work(site):
    """Each of these was in order, and mail waited, went round or was refused."""
    os.environ["LISTRUNNER_ALLOW_ROOT"] = "yes"
    text = site.config.read_text()

    def check(more, says, code=CONFIG, base=text):
        site.config.write_text(base + more)
        told = site.run("config", "check", code=code, says=says)
        assert "is in order" not in told.out, told.out

    for host in ("127.0.0.1", "localhost", "lists.example.com"):
        check(f"[transport.relay]\nhost = {host}\nport = 8024\n", "where [runner.lmtp] listens: mail would come back")
    check("[transport.relay]\nhost = unix:/run/x.sock\n[runner.lmtp]\nlisten = unix:/run/x.sock\n",
          "where [runner.lmtp] listens")
    # A place without a port is none that a transport could meet.
    check("[runner.lmtp]\nlisten = 127.0.0.1\n[transport.relay]\nport = 2525\n",
          '[runner.lmtp] listen: found "127.0.0.1"')
    assert "mail would come back" not in site.run("config", "check", code=CONFIG).err
    for proxy in ("10.0.0.0/33", "10.0.0.0/8", "proxy.example.com"):
        check(f"[web]\nproxies = {proxy}\n", f'[web] proxies: found "{proxy}"; allowed are single addresses')
    check("[runner.lmtp]\nlisten = 192.0.2.1:8024\n", "192.0.2.1 is no address of this host")
    check("[runner.lmtp]\nlisten = [2001:db8::1]:8024\n", "2001:db8::1 is no address of this host")
    check("[external.scan]\ncommand = /no/such/program --stdin\n", "there is no program /no/such/program", code=0)
    check("[external.scan]\ncommand = no-such-program\n", "there is no program no-such-program", code=0)
    check("[dkim.k]\nselector = k\n", "[dkim.k] domain: it is missing, so this section signs nothing", code=0)
    check("[dkim.k]\ndomain = lists.example.com\n", "[dkim.k] key_file: it is missing", code=0)
    check("url = postgresql://db.example.com/listrunner\n", "[store] url: it counts only with driver = postgresql",
          code=0)
    if os.geteuid() == 0:
        os.chown(site.spool, 1, 1)
        check("", f"{site.spool} belongs to", code=0)
        os.chown(site.spool, 0, 0)
    site.config.write_text(f"{text}[web]\nproxies = 192.0.2.1 2001:db8::1 unix\n[runner.lmtp]\n"
                           "listen = 127.0.0.1:8024 [::1]:8024\n[external.scan]\ncommand = cat\n")
    assert "[external.scan]" not in site.run("config", "check", code=None).err


def test_config_check_of_another_file(site):
    other = site.path / "other.conf"
    other.write_text("[site]\nverbose = perhaps\n")
    site.run("config", "check", "--offline", other, code=CONFIG, says="other.conf:2: [site] verbose")


def test_arguments_are_utf8_in_every_locale(site):
    """From cron and ssh there often is none."""
    os.environ["LC_ALL"] = "C"
    site.run("domain", "create", "xn--bcher-kva.example")
    site.run("list", "create", "x@xn--bcher-kva.example")
    site.run("domain", "alias", "xn--bcher-kva.example", "bücher.example")
    site.run("token", "create", "--domain", "bücher.example")
    site.run("token", "create", "--list", "x@bücher.example")
    site.run("token", "create", "--domain", "käfer.example", code=MISSING, says="there is no domain")
    site.run("token", "create", "--list", os.fsdecode(b"b\xff@example.com"), code=USAGE, says="--list is not UTF-8")
    assert sorted((row["lists"], row["domains"]) for row in site.run("token", "ls", "--json").rows()) == [
        ("", "xn--bcher-kva.example"), ("x.xn--bcher-kva.example", "")]


def test_a_list_does_not_take_the_mail_of_an_owner(site):
    site.run("domain", "create", "people.example")
    site.run("list", "create", "talk@people.example", "--owner", "anne@people.example")
    site.run("list", "create", "anne@people.example", code=USAGE,
             says="anne@people.example is owner of talk.people.example, and would become an address of the list")
    site.run("list", "rename", "talk@people.example", "anne@people.example", code=USAGE, says="change that person's")
    site.run("domain", "create", "other.example")
    site.run("list", "create", "bob@other.example", "--owner", "bob@old.example")
    site.run("domain", "alias", "other.example", "old.example", code=USAGE, says="bob@old.example is owner of")
    site.run("domain", "alias", "people.example", "old.example")
    lists = site.run("list", "ls").out
    assert "talk@people.example" in lists and "bob@other.example" in lists and "anne@" not in lists


def test_config_show(site):
    out = site.run("config", "show").out
    assert f"directory = {site.spool}" in out and "poll_interval" not in out
    assert "poll_interval" in site.run("config", "show", "--defaults").out


def test_a_wrong_configuration_stops_every_verb(site):
    site.config.write_text("[spool\n")
    site.run("list", "ls", code=CONFIG, says=str(site.config))
    site.run("queue", "stat", code=CONFIG, says=str(site.config))


def test_only_store_create_makes_a_database(site):
    for path in site.path.glob("listrunner.db*"):
        path.unlink()
    for words in (["list", "ls"], ["list", "create", LIST], ["domain", "create", "example.com"], ["store", "check"],
                  ["store", "compact"], ["store", "backup", site.path / "copy"]):
        err = site.run(*words, code=MISSING, says=str(site.database)).err
        assert "listrunner store create" in err, err
        assert not site.database.exists()
    site.database.touch()
    site.run("list", "create", LIST, code=MISSING, says="is empty")
    assert site.database.stat().st_size == 0
    assert str(site.database) in site.run("store", "create").out
    site.run("list", "create", LIST)
    site.run("store", "create", code=NOT_SO, says="already")
    assert site.run("list", "ls", "--names").out == LIST + "\n"


def test_a_database_is_checked(site):
    out = site.run("store", "check").out
    assert re.search(r"is sound, schema [1-9][0-9]*\.$", out.strip()), out
    site.run("list", "create", LIST)
    site.run("member", "import", LIST, data=b"".join(b"member%d@example.org\n" % i for i in range(3000)))
    site.run("store", "compact")
    octets = bytearray(site.database.read_bytes())
    octets[-20 * 4096:] = bytes(20 * 4096)
    site.database.write_bytes(octets)
    site.run("store", "check", code=NOT_SO, says="is damaged: stop Listrunner")
    assert "can be opened" in site.run("store", "check", "--quick").out
    site.database.write_bytes(b"x" * 8192)
    site.run("store", "check", "--quick", code=CONFIG, says="not a database")


def test_a_backup_is_a_database(site):
    copy = site.path / "copy.db"
    site.run("list", "create", LIST)
    site.run("member", "add", LIST, "anne@example.com")
    site.run("store", "backup", copy)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o640
    site.run("store", "backup", copy, code=NOT_SO, says=str(copy))
    site.run("member", "remove", LIST, "anne@example.com")
    for path in site.path.glob("listrunner.db*"):
        path.unlink()
    copy.rename(site.database)
    assert site.run("member", "ls", LIST, "--names").out == "anne@example.com\n"
    site.run("store", "check")
    site.run("store", "backup", site.path / "none" / "copy.db", code=LATER, says="none")
    assert not (site.path / "none").exists()


def test_compacting_gives_room_back(site):
    site.run("list", "create", LIST)
    site.run("member", "import", LIST, data=b"".join(b"member%d@example.org\n" % i for i in range(5000)))
    site.run("list", "remove", LIST, "--yes")
    before = site.database.stat().st_size
    site.run("store", "compact")
    assert site.database.stat().st_size < before * 2 / 3


def events(site):
    """Return the events in the queue hooks: the type of each, and the address and role that it is about."""
    found = [json.loads(site.message("hooks", path.name[:-len(".msg")])) for path in site.entries("hooks")]
    return sorted((event["type"], event["data"].get("email", ""), event["data"].get("role", "")) for event in found)


def test_programs_outside_are_told(site):
    with site.config.open("a") as config:
        config.write("[runner.hooks]\nstart = yes\n")
    site.run("list", "create", LIST)
    site.run("member", "add", LIST, "anne@example.com", "Bob <bob@example.com>")
    site.run("member", "add", LIST, "anne@example.com", code=NOT_SO, says="anne@example.com")
    site.run("member", "add", "--role=owner", LIST, "anne@example.com")
    site.run("member", "remove", LIST, "bob@example.com", "carl@example.com", code=MISSING, says="carl@example.com")
    assert events(site) == [("list.created", "", ""), ("member.joined", "anne@example.com", "member"),
                            ("member.joined", "anne@example.com", "owner"),
                            ("member.joined", "bob@example.com", "member"),
                            ("member.left", "bob@example.com", "member")]
    site.run("list", "remove", "--yes", LIST)
    for path in site.entries("hooks"):
        path.unlink()
    site.run("list", "create", LIST)
    people = [f"member{number}@example.org" for number in range(250)]
    site.run("member", "import", LIST, data="\n".join(people + people[:1]).encode())
    assert events(site)[1:] == sorted(("member.joined", address, "member") for address in people)


def test_domains(site):
    assert "domain example.com created" in site.run("domain", "create", "example.com", "--description", "Überall").out
    site.run("domain", "create", "example.com", code=NOT_SO, says="example.com")
    assert site.run("domain", "ls", "--names").out == "example.com\n"
    assert site.run("domain", "ls", "--json").rows()[0]["description"] == "Überall"
    assert "DOMAIN" in site.run("domain", "ls").out
    site.run("list", "create", LIST)
    assert site.run("list", "ls", "Example.com", "--names").out == LIST + "\n"
    site.run("list", "ls", "example.net", code=MISSING, says="there is no domain example.net")
    site.run("domain", "remove", "example.com", code=NOT_SO, says="example.com")
    site.run("list", "remove", LIST)
    site.run("domain", "remove", "example.com")
    site.run("domain", "remove", "example.com", code=MISSING, says="example.com")
    assert site.run("domain", "ls").out == ""


def test_a_slip_makes_no_domain(site):
    first = site.run("list", "create", "news@lists.example.com").out
    assert "lists.example.com is a new domain of this site" in first and "listrunner doctor" in first
    assert "new domain" not in site.run("list", "create", "talk@lists.example.com").out
    for slip in ("list.example.com", "listsexample.com", "lists.exmaple.com"):
        site.run("list", "create", f"dogs@{slip}", code=USAGE, says="lists.example.com; if the new one is meant")
    made = site.run("list", "create", "dogs@list.example.com", "--new-domain").out
    assert "list.example.com is a new domain" in made
    assert "differs little from" in site.run("domain", "create", "lists2.example.com").out
    assert "differs little from" not in site.run("domain", "create", "example.org").out
    for name in ("localhost", "10.0.0.1", "bad_domain", "bad_domain.example.com", "listsexample",
                 "x" * 64 + ".example.com"):
        site.run("domain", "create", name, code=USAGE, says="can be no domain of mail")
        site.run("list", "create", f"cats@{name}", code=USAGE, says="can be no domain of mail")


def test_slips_are_understood(site):
    site.run("list", "create", LIST)
    site.run("list", "show", "tets@example.com", code=MISSING, says="did you mean test@example.com?")
    site.run("list", "show", "tst.example.com", code=MISSING, says="did you mean test.example.com?")
    assert "did you mean" not in site.run("list", "show", "cats@example.com", code=MISSING).err
    site.run("list", "set", LIST, "max_mesage_size=10", code=USAGE, says="did you mean 'max_message_size'?")
    site.run("list", "get", LIST, "nonsense", code=USAGE, says="list show LIST shows all")
    site.run("list", "set", LIST, "max_message_size=40kb", code=USAGE, says="a whole number of KiB from 0")
    site.run("list", "log", LIST, "--kind=nosuch", code=USAGE, says="--kind: found 'nosuch'; allowed are setting,")
    site.run("list", "log", LIST, "--kind=setting")
    site.run("backup", site.path, code=NOT_SO, says=f"such as {site.path}/listrunner-20")
    site.run("member", "add", LIST, "anne@example.com")
    site.run("member", "set", LIST, "anne@example.com", "--vacation=2026-12-24..2026-12-01", code=USAGE,
             says="whose last day is before its first")


def test_create_a_list(site):
    out = site.run("list", "create", LIST, "--owner", "anne@example.com", "--owner=bart@example.com").out
    assert "test@example.com" in out and "test.example.com" in out
    assert site.run("member", "ls", LIST, "--role", "owner", "--names").out == "anne@example.com\nbart@example.com\n"
    site.run("list", "create", LIST, code=NOT_SO, says="test.example.com")
    site.run("list", "create", "nonsense", code=USAGE, says="nonsense")
    site.run("list", "create", "a@b.example", "--style", "weird", code=USAGE, says="weird")
    site.run("list", "create", "a@new.example", "--no-domain", code=MISSING, says="new.example")


def test_a_list_is_created_whole_or_not_at_all(site):
    site.run("list", "create", LIST, "--owner", "not an address", code=USAGE, says="not an address")
    assert site.run("list", "ls").out == ""
    assert site.run("domain", "ls").out == ""


def test_addresses_of_other_lists_are_taken(site):
    site.run("list", "create", LIST)
    for name in ("owner", "bounces", "join", "leave", "subscribe", "unsubscribe", "confirm", "request"):
        site.run("list", "create", f"Test-{name.upper()}@EXAMPLE.com", code=USAGE, says=LIST)
    for name in ("test-bounces+anne=x.org", "test-confirm+1"):
        site.run("list", "create", f"{name}@example.com", code=USAGE, says=LIST)
    site.run("list", "create", "test-owner@example.org")
    site.run("list", "create", "test-owners@example.com")
    site.run("list", "create", "test@example.org", code=USAGE, says="test-owner@example.org")
    site.run("list", "create", "other-bounces+x=y.org@example.org")
    site.run("list", "create", "Other@Example.ORG", code=USAGE, says="other-bounces+x=y.org@example.org")
    site.run("list", "create", "test-announce@example.com")
    site.run("list", "create", "test-owner=1@example.com")
    site.run("list", "remove", "test-owner@example.org")
    site.run("list", "create", "test@example.org")
    site.config.write_text(site.config.read_text() + "[lmtp]\nverp_delimiter = -\n")
    site.run("list", "create", "test-bounces-anne@example.com", code=USAGE, says=LIST)
    site.run("list", "create", "test-dev@example.com")


def answered(site, answer, *words):
    """A command on a terminal, where somebody types; the exit code and what stood there."""
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen([TOOL, "-c", site.config, *words], stdin=follower, stdout=follower, stderr=follower)
    os.write(leader, answer)
    seen = read_terminal(leader, follower)
    return process.wait(), seen.decode()


def test_a_list_with_members_is_removed_only_on_purpose(site):
    site.run("list", "create", LIST)
    site.run("member", "add", LIST, "anne@example.com", "bart@example.com")
    site.run("list", "remove", LIST, code=USAGE, says="has 2 members, which would be gone for good; say --yes")
    for answer in (b"\n", b"n\n", b"yeah\n", b"\x04"):
        code, seen = answered(site, answer, "list", "remove", LIST)
        assert code == NOT_SO and f"Remove {LIST} with 2 members for good?" in seen, (code, seen)
        assert "not removed" in seen, seen
    assert site.run("list", "ls", "--names").out == LIST + "\n"
    code, seen = answered(site, b"y\n", "list", "remove", LIST)
    assert code == 0 and f"list {LIST} removed" in seen, (code, seen)
    site.run("list", "create", LIST)
    site.run("member", "add", LIST, "anne@example.com")
    site.run("list", "remove", LIST, "--yes")
    assert site.run("list", "ls").out == ""


def test_a_large_list_is_removed(site):
    site.run("list", "create", LIST)
    site.run("list", "create", "other@example.com")
    site.run("member", "add", "other@example.com", "m1@example.com")
    site.run("member", "import", LIST, data=b"".join(b"m%d@example.com\n" % i for i in range(25000)))
    assert "back to the file system" in site.run("list", "remove", LIST, "--yes").out
    assert site.run("list", "ls", "--names").out == "other@example.com\n"
    assert site.run("member", "ls", "other@example.com", "--names").out == "m1@example.com\n"


def test_show_and_find_lists(site):
    site.run("list", "create", LIST)
    site.run("list", "create", "other@example.org")
    shown = site.run("list", "show", "test.example.com", "--json").rows()[0]
    assert shown["address"] == LIST and shown["list_id"] == "test.example.com" and shown["members"] == 0
    assert shown["archive_policy"] == "public" and shown["emergency"] is False and shown["archivers"] == []
    text = site.run("list", "show", LIST.upper()).out
    assert "archive_policy:" in text and "list_id:" in text
    site.run("list", "show", "none@example.com", code=MISSING, says="none@example.com")
    assert sorted(site.run("list", "ls", "--names").out.split()) == ["other@example.org", LIST]
    assert site.run("list", "ls", "example.org", "--names").out == "other@example.org\n"
    assert {row["address"] for row in site.run("list", "ls", "--json").rows()} == {LIST, "other@example.org"}


def test_settings(site):
    site.run("list", "create", LIST)
    site.run("list", "set", LIST, "subject_prefix", "[Grüße] ")
    assert site.run("list", "get", LIST, "subject_prefix").out.startswith("[Grüße]")
    site.run("list", "set", LIST, "emergency=yes", "max_message_size=100", "acceptable_aliases=a@x.org,b@x.org")
    shown = site.run("list", "show", LIST, "--json").rows()[0]
    assert shown["emergency"] is True and shown["max_message_size"] == 100
    assert shown["acceptable_aliases"] == ["a@x.org", "b@x.org"]
    values = site.run("list", "get", LIST, "emergency", "max_message_size", "--json").rows()
    assert values == [True, 100]
    site.run("list", "reset", LIST, "emergency", "acceptable_aliases")
    assert site.run("list", "get", LIST, "emergency", "--json").rows() == [False]


def test_settings_are_refused_with_their_name(site):
    site.run("list", "create", LIST)
    site.run("list", "get", LIST, "colour", code=USAGE, says="'colour'")
    site.run("list", "set", LIST, "colour=blue", code=USAGE, says="'colour'")
    site.run("list", "set", LIST, "emergency=perhaps", code=USAGE, says="emergency")
    site.run("list", "set", LIST, "archive_policy=sometimes", code=USAGE, says="never")
    site.run("list", "set", LIST, "advertised=no", "emergency", "x=y", code=USAGE, says="'emergency'")
    assert site.run("list", "get", LIST, "advertised", "--json").rows() == [True], "all or none"
    site.run("list", "set", "none@example.com", "emergency=yes", code=MISSING, says="none@example.com")


def test_a_setting_is_tried_and_not_made(site):
    site.run("list", "create", LIST)
    done = site.run("list", "try", LIST, "emergency=yes", says="no archive")
    assert done.out == "There is no post of the last 30 days to try it with.\n"
    total, = site.run("list", "try", LIST, "--ban", "a@example.org", "--header-match", "X-Spam: yes", "--json").rows()
    assert total["posts"] == 0 and set(total["would_be"].values()) == {0} and "archiver" in total["gap"]
    assert site.run("list", "get", LIST, "emergency", "--json").rows() == [False]
    for verb in "ban", "header-match":
        assert not site.run(verb, "ls", LIST, "--json").rows()
    site.run("list", "try", LIST, code=USAGE, says="SETTING=VALUE")
    site.run("list", "try", LIST, "emergency=perhaps", code=USAGE, says="emergency")
    site.run("list", "try", LIST, "colour=blue", code=USAGE, says="'colour'")
    site.run("list", "try", LIST, "--ban", "no address", code=USAGE, says="no address")
    site.run("list", "try", LIST, "--header-match", "X-Spam", code=USAGE, says="FIELD: PATTERN")
    site.run("list", "try", LIST, "emergency=yes", "--days", "0", code=USAGE, says="--days")
    site.run("list", "try", "none@example.com", "emergency=yes", code=MISSING, says="none@example.com")


def test_settings_that_name_what_is_configured(site):
    site.run("list", "create", LIST)
    site.run("list", "set", LIST, "transport=maybe", code=USAGE, says="there is no [transport.maybe]")
    site.run("list", "set", LIST, "transport=relay,relay", code=USAGE, says="there is no [transport.relay,relay]")
    site.run("list", "set", LIST, "transport=relay")
    site.run("list", "set", LIST, "transport=")
    site.run("list", "set", LIST, "archivers=here,there", code=USAGE, says="there is no [archiver.here]")
    site.config.write_text(site.config.read_text() + f"[archiver.here]\npath = {site.path}\n")
    site.run("list", "set", LIST, "archivers=here,there", code=USAGE, says="there is no [archiver.there]")
    site.run("list", "set", LIST, "archivers=here")


def test_lines_are_bounded(site):
    site.run("list", "create", LIST)
    site.run("list", "set", LIST, "description=" + "x" * 998)
    for setting in ("description", "subject_prefix", "display_name"):
        site.run("list", "set", LIST, f"{setting}=" + "x" * 999, code=USAGE, says=f"{setting}: 999 bytes")
    site.run("list", "set", LIST, "msg_footer=" + "x" * 5000)
    for language in ("../../etc", "de/x", "..", "a b", "xx"):
        site.run("list", "set", LIST, f"preferred_language={language}", code=USAGE, says="preferred_language")
    for language in ("de", "pt-BR", "zh_Hant"):
        site.run("list", "set", LIST, f"preferred_language={language}")


def test_setting_names(site):
    site.run("list", "create", LIST)
    names = site.run("list", "show", LIST, "--names").out.split()
    assert "subject_prefix" in names and len(names) > 20
    for name in names:
        site.run("list", "get", LIST, name)


def test_members(site):
    site.run("list", "create", LIST)
    out = site.run("member", "add", LIST, "anne@example.com", "Bart Ünger <bart@example.com>").out
    assert "anne@example.com is now member of test@example.com" in out
    site.run("member", "add", LIST, "ANNE@example.com", "cris@example.com", code=NOT_SO, says="anne@example.com")
    everybody = [f"{name}@example.com" for name in ("anne", "bart", "cris")]
    assert site.run("member", "ls", LIST, "--names").out.split() == everybody
    rows = {row["address"]: row for row in site.run("member", "ls", LIST, "--json").rows()}
    assert rows["bart@example.com"]["display_name"] == "Bart Ünger"
    assert rows["anne@example.com"]["delivery_status"] == "enabled"
    assert "STATUS" in site.run("member", "ls", LIST).out
    site.run("member", "add", LIST, "--role", "moderator", "--display-name", "Zoë", "anne@example.com")
    assert site.run("member", "ls", LIST, "--role=moderator", "--json").rows()[0]["role"] == "moderator"
    site.run("member", "remove", LIST, "bart@example.com")
    site.run("member", "remove", LIST, "bart@example.com", "cris@example.com", code=MISSING, says="bart@example.com")
    assert site.run("member", "ls", LIST, "--names").out == "anne@example.com\n"


def test_member_errors(site):
    site.run("list", "create", LIST)
    site.run("member", "add", LIST, "nonsense", code=USAGE, says="nonsense")
    site.run("member", "add", LIST, "a@x.org", "--role", "king", code=USAGE, says="'king'")
    site.run("member", "add", "none@example.com", "a@x.org", code=MISSING, says="none@example.com")
    site.run("member", "add", LIST, "a@x.org", "b@x.org", "--display-name", "A", code=USAGE, says="one address")
    site.run("member", "ls", "none@example.com", code=MISSING, says="none@example.com")


def test_set_a_member(site):
    site.run("list", "create", LIST)
    site.run("member", "add", LIST, "anne@example.com")
    site.run("member", "set", LIST, "anne@example.com", "--delivery-mode=mime_digests", "--delivery-status=by_user",
             "--receive-own-postings=no", "--moderation", "hold")
    row = site.run("member", "ls", LIST, "--json").rows()[0]
    assert row["delivery_mode"] == "mime_digests" and row["delivery_status"] == "by_user"
    assert row["receive_own_postings"] is False and row["moderation_action"] == "hold"
    site.run("member", "set", LIST, "anne@example.com", "--delivery-mode=default", "--moderation=default")
    row = site.run("member", "ls", LIST, "--json").rows()[0]
    assert row["delivery_mode"] == "regular" and row["moderation_action"] is None
    assert row["delivery_status"] == "by_user", "what is not named stays"
    site.run("member", "set", LIST, "anne@example.com", code=USAGE, says="what to change")
    site.run("member", "set", LIST, "anne@example.com", "--hide-address=perhaps", code=USAGE, says="'perhaps'")
    site.run("member", "set", LIST, "anne@example.com", "--delivery-status=x", code=USAGE, says="'x'")
    site.run("member", "set", LIST, "anne@example.com", "--moderation=x", code=USAGE, says="'x'")
    site.run("member", "set", LIST, "anne@example.com", "--delivery-mode=x", code=USAGE, says="mime_digests")
    site.run("member", "set", LIST, "bart@example.com", "--hide-address=no", code=MISSING, says="bart@example.com")


def test_control_characters_do_not_reach_the_terminal(site):
    site.run("list", "create", LIST)
    site.run("member", "import", LIST, data=b"A\x1b[31mB <anne@x.org>\n")
    assert "\x1b" not in site.run("member", "ls", LIST).out
    site.run("inject", LIST, data=b"Message-ID: <a\x1b[31mb@x.org>\n\n")
    assert "\x1b" not in site.run("inject", LIST, data=b"Message-ID: <a\x1b[31mb@x.org>\n\n").out


def test_upper_control_characters_do_not_either(site):
    """U+009B begins a command of a terminal as ESC [ does; U+202E turns the order of what follows."""
    site.run("list", "create", LIST)
    result = site.run("member", "import", LIST, code=NOT_SO,
                      data="A \u009b31mB <anne@x.org>\nb\u009b31m@x.org\nc\x1b[1m@x.org\n".encode())
    assert "\u009b" not in result.err and "\x1b" not in result.err and ":3: " in result.err
    assert "\u009b" not in site.run("member", "ls", LIST).out
    for name in ("a\u009b@example.com", "a\x1b@example.com"):
        err = site.run("list", "create", name, code=USAGE).err
        assert "\u009b" not in err and "\x1b" not in err
        err = site.run("member", "add", LIST, name, code=USAGE).err
        assert "\u009b" not in err and "\x1b" not in err
    site.run("domain", "create", "x\u009b31m.org", code=USAGE)
    for words in (("member", "add", LIST), ("member", "remove", LIST), ("list", "show"), ("inject", LIST, "--sender")):
        err = site.run(*words, "a\nlistrunner: all is well@x.org", code=None).err
        assert "a?listrunner: all is well@x.org" in err, err
    for setting in ("description", "archivers", "accept_these_nonmembers"):
        site.run("list", "set", LIST, f"{setting}=^a\u009b31m", code=USAGE, says=setting)
    rows = site.run("inject", LIST, "--json", data="Message-ID: <a\u009b31m\u202eb@x.org>\n\n".encode()).rows()
    out = site.run("queue", "cat", rows[0]["name"]).out.split("\n\n")[0]
    assert "\u009b" not in out and "\u202e" not in out


def test_a_message_on_a_terminal(site):
    site.run("list", "create", LIST)
    octets = b"From: a\x1b[31m <a@x.org>\nSubject: \xc2\x9b31m \xff\n\n\tGr\xc3\xbc\xc3\x9fe\x07\rX\n\n"
    entry = site.run("inject", LIST, "--json", data=octets).rows()[0]["name"]
    seen = on_terminal("-c", site.config, "queue", "cat", entry)
    assert "From: a?[31m <a@x.org>\nSubject: ?31m \ufffd\n\n\tGrüße??X\n\n".encode() in seen, seen
    assert site.run("queue", "cat", "--body", entry).raw == b"\tGr\xc3\xbc\xc3\x9fe\x07\rX\r\n\r\n"


def test_words_come_back_as_they_were(site):
    site.run("list", "create", LIST)
    site.run("list", "set", LIST, "accept_these_nonmembers=^a\\,b\n^c[\\\\]d@x")
    words = site.run("list", "show", LIST, "--json").rows()[0]["accept_these_nonmembers"]
    assert words == ["^a,b", "^c[\\\\]d@x"], words
    site.run("list", "set", LIST, "accept_these_nonmembers=^a\\\\\n^b", code=USAGE, says="backslash")


def test_a_running_master_is_found_beside_a_broken_file(site):
    """The runtime directory in the file counts, without its comment; else the default does."""
    broken = "[spool]\nmin_fre = 1\n"
    site.config.write_text(broken + f"[master]\nruntime_directory = {site.path}/run ; ours\n")
    site.run("status", code=NOT_RUNNING, says=f"{site.path}/run/control.sock)")
    site.config.write_text(broken)
    site.run("status", code=NOT_RUNNING, says="/listrunner/control.sock)")


def test_changes_of_two_commands_stay(site):
    site.run("list", "create", LIST)
    site.run("member", "add", LIST, "anne@example.com")
    options = [("--acknowledge-posts", "yes"), ("--hide-address", "no"), ("--receive-list-copy", "no"),
               ("--receive-own-postings", "no"), ("--delivery-mode", "mime_digests")]
    for _ in range(10):
        running = [subprocess.Popen([TOOL, "-c", site.config, "member", "set", LIST, "anne@example.com", *option])
                   for option in options]
        assert [process.wait() for process in running] == [0] * len(options)
        row = site.run("member", "ls", LIST, "--json").rows()[0]
        assert (row["acknowledge_posts"], row["hide_address"], row["receive_list_copy"], row["receive_own_postings"],
                row["delivery_mode"]) == (True, False, False, False, "mime_digests"), row
        for option, _ in options:
            site.run("member", "set", LIST, "anne@example.com", option, "default")


def test_root_leaves_no_files_of_its_own(site):
    if os.geteuid() != 0:
        raise Skip("not root")
    import pwd

    nobody = pwd.getpwnam("nobody")
    site.config.write_text(site.config.read_text().replace("user = root", "user = nobody"))
    site.database.unlink()
    for path in (site.path, *site.path.iterdir()):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    site.run("store", "create")
    site.run("list", "create", LIST, "--owner", "anne@example.com")
    secret = site.path / "only-root"
    secret.write_text("Subject: hello\n\nbody\n")
    os.chmod(secret, stat.S_IRUSR)
    site.run("inject", LIST, secret)
    site.run("queue", "stat")
    made = [path for path in site.path.rglob("*") if path not in (secret, site.config)]
    assert len(made) >= 4
    assert {path.stat().st_uid for path in made} == {nobody.pw_uid}, [(p, p.stat().st_uid) for p in made]


def test_who_may_not_use_the_database_is_told_why(site):
    if os.geteuid() != 0:
        raise Skip("not root")
    site.run("list", "create", LIST)
    cases = [(0o755, 0o600, f"the user nobody may not read {site.database}, which belongs to root (mode 600)"),
             (0o755, 0o644, f"the user nobody may not write {site.database}, which belongs to root (mode 644)"),
             (0o755, 0o666, f"the user nobody may not make files in {site.path}, which belongs to root (mode 755)"),
             (0o711, 0o000, f"the user nobody may not read {site.database}, which belongs to root (mode 000)")]
    for directory, mode, why in cases:
        site.path.chmod(directory)
        site.config.chmod(0o644)
        site.database.chmod(mode)
        done = site.run_as_nobody("list", "ls")
        assert done.returncode == 75 and done.stderr.count(str(site.database)) >= 1 and why in done.stderr, done


if __name__ == "__main__":
    main(globals())

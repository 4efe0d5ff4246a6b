# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Members from outside: sources of lists are read, the lists follow them, and what goes wrong changes nothing."""
import contextlib
import http.server
import json
import socket
import sqlite3
import ssl
import subprocess
import threading

import pytest

from support import mariadb, postgresql
from support.certificate import Authority
from support.instance import HOST, prefix, wait_until, write_secret
from support.slapd import BASE, READER, Slapd


@pytest.fixture
def site(instances, sink):
    return with_sources(instances(sink.port))


def with_sources(made):
    """Files of sources are in a directory of their own, from which alone they are read."""
    made.sources = made.directory / "sources"
    made.sources.mkdir()
    made.set({"task": {"source_directories": made.sources}})
    made.create_store()
    return made


def write(site, name, text):
    """A file is replaced whole, as whoever gives one should do."""
    path = site.sources / name
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)
    return path


def give(site, name, addresses):
    return write(site, name, "".join(f"{address}\n" for address in addresses))


def people(count, domain="example.org", first=0):
    return [f"p{number:05d}@{domain}" for number in range(first, first + count)]


def members(site, address):
    return site.cli("member", "ls", "--names", address).split()


def refresh(site, *words, code=0):
    done = site.run("list", "source", "refresh", *words, timeout=120)
    assert done.returncode == code, f"{done.returncode}: {done.stderr}{done.stdout}"
    return done.stdout + done.stderr


def show(site, address, name):
    return json.loads(site.cli("list", "source", "show", address, name, "--json"))


def why(site, address, person):
    done = site.run("list", "source", "why", address, person, "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == (0 if answer["member"] else 1), done
    return answer


def log(site, address, kind):
    return [json.loads(line) for line in site.cli("list", "log", "--json", f"--kind={kind}", address).splitlines()]


def test_members_follow_two_sources_of_two_lists(site, sink):
    """A person who joined stays; one who comes by two sources stays until both drop him; nobody gets a letter."""
    talk = site.create_list("talk", members=["own@example.org", "Both@example.org"])
    news = site.create_list("news", members=["other@example.org"])
    staff = give(site, "staff", ["# the staff", "", "Anna <anna@example.org>", "ben@example.org", "both@example.org"])
    guests = write(site, "guests", "ben@example.org\nCarla <carla@example.net>\nno address\nben@EXAMPLE.org\n")
    site.cli("list", "source", "add", talk, "staff", "file", staff)
    site.cli("list", "source", "add", talk, "guests", "file", guests)
    site.cli("list", "source", "add", news, "staff", "file", staff)
    assert "staff: 3 given, 2 joined, 0 left, 0 kept out, 0 bad\n" in refresh(site, talk, "staff")
    assert "guests: 2 given, 1 joined, 0 left, 0 kept out, 1 bad" in refresh(site, talk, "guests")
    everybody = ["anna@example.org", "ben@example.org", "Both@example.org", "carla@example.net", "own@example.org"]
    assert sorted(members(site, talk), key=str.lower) == everybody
    assert members(site, news) == ["other@example.org"], "its source was not read yet"
    assert refresh(site, talk).count("0 joined, 0 left") == 2, "the second time changes nothing"
    row = json.loads(site.cli("member", "show", talk, "anna@example.org", "--json"))
    assert row["display_name"] == "Anna" and row["sources"] == ["staff"]
    own = json.loads(site.cli("member", "show", talk, "both@example.org", "--json"))
    assert own["sources"] == [], "he had joined before"

    give(site, "staff", ["anna@example.org"])
    assert "0 joined, 0 left" in refresh(site, talk, "staff"), "ben comes by guests, Both had joined"
    give(site, "guests", ["carla@example.net"])
    assert "0 joined, 1 left" in refresh(site, talk, "guests")
    assert "ben@example.org" not in members(site, talk) and "Both@example.org" in members(site, talk)
    give(site, "guests", ["carla@example.net", "ben@example.org"])
    assert "1 joined" in refresh(site, talk, "guests"), "who left because a source dropped him comes again"
    refresh(site, news)
    assert sorted(members(site, news)) == ["anna@example.org", "other@example.org"]

    came = {row["name"]: row for row in log(site, talk, "member")}
    assert came["anna@example.org"]["by"] == "source staff"
    assert any(row["after"] == "source" and row["name"] == "ben@example.org" for row in log(site, talk, "member"))
    site.start()
    site.wait_idle()
    assert not sink.envelopes(), "no letter by default"


def test_who_left_or_is_banned_stays_out_and_why_says_so(site):
    talk = site.create_list("talk", members=["early@example.org"])
    other = site.create_list("other")
    site.cli("member", "remove", talk, "early@example.org")
    site.cli("ban", "add", f"--list={talk}", "bad@example.org", "^.*@spam\\.example$")
    site.cli("ban", "add", f"--list={other}", "anna@example.org")
    path = give(site, "staff", ["anna@example.org", "ben@example.org", "bad@example.org", "x@spam.example",
                                "early@example.org", f"{talk.replace('@', '-owner@')}"])
    site.cli("list", "source", "add", talk, "staff", "file", path)
    assert "6 given, 2 joined, 0 left, 4 kept out" in refresh(site, talk)
    assert sorted(members(site, talk)) == ["anna@example.org", "ben@example.org"]
    assert "made" in str(why(site, talk, "ANNA@example.org")["sources"])
    assert "banned" in why(site, talk, "bad@example.org")["because"][0]
    assert "^.*@spam" in why(site, talk, "x@spam.example")["because"][0]
    assert "removed" in why(site, talk, "early@example.org")["because"][0]
    assert "did not give" in why(site, talk, "stranger@example.org")["because"][0]

    site.cli("member", "remove", talk, "ben@example.org")
    assert "meanwhile" in why(site, talk, "ben@example.org")["because"][0]
    assert "0 joined, 0 left, 5 kept out" in refresh(site, talk)
    assert "removed" in why(site, talk, "ben@example.org")["because"][0]
    give(site, "staff", ["anna@example.org"])
    refresh(site, talk, "--force")
    give(site, "staff", ["anna@example.org", "ben@example.org"])
    assert "0 joined" in refresh(site, talk), "the memory outlives a reading without him"
    second = give(site, "second", ["ben@example.org"])
    site.cli("list", "source", "add", talk, "second", "file", second)
    assert "0 joined, 0 left, 1 kept out" in refresh(site, talk, "second"), "another source does not bring him"

    site.cli("member", "add", talk, "ben@example.org")
    refresh(site, talk)
    assert not any(source["made"] for source in why(site, talk, "ben@example.org")["sources"])
    give(site, "staff", ["anna@example.org"])
    give(site, "second", ["anna@example.org"])
    refresh(site, talk)
    assert "ben@example.org" in members(site, talk), "he is his own member now"
    refused = site.run("list", "source", "why", talk, "no address")
    assert refused.returncode == 64 and "no e-mail address" in refused.stderr


def test_a_source_that_fails_is_cut_or_shrinks_changes_nothing_and_tells(site, sink):
    """The owners get a letter when it begins to fail and one when it works again, whatever fails between."""
    talk = site.create_list("talk", owner="olga@example.net")
    everybody = people(20)
    path = give(site, "staff", everybody)
    other = give(site, "other", people(3, "example.net"))
    site.cli("list", "source", "add", talk, "staff", "file", path)
    site.cli("list", "source", "add", talk, "other", "file", other)
    refresh(site, talk)
    both = sorted(everybody + people(3, "example.net"))
    assert sorted(members(site, talk)) == both

    def refused(words, code):
        assert words in refresh(site, talk, "staff", code=code)
        assert sorted(members(site, talk)) == both, words
        assert words in show(site, talk, "staff")["fault"]

    write(site, "staff", "<html>\n<p>Sorry\n")
    refused("none is an address", 78)
    assert show(site, talk, "staff")["bad_lines"] == ["1: <html>", "2: <p>Sorry"]
    write(site, "staff", "\n".join(everybody[:15]))
    refused("its last line has no end", 75)
    give(site, "staff", everybody[:10])
    refused("of 20 addresses that it gave, 10 are missing", 1)
    path.unlink()
    refused("cannot read it", 66)
    path.mkdir()
    refused("it is no file", 78)
    path.rmdir()
    give(site, "staff", everybody[:10])
    site.start()
    state = site.run("status")
    assert "source of members" in state.stdout and state.returncode != 0, state
    assert site.status()["source_faults"] == 1
    assert "listrunner_source_faults 1" in site.cli("metrics")
    assert "0 joined, 10 left" in refresh(site, talk, "staff", "--force")
    assert show(site, talk, "staff")["fault"] is None and show(site, talk, "staff")["bad_lines"] == []
    site.wait_idle()
    got = sink.take_mail()
    assert list(got) == ["olga@example.net"], got
    fails, works = sorted((letter.get_content().replace("\r\n", "\n") for letter in got["olga@example.net"]),
                          key=lambda letter: "works again" in letter.replace("when it works again", ""))
    assert "of 2 lines none is an address" in fails and "\n    1: <html>\n    2: <p>Sorry\n" in fails
    assert "works again" in works and "gives: 10." in works and "none is" not in works
    assert "source of members" not in site.run("status").stdout
    give(site, "other", [])
    assert "0 joined, 3 left" in refresh(site, talk, "other"), "a handful may go"


def test_a_bad_line_is_cut_between_characters(site):
    """Half a character would look like a wrong encoding, and a control character may be an order to a terminal."""
    talk = site.create_list("talk")
    path = write(site, "staff", "anna@example.org\n" + "a" * 99 + "é and more\nb\u009b31mc\n")
    site.cli("list", "source", "add", talk, "staff", "file", path)
    assert "1 joined, 0 left, 0 kept out, 2 bad" in refresh(site, talk)
    assert show(site, talk, "staff")["bad_lines"] == ["2: " + "a" * 99, "3: b 31mc"]


def test_a_line_that_is_no_address_any_more_removes_nobody(site):
    """The name of a member comes in another encoding than before; a bad line besides it keeps nobody out."""
    talk = site.create_list("talk")
    path = write(site, "staff", "anna@example.org\nJürgen <ben@example.org>\nno address\n")
    site.cli("list", "source", "add", talk, "staff", "file", path)
    points = f"; listrunner list source show talk.{HOST} staff shows bad lines\n"
    assert f"2 joined, 0 left, 0 kept out, 1 bad{points}" in refresh(site, talk)
    assert show(site, talk, "staff")["bad_lines"] == ["3: no address"]
    path.write_bytes(path.read_text().encode("latin-1"))
    told = refresh(site, talk, code=1)
    assert "2 lines are no addresses" in told and told.endswith(f"; nothing was changed{points}")
    assert show(site, talk, "staff")["bad_lines"] == ["2: J\ufffdrgen <ben@example.org>", "3: no address"]
    assert members(site, talk) == ["anna@example.org", "ben@example.org"]
    write(site, "staff", "anna@example.org\nBen <ben@example.org>\nno address\nnone, too\ncarla@example.org\n")
    assert "1 joined, 0 left, 0 kept out, 2 bad" in refresh(site, talk), "nobody is missing"
    write(site, "staff", "anna@example.org\nno address\nnone, too\ncarla@example.org\n")
    assert "0 joined, 1 left" in refresh(site, talk), "no more bad lines than before"
    write(site, "staff", "anna@example.org\nno address\nnone, too\ncarla example.org\n")
    refresh(site, talk, code=1)
    assert "0 joined, 1 left, 0 kept out, 3 bad" in refresh(site, talk, "--force")


def test_a_list_is_a_source_and_no_circle_comes_to_be(site):
    staff, talk = site.create_list("staff", members=["anna@example.org", "ben@example.org"]), site.create_list("talk")
    third = site.create_list("third")
    site.cli("list", "source", "add", talk, "staff", "list", staff)
    site.cli("list", "source", "add", third, "talk", "list", talk)
    for target, source in ((staff, talk), (staff, third), (talk, talk)):
        refused = site.run("list", "source", "add", target, "round", "list", source)
        assert refused.returncode == 64 and "circle" in refused.stderr, refused
    refresh(site, talk)
    refresh(site, third)
    assert members(site, third) == ["anna@example.org", "ben@example.org"]
    site.cli("member", "remove", staff, "ben@example.org")
    refresh(site, talk)
    refresh(site, third)
    assert members(site, third) == ["anna@example.org"]
    site.cli("list", "remove", "--yes", staff)
    assert "list" in refresh(site, talk, code=66)
    assert members(site, talk) == ["anna@example.org"]


def test_words_that_are_wrong_are_refused_with_what_is_right(site):
    talk = site.create_list("talk")
    path = give(site, "staff", ["anna@example.org"])
    site.cli("list", "source", "add", talk, "staff", "file", path)
    for words, said in (
            ((talk, "staff", "file", path), "already"),
            ((talk, "a b", "file", path), "no name"),
            ((talk, "b", "folder", path), "file, url, list, sql and ldap"),
            ((talk, "b", "file", "staff"), "whole path"),
            ((talk, "b", "list", "nobody@lists.example.com"), "nobody"),
            ((talk, "b", "url", "ftp://example.com/x"), "https://"),
            ((talk, "b", "url", "https://jo:secret@example.com/x"), "--password-file"),
            ((talk, "b", "sql", "/a.db"), "--query"),
            ((talk, "b", "sql", "/a.db", "--query=DELETE FROM x"), "SELECT"),
            ((talk, "b", "sql", "/a.db", "--query=SELECT 1; DELETE FROM x"), "one statement"),
            ((talk, "b", "sql", "postgresql://jo:secret@h/d", "--query=SELECT 1"), "--password-file"),
            ((talk, "b", "sql", "mysql+pymysql://jo:secret@h/d", "--query=SELECT 1"), "--password-file"),
            ((talk, "b", "sql", "mariadb://jo@h/d?password=secret", "--query=SELECT 1"), "--password-file"),
            ((talk, "b", "sql", "mysql://jo@h:sec/ret@h/d", "--query=SELECT 1"), "--password-file"),
            ((talk, "b", "sql", "mysql://jo@h/d", "--query=DELETE FROM x"), "SELECT"),
            ((talk, "b", "sql", site.sources / "a.db", "--query=SELECT 1", f"--password-file={site.sources}/word"),
             "server"),
            ((talk, "b", "ldap", "http://example.com"), "ldaps://"),
            ((talk, "b", "ldap", "ldaps://h/dc=x?mail,cn,sn"), "two attributes"),
            ((talk, "b", "ldap", "ldaps://h/dc=x", "--user=cn=x"), "--password-file"),
            ((talk, "b", "file", path, "--interval=1s"), "--interval"),
            ((talk, "b", "file", path, "--welcome=perhaps"), "--welcome")):
        done = site.run("list", "source", "add", *words)
        assert done.returncode != 0 and said in done.stderr, (words, done)
        assert "secret" not in done.stderr
    assert len(site.cli("list", "source", "ls", "--json").splitlines()) == 1


def test_removing_a_source_asks_what_becomes_of_its_members(site):
    talk = site.create_list("talk", members=["own@example.org"])
    path, second = give(site, "staff", ["a@example.org", "b@example.org"]), give(site, "second", ["b@example.org"])
    for name, place in (("staff", path), ("second", second)):
        site.cli("list", "source", "add", talk, name, "file", place)
    refresh(site, talk)
    asked = site.run("list", "source", "remove", talk, "staff")
    assert asked.returncode == 64 and "1 members" in asked.stderr and "--keep-members" in asked.stderr
    site.cli("list", "source", "remove", "--drop-members", talk, "staff")
    assert members(site, talk) == ["b@example.org", "own@example.org"]
    site.cli("list", "source", "remove", "--keep-members", talk, "second")
    assert members(site, talk) == ["b@example.org", "own@example.org"]
    assert "No source" in why(site, talk, "b@example.org")["because"][0]


def test_sources_move_to_another_site_with_who_came_by_them_and_who_left(site, instances, sink):
    talk, news = site.create_list("talk", members=["own@example.org"]), site.create_list("news")
    path = give(site, "staff", ["anna@example.org", "ben@example.org", "cleo@example.org", "own@example.org"])
    for address in (talk, news):
        site.cli("list", "source", "add", address, "staff", "file", path)
        refresh(site, address)
        site.cli("member", "remove", address, "cleo@example.org")
        refresh(site, address)
    site.cli("export", "-o", site.directory / "all.jsonl")
    there = with_sources(instances(sink.port))
    there.set({"task": {"source_directories": f"{there.sources}, {site.sources}"}})
    there.cli("import", "listrunner", "--site", site.directory / "all.jsonl", timeout=300)
    for address in (talk, news):
        assert "4 given, 0 joined, 0 left, 1 kept out" in refresh(there, address)
    give(site, "staff", ["ben@example.org"])
    assert "0 joined, 1 left" in refresh(there, talk), "own had joined"
    assert members(there, talk) == ["ben@example.org", "own@example.org"]
    assert "0 joined, 2 left" in refresh(there, news)
    assert "removed" in why(there, news, "cleo@example.org")["because"][0]


def test_the_timer_reads_sources_and_says_what_failed(site, sink):
    """New members of a source with --welcome=yes get a letter."""
    talk = site.create_list("talk")
    path = give(site, "staff", ["anna@example.org"])
    site.cli("list", "source", "add", talk, "staff", "file", path, "--interval=1m", "--welcome=yes")
    site.cli("list", "source", "add", talk, "gone", "file", site.sources / "gone")
    site.start()
    wait_until(lambda: members(site, talk) == ["anna@example.org"], 120, "the timer to read the source")
    wait_until(lambda: show(site, talk, "gone")["fault"], 120, "the fault")
    wait_until(lambda: any(one["to"] == ["anna@example.org"] for one in sink.envelopes()), 60, "the welcome")
    give(site, "staff", ["anna@example.org", "ben@example.org"])
    site.cli("list", "source", "set", talk, "staff", "--welcome=no")
    site.run_job("sources")
    assert members(site, talk) == ["anna@example.org", "ben@example.org"]
    assert "job=sources list=talk.lists.example.com source=gone" in site.log_text()


def test_files_lie_where_the_setting_says(site):
    """Beside it, above it and by a link out of it they are refused, in the shell at once and by the timer later."""
    talk = site.create_list("talk")
    inside, beside = give(site, "staff", ["anna@example.org"]), site.directory / "sources-beside"
    beside.write_text("ben@example.org\n")
    link = site.sources / "link"
    link.symlink_to(beside)
    secret = site.directory / "hr.password"
    write_secret(secret, "s3cret\n")
    for words in (("file", beside), ("file", link), ("file", site.sources / ".." / "sources-beside"),
                  ("file", site.sources), ("file", site.sources / "none" / ".." / ".." / "new"),
                  ("sql", beside, "--query=SELECT 1"),
                  ("sql", "postgresql://jo@h/d", "--query=SELECT 1", f"--password-file={secret}"),
                  ("ldap", "ldaps://h/dc=x", "--user=cn=x", f"--password-file={secret}"),
                  ("url", "https://h/", "--user=jo", f"--password-file={secret}")):
        done = site.run("list", "source", "add", talk, "one", *words)
        assert done.returncode == 64 and "source_directories in section [task]" in done.stderr, (words, done)
    site.cli("list", "source", "add", talk, "one", "file", inside)
    site.cli("list", "source", "add", talk, "by-link", "file", site.sources / "staff", "--interval=1m")
    done = site.run("list", "source", "set", talk, "one", f"--place={beside}")
    assert done.returncode == 64 and "source_directories" in done.stderr
    refresh(site, talk)
    site.cli("list", "source", "set", talk, "by-link", "--interval=2m")  # due at once
    inside.unlink()
    inside.symlink_to(beside)
    assert "source_directories" in refresh(site, talk, "one", code=78), "it leads elsewhere now"
    site.start()
    wait_until(lambda: "source_directories" in (show(site, talk, "by-link")["fault"] or ""), 60, "the timer to say so")
    assert members(site, talk) == ["anna@example.org"]


@pytest.mark.parametrize("words, said", [
    ("sources", "whole paths"), ("/", "belongs to the system"), ("/etc/", "belongs to the system"),
    ("/usr/share/x", "belongs to the system"), ("{site}", "has the configuration in it"),
    ("{site}/lib", "path of [store]"), ("/srv/none, {site}/trail", "directory of [trail]")])
def test_directories_that_sources_cannot_have(site, words, said):
    site.set({"store": {"driver": "sqlite", "path": site.directory / "lib" / "listrunner.db", "url": None}})
    site.set({"task": {"source_directories": words.format(site=site.directory)}})
    done = site.run("config", "check")
    assert done.returncode != 0 and "[task] source_directories: " in done.stderr and said in done.stderr, done


def test_the_timer_reads_each_kind(site, tmp_path, request):
    """It is kept to its files, and reads by these alone: no directory above them, and nothing that it may write."""
    talk = site.create_list("talk")
    path, secret = site.sources / "hr.db", site.sources / "password"
    write_secret(secret, "s3cret\n")
    held = sqlite3.connect(path)
    held.execute("PRAGMA journal_mode = WAL")
    held.execute("CREATE TABLE person (mail)")
    held.execute("INSERT INTO person VALUES ('sqlite@example.org')")
    held.commit()
    for file in site.sources.glob("hr.db*"):
        file.chmod(0o644)
    pages, slapd = Pages(), Slapd(tmp_path / "slapd", [("ldap@example.org", "L")])
    pages.body = b"url@example.org\n"
    server = postgresql.Server() if postgresql.programs() else None
    mysql = None if mariadb.missing() else request.getfixturevalue("mysql")
    try:
        slapd.start()
        site.start()
        site.cli("list", "source", "add", talk, "file", "file", give(site, "staff", ["file@example.org"]))
        site.cli("list", "source", "add", talk, "sqlite", "sql", path, "--query=SELECT mail FROM person")
        site.cli("list", "source", "add", talk, "url", "url", f"http://127.0.0.1:{pages.server_port}/", "--user=jo",
                 f"--password-file={secret}")
        site.cli("list", "source", "add", talk, "ldap", "ldap", slapd.url(), f"--user={READER}",
                 f"--password-file={secret}")
        wanted = {"file", "sqlite", "url", "ldap"}
        if server:
            server.demand_passwords()
            server.sql("CREATE ROLE reader LOGIN PASSWORD 's3cret'")
            site.cli("list", "source", "add", talk, "server", "sql",
                     f"postgresql://reader@127.0.0.1:{server.port}/postgres",
                     "--query=SELECT 'server@example.org'", f"--password-file={secret}")
            wanted.add("server")
        if mysql:
            word = site.sources / "mysql.password"
            write_secret(word, f"{mariadb.PASSWORD}\n")
            site.cli("list", "source", "add", talk, "mysql", "sql",
                     f"mysql://{mariadb.USER}@127.0.0.1:{mysql.port}/mailman", "--query=SELECT 'mysql@example.org'",
                     f"--password-file={word}")
            wanted.add("mysql")
        site.cli("task", "run", "sources")  # which comes by itself within a minute
        wait_until(lambda: {one.split("@")[0] for one in members(site, talk)} == wanted, 120,
                   lambda: f"{wanted}: {members(site, talk)} {site.cli('list', 'source', 'ls', '--json')}")
        assert "not kept to" not in site.run("status").stdout
    finally:
        held.close()
        slapd.stop()
        pages.shutdown()
        pages.server_close()
        if server:
            server.remove()


def test_a_refresh_that_is_killed_is_finished_by_the_next(site):
    everybody = people(30000)
    path = give(site, "all", everybody)
    for number in range(5):
        talk = site.create_list(f"talk{number}", members=["own@example.org", everybody[29999]])
        site.cli("list", "source", "add", talk, "all", "file", path)
        process = subprocess.Popen([prefix() / "bin" / "listrunner", "--config", site.config, "list", "source",
                                    "refresh", talk], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def begun(process=process, number=number):
            with site.database() as store:
                found = store.execute("SELECT count(*) FROM member m JOIN list l ON l.key = m.list "
                                      "WHERE l.list_name = ?", (f"talk{number}",)).fetchone()
            return process.poll() is not None or found[0] > 2
        wait_until(begun, 120, "the first page", step=0.01)
        process.kill()
        if process.wait() == -9:
            break
    half = len(members(site, talk))
    assert 2 < half < 30001, half
    assert f"30000 given, {30001 - half} joined, 0 left" in refresh(site, talk)
    assert sorted(members(site, talk)) == sorted(everybody + ["own@example.org"])
    give(site, "all", everybody[:29000])
    assert "0 joined, 999 left" in refresh(site, talk), "one of them had joined"
    many = log(site, talk, "source")
    assert any(row["before"] == "999 members" for row in many), many


def test_a_query_of_sqlite_gives_members_and_writes_nothing(site):
    talk = site.create_list("talk")
    path = site.sources / "hr.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE person (mail, name, active)")
        database.executemany("INSERT INTO person VALUES (?, ?, ?)", [
            ("anna@example.org", "Anna @text@ `x`", 1), ("ben@example.org", None, 1), ("gone@example.org", "G", 0),
            (None, "nobody", 1), (17, "number", 1)])
    database.close()
    path.chmod(0o644)
    before = path.read_bytes()
    site.cli("list", "source", "add", talk, "hr", "sql", path,
             "--query=SELECT mail, name FROM person WHERE active = 1 AND COALESCE(mail, '') <> '@text@';")
    assert "3 given" not in refresh(site, talk)
    assert members(site, talk) == ["anna@example.org", "ben@example.org"]
    row = json.loads(site.cli("member", "show", talk, "anna@example.org", "--json"))
    assert row["display_name"] == "Anna @text@ `x`"
    assert show(site, talk, "hr")["bad"] == 1 and path.read_bytes() == before
    for query in ("SELECT mail FROM nothing", "SELECT mial FROM person", "WITH x AS (SELECT 1) DELETE FROM person"):
        site.cli("list", "source", "set", talk, "hr", f"--query={query}")
        done = site.run("list", "source", "refresh", talk)
        assert done.returncode != 0 and "nothing was changed" in done.stderr, done
        assert members(site, talk) == ["anna@example.org", "ben@example.org"]
    assert path.read_bytes() == before


def test_a_query_without_an_end_is_a_fault(site):
    talk = site.create_list("talk")
    path = site.sources / "hr.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE person (mail)")
    database.close()
    path.chmod(0o644)
    site.cli("list", "source", "add", talk, "hr", "sql", path,
             "--query=WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) "
             "SELECT iif(x > 1, 'x', 'anna@example.org') FROM n")
    done = site.run("list", "source", "refresh", talk, timeout=300)
    assert done.returncode == 78 and "more than 5000000" in done.stderr, done
    assert not members(site, talk)


def test_a_server_of_postgresql_gives_members_and_its_password_is_seen_nowhere(site):
    talk = site.create_list("talk")
    server = postgresql.Server()
    try:
        server.demand_passwords()
        server.sql("CREATE TABLE person AS SELECT 'p' || n || '@example.org' AS mail, 'P ' || n AS name "
                   "FROM generate_series(1, 3000) n", "CREATE ROLE reader LOGIN PASSWORD 'sec%ret:@/'",
                   "GRANT ALL ON person TO reader")
        plain = f"postgresql://reader@127.0.0.1:{server.port}/postgres"
        secret = site.sources / "password"
        write_secret(secret, "sec%ret:@/\n")
        site.cli("list", "source", "add", talk, "hr", "sql", plain, "--query=SELECT mail, name FROM person",
                 f"--password-file={secret}")
        assert "3000 given, 3000 joined" in refresh(site, talk)
        site.cli("list", "source", "set", talk, "hr", "--query=WITH x AS (DELETE FROM person RETURNING mail) "
                                                      "SELECT mail FROM x")
        done = site.run("list", "source", "refresh", talk)
        assert done.returncode != 0 and "read" in done.stderr, done
        site.cli("list", "source", "set", talk, "hr", "--query=SELECT mail, 1 / (3000 - length(mail) * 200) FROM "
                                                      "person ORDER BY length(mail)")
        assert site.run("list", "source", "refresh", talk).returncode != 0, "an error behind thousands of rows"
        assert len(members(site, talk)) == 3000
        write_secret(secret, "wrong:@/\n")
        refused = site.run("list", "source", "refresh", talk)
        assert refused.returncode != 0 and "wrong:@/" not in refused.stderr
        secret.chmod(0o644)
        refused = site.run("list", "source", "refresh", talk)
        assert refused.returncode == 78 and str(secret) in refused.stderr
        everything = site.cli("list", "source", "ls", "--json") + site.cli("list", "log", "--json", talk)
        assert "sec%ret" not in everything + refused.stderr + site.cli("export")
    finally:
        server.remove()


def test_a_server_of_mariadb_gives_members_and_its_password_is_seen_nowhere(site, mysql):
    """Two lists have two sources there; what is cut, refused or too slow, or wants to write, changes nothing."""
    talk, news = site.create_list("talk"), site.create_list("news")
    everybody = people(3000)
    with contextlib.closing(mysql.emptied("core")) as there:
        cursor = there.cursor()
        cursor.execute("CREATE TABLE person (mail VARCHAR(99), name VARCHAR(999), active INT)")
        cursor.executemany("INSERT INTO person VALUES (%s, %s, 1)",
                           [(mail, f"Jürgen {mail[:6]}") for mail in everybody])
        cursor.execute("INSERT INTO person VALUES ('long@example.org', REPEAT('long', 200), 1), (NULL, 'nobody', 1), "
                       "('no address', 'N', 1), ('gone@example.org', 'G', 0)")
        cursor.execute("CREATE FUNCTION forget() RETURNS INT BEGIN DELETE FROM person; RETURN 1; END")
        there.commit()
    with contextlib.closing(mysql.connect(user="root", password="", unix_socket=str(mysql.socket))) as root:
        root.cursor().execute(f"CREATE OR REPLACE USER slow@'127.0.0.1' IDENTIFIED BY '{mariadb.PASSWORD}' "
                              "WITH MAX_STATEMENT_TIME 1")
    secret = site.sources / "password"
    write_secret(secret, f"{mariadb.PASSWORD}\n")
    plain = f"mysql://{mariadb.USER}@127.0.0.1:{mysql.port}/core"
    authority = write(site, "authority.pem", mysql.authority.file.read_text())
    encrypted = f"mysql+pymysql://{mariadb.SECRET}@127.0.0.1:{mysql.port}/core?ssl_ca={authority}"
    query = "--query=SELECT mail, name FROM person WHERE active = 1 AND name || '' <> '$1 ? @text@'"
    site.cli("list", "source", "add", talk, "crm", "sql", plain, query, f"--password-file={secret}")
    site.cli("list", "source", "add", news, "crm", "sql", encrypted, "--query=SELECT mail FROM person WHERE active = 0",
             f"--password-file={secret}")
    assert "3001 given, 3001 joined, 0 left, 0 kept out, 1 bad" in refresh(site, talk)
    assert "1 given, 1 joined" in refresh(site, news)
    assert members(site, news) == ["gone@example.org"]
    for address, name in ((everybody[7], "Jürgen p00007"), ("long@example.org", "long" * 200)):
        assert json.loads(site.cli("member", "show", talk, address, "--json"))["display_name"] == name

    def refused(words, code, **what):
        for option, value in what.items():
            site.cli("list", "source", "set", talk, "crm", f"--{option}={value}")
        told = refresh(site, talk, code=code)
        assert words in told and mariadb.PASSWORD not in told, told
        assert len(members(site, talk)) == 3001

    refused("READ ONLY transaction", 75, query="SELECT 'x@example.org' FROM DUAL WHERE forget() = 1")
    refused("stands for a value", 78, query="SELECT mail FROM person WHERE mail = ?")
    refused("nothing", 78, query="SELECT mail FROM nothing")
    refused("syntax", 78, query="SELECT mail FORM person")
    refused("addresses that it gave", 1, query="SELECT mail, name FROM person WHERE mail < 'p01000'")
    refused("max_statement_time", 75, place=f"mysql://slow@127.0.0.1:{mysql.port}/information_schema",
            query="SELECT 'x@example.org', SLEEP(600) FROM DUAL")
    site.cli("list", "source", "set", talk, "crm", query)
    with contextlib.closing(mariadb.Cut(mysql.port, 50000)) as way:
        refused("the connection was lost", 75, place=plain.replace(str(mysql.port), str(way.port)))
    write_secret(secret, "wr0ng:@/\n")
    refused("Access denied", 78, place=plain)
    assert "wr0ng" not in refresh(site, talk, code=78)
    write_secret(secret, f"{mariadb.PASSWORD}\n")
    with contextlib.closing(mysql.connect("core")) as there:
        there.cursor().execute("DELETE FROM person WHERE mail < 'p00010' AND mail > 'p'")
        there.commit()
    assert "2991 given, 0 joined, 10 left" in refresh(site, talk), "nothing was deleted but these"
    everything = site.cli("list", "source", "ls", "--json") + site.cli("list", "log", "--json", talk)
    assert mariadb.PASSWORD not in everything + site.cli("export") and "ssl_ca" not in everything


def test_a_directory_gives_members_in_pages(site, tmp_path, until_end):
    """The server gives 500 entries at a time and no more; what is cut, or refused, changes nothing."""
    talk = site.create_list("talk")
    slapd = until_end(Slapd(tmp_path / "slapd", [(address, f"P {address[1:6]}") for address in people(2300)]))
    slapd.start()
    secret = site.sources / "password"
    write_secret(secret, "s3cret\n")
    site.cli("list", "source", "add", talk, "dir", "ldap", slapd.url(), f"--user={READER}",
             f"--password-file={secret}")
    assert "2300 given, 2300 joined, 0 left, 0 kept out, 0 bad" in refresh(site, talk)
    assert json.loads(site.cli("member", "show", talk, "p00007@example.org", "--json"))["display_name"] == "P 00007"
    slapd.modify(f"dn: cn=P 00007,ou=people,{BASE}\nchangetype: delete\n\n"
                 "dn: cn=P 00008,ou=people,{BASE}\nchangetype: modify\nreplace: mail\n"
                 "mail: new@example.org\n".replace("{BASE}", BASE))
    assert "2299 given, 1 joined, 2 left" in refresh(site, talk)
    followed = members(site, talk)

    def refused(words):
        done = site.run("list", "source", "refresh", talk)
        assert done.returncode != 0 and words in done.stderr and "s3cret" not in done.stderr, done
        assert members(site, talk) == followed

    site.cli("list", "source", "set", talk, "dir", f"--place={slapd.url('?mail?sub?(cn=')}")
    refused("")
    site.cli("list", "source", "set", talk, "dir", f"--place={slapd.url().replace('people', 'nobody')}")
    refused("No such object")
    site.cli("list", "source", "set", talk, "dir", f"--place={slapd.url()}")
    write_secret(secret, "wrong\n")
    refused("cannot sign in: Invalid credentials")
    write_secret(secret, "s3cret\n")
    slapd.stop()
    refused("cannot connect: Can't contact LDAP server")
    slapd.config.write_text(slapd.config.read_text().replace("size.prtotal=unlimited", "size.prtotal=1000"))
    slapd.start()
    refused("limit")
    slapd.stop()
    refused("contact")


def test_a_directory_is_told_no_password_that_nobody_vouches_for(site, monkeypatch):
    """Whatever the library of LDAP was set to let pass."""
    talk = site.create_list("talk")
    authority = Authority(site.directory / "ca")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.certify("127.0.0.1"))
    secret = site.sources / "password"
    write_secret(secret, "s3cret\n")
    site.cli("list", "source", "add", talk, "dir", "ldap", f"ldaps://127.0.0.1:1/{BASE}", f"--user={READER}",
             f"--password-file={secret}")

    def heard():
        """Return what a refresh sends to a server that hangs up then; a connection that is tried again waits for
        nothing."""
        octets = []
        with socket.create_server(("127.0.0.1", 0)) as server:
            place = f"ldaps://127.0.0.1:{server.getsockname()[1]}/{BASE}"
            site.cli("list", "source", "set", talk, "dir", f"--place={place}")

            def answer():
                connection, _ = server.accept()
                with connection:
                    try:
                        with context.wrap_socket(connection, server_side=True) as wrapped:
                            octets.append(wrapped.recv(1000))
                    except OSError:
                        pass

            thread = threading.Thread(target=answer)
            thread.start()
            assert site.run("list", "source", "refresh", talk, timeout=120).returncode != 0
            thread.join()
        return b"".join(octets)

    monkeypatch.setenv("LDAPTLS_REQCERT", "never")
    assert b"s3cret" not in heard()
    monkeypatch.setenv("LDAPTLS_CACERT", str(authority.file))
    assert b"s3cret" in heard(), "but a server that it knows is"


def test_a_directory_begins_tls_and_names_where_it_refers_to(site, tmp_path, monkeypatch):
    """StartTLS is begun before the password is told; a part that is elsewhere is named, and nothing is changed."""
    talk = site.create_list("talk")
    authority = Authority(site.directory / "ca")
    slapd = Slapd(tmp_path / "slapd", [(address, f"P {address[1:6]}") for address in people(3)],
                  certificate=authority.certify("127.0.0.1"))
    try:
        slapd.config.write_text(slapd.config.read_text().replace("access to attrs=", "security simple_bind=128\n"
                                                                 "access to attrs="))
        slapd.start(tls=authority.file)
        secret = site.sources / "password"
        write_secret(secret, "s3cret\n")
        site.cli("list", "source", "add", talk, "dir", "ldap", slapd.url(), f"--user={READER}",
                 f"--password-file={secret}")
        assert "onfidentiality" in refresh(site, talk, code=78), "the server wants no password in plain text"
        encrypted = f"--place={slapd.url('?mail,cn?sub?(objectClass=inetOrgPerson)?StartTLS')}"
        site.cli("list", "source", "set", talk, "dir", encrypted)
        assert "TLS" in refresh(site, talk, code=75), "nobody vouches for the server"
        monkeypatch.setenv("LDAPTLS_CACERT", str(authority.file))
        assert "3 given, 3 joined" in refresh(site, talk)
        slapd.modify(f"dn: ou=far,ou=people,{BASE}\nchangetype: add\nobjectClass: referral\n"
                     f"objectClass: extensibleObject\nou: far\nref: ldap://far.example.com/ou=far,{BASE}\n")
        refused = refresh(site, talk, code=78)
        assert "refers to ldap://far.example.com/" in refused and len(members(site, talk)) == 3
        site.cli("list", "source", "set", talk, "dir", encrypted.replace("ou=people", "ou=far,ou=people"))
        assert "refers to ldap://far.example.com/" in refresh(site, talk, code=78)
        site.cli("list", "source", "set", talk, "dir", encrypted.replace("?sub?", "?one?"))
    finally:
        slapd.stop()
    wrong = site.run("list", "source", "set", talk, "dir", f"--place=ldaps://127.0.0.1/{BASE}????StartTLS")
    assert wrong.returncode == 64 and "leave StartTLS out" in wrong.stderr
    wrong = site.run("list", "source", "set", talk, "dir", f"--place=ldap://127.0.0.1/{BASE}????bindname=x")
    assert wrong.returncode == 64 and "bindname" in wrong.stderr


def test_a_password_that_would_go_in_plain_text_is_warned_of(site):
    talk = site.create_list("talk")
    secret = site.sources / "password"
    write_secret(secret, "s3cret\n")
    words = ("--user=jo", f"--password-file={secret}")
    plain = ("ldap://ldap.example.com/dc=x", "http://www.example.com/x")
    fine = ("ldaps://ldap.example.com/dc=x", "ldap://ldap.example.com/dc=x????StartTLS", "https://www.example.com/x",
            "ldap://127.0.0.1/dc=x", "http://localhost:8080/x")
    for number, place in enumerate((*plain, *fine)):
        kind = "ldap" if place.startswith("ldap") else "url"
        done = site.run("list", "source", "add", talk, f"s{number}", kind, place, *words)
        assert done.returncode == 0 and ("plain text" in done.stderr) == (place in plain), (place, done)
    site.cli("list", "source", "add", talk, "open", "url", "http://www.example.com/x")
    found = [json.loads(row) for row in site.run("doctor", "--json", "--no-dns", "--no-probe").stdout.splitlines()]
    about = [row for row in found if row["subject"] == "sources"]
    assert len(about) == 2 and all(row["state"] == "warning" for row in about), found


class Pages(http.server.ThreadingHTTPServer):
    """Answers by what is set: the body, the length that it says, and the status."""
    body, length, status, asked = b"", None, 200, ()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            server = self.server
            server.asked = [*server.asked, (self.path, self.headers.get("Authorization"))]
            self.send_response(server.status)
            if server.length is not False:
                self.send_header("Content-Length", str(server.length or len(server.body)))
            self.end_headers()
            self.wfile.write(server.body)

        def log_message(self, *words):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def test_a_web_server_gives_members_and_an_answer_that_is_cut_changes_nothing(site):
    talk = site.create_list("talk")
    pages = Pages()
    try:
        secret = site.sources / "password"
        write_secret(secret, "s3cret\n")
        url = f"http://127.0.0.1:{pages.server_port}/list?key=hidden"
        site.cli("list", "source", "add", talk, "web", "url", url, "--user=jo", f"--password-file={secret}")
        everybody = people(400)
        whole = "".join(f"Someone <{address}>\n" for address in everybody).encode()
        pages.body = whole
        assert "400 given, 400 joined" in refresh(site, talk)
        assert pages.asked[0] == ("/list?key=hidden", "Basic am86czNjcmV0")
        for body, length, status, code in ((whole[:9000], len(whole), 200, 75), (whole[:9001], False, 200, 75),
                                           (whole, None, 404, 78), (whole, None, 503, 75), (b"", None, 302, 78),
                                           (b"<p>Come in\n", None, 200, 78), (b"", None, 200, 1)):
            pages.body, pages.length, pages.status = body, length, status
            refused = refresh(site, talk, code=code)
            assert "hidden" not in refused and "s3cret" not in refused
            assert members(site, talk) == everybody
        assert "hidden" not in site.cli("list", "source", "ls") + site.cli("list", "log", talk)
    finally:
        pages.shutdown()
        pages.server_close()
    refused = refresh(site, talk, code=75)
    assert "hidden" not in refused and members(site, talk) == everybody

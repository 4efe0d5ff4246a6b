#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""member import: forms of files, bad lines, sizes."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness import MISSING, NOT_SO, OK, USAGE, main  # noqa: E402

LIST = "test@example.com"


def take(site, data, code=OK, summary=None, says=None, **names):
    """Imports data from a file into a fresh list; the addresses there are afterwards."""
    site.run("list", "create", LIST)
    path = site.path / "people"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    done = site.run("member", "import", LIST, path, code=code, says=says)
    if summary:
        added, duplicate, bad = summary
        lines = "1 bad line" if bad == 1 else f"{bad} bad lines"
        told = f"{added} added to {LIST} as member, {duplicate} there already, {lines}\n"
        assert told in done.out, done.out
    rows = site.run("member", "ls", LIST, "--json").rows()
    return {row["address"]: row for row in rows}, done


def test_addresses_and_names(site):
    got, _ = take(site, "# people\nanne@x.org\n\nBart B. <bart@x.org>\r\n\"Unger, Cris\" <cris@x.org>\n", OK, (3, 0, 0))
    assert got["bart@x.org"]["display_name"] == "Bart B." and got["cris@x.org"]["display_name"] == "Unger, Cris"


def test_csv_with_mark_quotes_and_crlf(site):
    data = '\ufeffaddress,display_name,phone\r\nanne@x.org,"Anne ""A"" Ü, Dr.",1\r\n'
    data += 'bart@x.org\r\n"cris@x.org", Cris ,2\r\n'
    got, _ = take(site, data, OK, (3, 0, 0))
    assert got["anne@x.org"]["display_name"] == 'Anne "A" Ü, Dr.' and got["cris@x.org"]["display_name"] == "Cris"


def test_csv_with_semicolons_and_delivery(site):
    got, _ = take(site, "Name;E-Mail;delivery_mode;delivery_status\nAnne;anne@x.org;mime_digests;by_user\n")
    assert got["anne@x.org"]["display_name"] == "Anne" and got["anne@x.org"]["delivery_mode"] == "mime_digests"
    assert got["anne@x.org"]["delivery_status"] == "by_user"


def test_files_of_other_services(site):
    """A group's members with a title above, an audience's with the name in two columns, and contacts, which have the
    name whole and in parts."""
    got, _ = take(site, "Members for group talk@groups.example.org\nEmail address,Nickname,Group status,Email status\n"
                  "anne@x.org,Anne Frost,member,email\nmailto:bart@x.org,,owner,digest\n", OK, (2, 0, 0))
    assert got["bart@x.org"]["delivery_mode"] == "mime_digests"
    assert {one: row["display_name"] for one, row in got.items()} == {"anne@x.org": "Anne Frost", "bart@x.org": ""}
    for header, row in (("Email Address,First Name,Last Name", "cris@x.org,Cris,Unger"),
                        ("Name,Given Name,Family Name,Nickname,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Value",
                         "Cris Unger,Cris,Unger,C.,Work,cris@x.org,other@x.org"),
                        ("First Name,Last Name,Nickname,E-mail 1 - Value", "Cris,Unger,C.,cris@x.org"),
                        ("email,name", "cris@x.org,=?iso-8859-1?q?Cris_Unger?=")):
        site.run("list", "remove", LIST, "--yes")
        got, _ = take(site, f"{header}\n{row}\n", OK, (1, 0, 0))
        assert {one: row["display_name"] for one, row in got.items()} == {"cris@x.org": "Cris Unger"}, header
    site.run("list", "remove", LIST, "--yes")
    got, _ = take(site, "=?utf-8?q?D=C3=B3ra?= <MAILTO:dora@x.org>\n", OK, (1, 0, 0))
    assert got["dora@x.org"]["display_name"] == "Dóra"


GROUP = ("Members for group talk@groups.example.org\n"
         "Email address,Nickname,Group status,Email status,Email preference,Posting permissions,Join year\n"
         "anne@x.org,Anne,Owner,,All email,Allowed,2019\nbart@x.org,,Manager,Bouncing,All email,Allowed,2019\n"
         "cris@x.org,,Member,,No email,Allowed,2019\ndora@x.org,,Member,,Digest,Allowed,2019\n"
         "emma@x.org,,Member,,Abridged,Allowed,2019\nfred@x.org,,Banned,,All email,Not allowed,2019\n"
         "gina@x.org,,Invited,,,,\n")


def test_a_group_says_how_mail_comes_and_who_runs_it(site):
    got, done = take(site, GROUP, OK, (5, 0, 0), says=None)
    assert {one: (row["delivery_mode"], row["delivery_status"]) for one, row in got.items()} == {
        "anne@x.org": ("regular", "enabled"), "bart@x.org": ("regular", "by_bounces"),
        "cris@x.org": ("regular", "by_user"), "dora@x.org": ("mime_digests", "enabled"),
        "emma@x.org": ("summary_digests", "enabled")}
    assert "2 passed over, who have another Group status" in done.out
    for role, who in (("owner", "anne@x.org"), ("moderator", "bart@x.org")):
        site.run("member", "import", LIST, "--role", role, data=GROUP.encode())
        assert site.run("member", "ls", LIST, "--role", role, "--names").out.split() == [who]
    # A person without a status, also because the line is short, becomes no more than a member.
    unsaid = GROUP + "hans@x.org,Hans,,,,,\nines@x.org,Ines\n"
    for role, added in (("owner", 0), ("moderator", 0), ("member", 2)):
        assert f"{added} added" in site.run("member", "import", LIST, "--role", role, data=unsaid.encode()).out
    site.run("list", "remove", LIST, "--yes")
    take(site, GROUP.replace("Abridged", "Sometimes"), NOT_SO, (4, 0, 1), says="'Sometimes' is not known")
    site.run("list", "remove", LIST, "--yes")
    got, _ = take(site, "Email,Email status\nanne@x.org,Subscribed\n", OK, (1, 0, 0))  # of another service


def test_quoted_fields_over_several_lines(site):
    data = 'address,name,notes\nanne@x.org,"Anne\r\nFrost","a ""b""\n\n,c\n"\nbart@x.org,B\n'
    got, _ = take(site, data, OK, (2, 0, 0))
    assert got["anne@x.org"]["display_name"] == "Anne Frost"
    site.run("list", "remove", LIST, "--yes")
    # A quote that nobody closes spoils its own line, also where a later line has quotes.
    got, done = take(site, 'address,name\nanne@x.org,"Anne\nbart@x.org,"Bart B."\ncris@x.org,C\n', NOT_SO, (2, 0, 1))
    assert set(got) == {"bart@x.org", "cris@x.org"} and "people:2: a quoted field is not closed" in done.err


def test_a_wrong_word_is_told_with_those_that_are_right(site):
    take(site, "address,delivery_mode\nanne@x.org,digest\n", NOT_SO, (0, 0, 1),
         says="there is no delivery_mode 'digest'; allowed: regular, plaintext_digests, mime_digests, summary_digests")


def test_bad_lines_are_told_with_number_and_reason(site):
    data = b"address,display_name\nanne@x.org,Anne\nnonsense,N\nbart@x.org,\"B\ncris@x.org,C,surplus\n"
    data += b"\xff\xfe@x.org,X\n"
    data += b"dora@x.org,D\n,nobody\nnul\0@x.org,N\nemma@x.org," + b"e" * 9000 + b"\nfred@x.org,F"
    got, done = take(site, data, NOT_SO, (3, 0, 7))
    assert set(got) == {"anne@x.org", "dora@x.org", "fred@x.org"}
    lines = done.err.splitlines()
    path = site.path / "people"
    assert [line.split(": ")[0] for line in lines] == [f"{path}:{n}" for n in (3, 4, 5, 6, 8, 9, 10)], done.err
    reasons = ("nonsense", "not closed", "3 fields where the header has 2", "not UTF-8", "no address", "NUL",
               "longer than")
    for line, reason in zip(lines, reasons, strict=True):
        assert reason in line, line


def test_csv_without_a_header_says_so(site):
    got, done = take(site, "anne@x.org,Anne\n", NOT_SO)
    assert got == {} and "first line that names the columns" in done.err


def test_two_address_columns_are_refused(site):
    site.run("list", "create", LIST)
    site.run("member", "import", LIST, data=b"address,email\na@x.org,b@x.org\n", code=USAGE, says="two columns")


def test_duplicates_are_counted(site):
    got, _ = take(site, "anne@x.org\nANNE@X.org\nbart@x.org\nanne@x.org\n", OK, (2, 2, 0))
    assert len(got) == 2


def test_standard_input_and_role(site):
    site.run("list", "create", LIST)
    out = site.run("member", "import", LIST, "--role", "nonmember", data=b"a@x.org\n").out
    assert "1 added to test@example.com as nonmember" in out
    site.run("member", "import", LIST, "-", data=b"b@x.org")
    done = site.run("member", "import", LIST, data=b"bad\n", code=NOT_SO)
    assert done.err.startswith("standard input:1: "), done.err


def test_empty_file(site):
    got, _ = take(site, "", OK, (0, 0, 0))
    assert got == {}


def test_what_cannot_be_read(site):
    site.run("list", "create", LIST)
    site.run("member", "import", LIST, site.path / "none", code=MISSING, says=str(site.path / "none"))
    site.run("member", "import", LIST, site.path, code=USAGE, says=str(site.path))
    site.run("member", "import", "none@example.com", data=b"a@x.org\n", code=MISSING, says="none@example.com")
    site.run("member", "import", LIST, "--role=x", data=b"", code=USAGE, says="'x'")


def test_ten_thousand_lines_with_bad_ones(site):
    lines = ["address,display_name"]
    for i in range(10000):
        lines.append(f"bad line {i}" if i % 1000 == 7 else f"m{i % 9000}@d{i % 50}.example.org,Member {i}")
    got, done = take(site, "\n".join(lines) + "\n", NOT_SO)
    expected = {line.split(",")[0] for line in lines[1:] if "@" in line}
    assert set(got) == expected
    assert len(done.err.splitlines()) == 10 and f"{site.path / 'people'}:9: " in done.err
    assert f"{len(expected)} added" in done.out and f"{9990 - len(expected)} there already, 10 bad lines" in done.out


def test_a_bar_only_on_a_terminal(site):
    import pty
    import subprocess

    from harness import TOOL, read_terminal

    site.run("list", "create", LIST)
    path = site.path / "people"
    path.write_text("".join(f"p{i}@x.org\n" for i in range(5000)))
    leader, follower = pty.openpty()
    process = subprocess.Popen([TOOL, "-c", site.config, "member", "import", LIST, path], stdout=subprocess.PIPE,
                               stderr=follower)
    seen = read_terminal(leader, follower)
    out = process.communicate()[0]
    assert process.returncode == OK and b"5000 added" in out
    assert b"[" in seen and b"%" in seen and b" members" in seen, seen
    done = site.run("member", "import", LIST, path)
    assert "5000 there already" in done.out


def test_log_of_the_list(site):
    """Many who come at once are one row, one who comes or goes is another; the newest is first."""
    site.run("list", "create", LIST)
    site.run("member", "import", LIST, data=b"a@x.org\nb@x.org\nbad address\n", code=NOT_SO)
    site.run("member", "import", LIST, data=b"a@x.org\nb@x.org\n")  # nobody is new
    site.run("member", "add", LIST, "C@x.org")
    site.run("member", "set", LIST, "a@x.org", "--delivery-mode=mime_digests", "--moderation=hold")
    site.run("member", "remove", LIST, "b@x.org")
    rows = site.run("list", "log", LIST, "--json").rows()
    found = [(row["kind"], row["name"], row["before"], row["after"]) for row in rows]
    assert found == [
        ("member", "b@x.org", "member", None),
        ("options", "a@x.org", "moderation default", "moderation hold"),
        ("options", "a@x.org", "digest default", "digest mime"),
        ("member", "c@x.org", None, "member"),
        ("import", "member", None, "2")], found
    assert {row["door"] for row in rows} == {"shell"} and all(row["by"] and row["date"] for row in rows)
    assert [row["name"] for row in site.run("list", "log", LIST, "--kind=member", "--json").rows()] == [
        "b@x.org", "c@x.org"]
    assert len(site.run("list", "log", LIST, "--limit=2", "--json").rows()) == 2
    assert "digest default" in site.run("list", "log", LIST, "--limit=0").out
    site.run("list", "log", LIST, "--limit=-1", code=USAGE, says="--limit")
    site.run("list", "log", "no@example.com", code=MISSING)
    site.run("member", "import", LIST, data=b"".join(b"m%d@y.org\n" % number for number in range(10001)))
    site.run("list", "copy", LIST, "copy@example.com", "--members")
    counts = [int(row["after"]) for row in site.run("list", "log", LIST, "--kind=import", "--json").rows()]
    assert sum(counts) == 10003 and len(counts) == 3
    (row,) = site.run("list", "log", "copy@example.com", "--kind=import", "--json").rows()
    assert row["after"] == "10003"


if __name__ == "__main__":
    main(globals())

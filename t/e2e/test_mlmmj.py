# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Lists of mlmmj move in: from directories that are made here as its documents say, and from those of a real mlmmj
where it is installed."""
import json
import re
import shlex
import shutil
import subprocess

import pytest

from support.disk import leased
from support.instance import HOST

SPOOL = ("archive", "bounce", "control", "digesters.d", "moderation", "nomailsubs.d", "queue/discarded", "requeue",
         "subconf", "subscribers.d", "text", "unsubconf")
POST = (b"Delivered-To: talk@lists.example.com\nFrom: Jo <jo@example.net>\nTo: talk@lists.example.com\n"
        b"Subject: =?utf-8?q?caf=C3=A9?=\nMessage-ID: <held-1@example.net>\n\ncaf\xe9\n")


def make_list(spool, name, control=(), **members):
    """control: {file of control/: its text}; members: {folder: addresses}."""
    directory = spool / name
    for folder in SPOOL:
        (directory / folder).mkdir(parents=True)
    for file, text in {"listaddress": f"{name}@{HOST}\n", "owner": "olga@example.com\n", **dict(control)}.items():
        (directory / "control" / file).write_bytes(text.encode() if isinstance(text, str) else text)
    for folder, addresses in members.items():
        for address in addresses:
            with open(directory / f"{folder}.d" / address[0].lower(), "a") as file:
                file.write(f"{address}\n")
    (directory / "index").write_text("41\n")
    return directory


def bring(instance, *words, code=0):
    done = instance.run("import", "mlmmj", *words, timeout=120)
    assert done.returncode == code, f"{done.returncode}: {done.stderr}{done.stdout}"
    return done.stdout


def settings(instance, name):
    return json.loads(instance.cli("list", "show", f"{name}@{HOST}", "--json"))


def test_lists_of_mlmmj(empty, tmp_path):
    talk = make_list(
        tmp_path, "talk", {
            "listaddress": f"Talk@{HOST}\ntalk@old.example.com\n", "owner": "olga@example.com\n\nolaf@example.com\n",
            "moderators": "mod@example.com\nanne@example.com\n", "moderated": "", "subonlypost": "",
            "modnonsubposts": "", "submod": "sub@example.com\n",
            "prefix": "[talk]\nsecond line\n", "footer": "-- \n$5 a month\n", "tocc": "",
            "maxmailsize": "100000\n", "modreqlife": "86401\n", "notifysub": "", "notmetoo": "", "addtohdr": "",
            "customheaders": f"Reply-To: talk@{HOST}\nX-Loop: talk\n", "delheaders": "Received:\nReply-To:\n",
            "access": "reject ^X-Spam: yes\nallow\n", "relayhost": "10.0.0.1\n", "from_tomorrow": b"\xff\n"},
        subscribers=("anne@example.com", "Bob@Example.com", "no address"), digesters=("dora@example.org",),
        nomailsubs=("away@example.org",))
    (talk / "moderation" / "3a6ceda36cc88c16").write_bytes(POST)
    (talk / "moderation" / "subscribe463ffbf347d867c3").write_text("joiner@example.org\nSUB_DIGEST\n")
    (talk / "subconf" / "031b43034cae8710-asks=example.org").write_text("asks@example.org\n")
    (talk / "archive" / "1").write_bytes(POST)
    news = make_list(tmp_path, "news", {"modonlypost": "", "moderators": "mod@example.com\nanne@example.com\n",
                                        "closedlist": "", "noarchive": "", "nosubconfirm": "", "nodigestsub": "",
                                        "customheaders": "Reply-To: office@example.org\n"},
                     subscribers=("anne@example.com", "bob@example.com"))
    plain = make_list(tmp_path, "plain")
    nothing, broken = tmp_path / "nothing", make_list(tmp_path, "broken", {"listaddress": "no address\n"})
    nothing.mkdir()
    words = (talk, nothing, news, broken, plain)
    expected = bring(empty, "--dry-run", *words, code=1)
    assert not empty.cli("list", "ls", "--names").strip(), "a dry run writes nothing"
    told = bring(empty, *words, code=1)
    assert told.replace("brought in", "would come") == expected
    mark = "it is no list of mlmmj: the directory of one has the file control/listaddress"
    for line in (f"left out: {nothing}: {mark}\n",
                 f"left out: {broken}: ", f"left out: talk.{HOST}: member no address: ",
                 f"no equal here: talk.{HOST}: customheaders: X-Loop: talk",
                 f"no equal here: talk.{HOST}: delheaders: Received:",
                 f"no equal here: talk.{HOST}: access: reject ^X-Spam: yes",
                 f"no equal here: talk.{HOST}: relayhost: 10.0.0.1",
                 f"no equal here: talk.{HOST}: from_tomorrow: ",
                 f"no equal here: talk.{HOST}: subconf: 1 letters", f"no equal here: talk.{HOST}: archive: 1 posts",
                 f"changed: news.{HOST}: closedlist: "):
        assert "\n" + line in "\n" + told, (line, told)
    for name, wanted in {
            "talk": {"default_member_action": "hold", "default_nonmember_action": "hold", "subject_prefix": "[talk] ",
                     "subscription_policy": "confirm_then_moderate", "unsubscription_policy": "confirm",
                     "require_explicit_destination": False, "max_message_size": 98, "max_days_to_hold": 2,
                     "admin_notify_mchanges": True, "respond_to_post_requests": False, "personalize": "full",
                     "reply_goes_to_list": "point_to_list", "first_strip_reply_to": True, "archive_policy": "private",
                     "msg_footer": "-- \n$$5 a month\n", "acceptable_aliases": ["talk@old.example.com"],
                     "digests_enabled": True},
            "news": {"default_member_action": "reject", "default_nonmember_action": "reject",
                     "accept_these_nonmembers": ["mod@example.com", "anne@example.com"],
                     "subscription_policy": "moderate", "unsubscription_policy": "open",
                     "archive_policy": "never", "digests_enabled": False,
                     "reply_goes_to_list": "explicit_header", "reply_to_address": "office@example.org"},
            "plain": {"default_member_action": "defer", "default_nonmember_action": "accept", "subject_prefix": "",
                      "subscription_policy": "confirm", "require_explicit_destination": True, "max_message_size": 0,
                      "max_days_to_hold": 7, "reply_goes_to_list": "no_munging", "msg_footer": ""}}.items():
        here = settings(empty, name)
        for key, value in wanted.items():
            assert here[key] == value, (name, key, here[key])
    members = {row["address"].lower(): row for row in empty.rows("member", "ls", f"talk@{HOST}")}
    assert list(members) == ["anne@example.com", "bob@example.com", "away@example.org", "dora@example.org"]
    assert members["dora@example.org"]["delivery_mode"] == "mime_digests"
    assert members["away@example.org"]["delivery_status"] == "by_user"
    for role, wanted in (("owner", ["olaf@example.com", "olga@example.com"]),
                         ("moderator", ["anne@example.com", "mod@example.com", "sub@example.com"])):
        assert empty.cli("member", "ls", "--names", f"--role={role}", f"talk@{HOST}").split() == wanted
    with empty.database() as database:
        actions = dict(database.execute("SELECT lower(m.email), m.moderation_action FROM member m "
                                        "JOIN list l ON l.key = m.list WHERE l.list_id = ? AND m.role = 0",
                                        (f"news.{HOST}",)).fetchall())
        own = database.execute("SELECT count(*) FROM member WHERE receive_own_postings = 0").fetchone()[0]
        message, numbers = database.execute(
            "SELECT h.message, l.post_id FROM held h JOIN list l ON l.key = h.list").fetchone()
    assert actions == {"anne@example.com": 3, "bob@example.com": None} and own == 4
    assert bytes(message) == POST and numbers == 42
    held, = empty.rows("held", "ls")
    assert (held["sender"], held["subject"]) == ("jo@example.net", "café")
    request, = empty.rows("pending", "ls")
    assert (request["address"], request["kind"], request["waits_for"]) == ("joiner@example.org", "join", "moderator")
    # Its archive comes by the command that was told.
    command = shlex.split(re.search(f"no equal here: talk.{HOST}: archive: 1 posts: (.*)", told)[1])
    assert command == ["listrunner", "archive", "import", f"talk@{HOST}", str(talk / "archive")]
    empty.set({"archiver.maildir": {"index": "yes"}})
    assert "1 posts added" in empty.cli(*command[1:])
    # Again: nothing comes twice, and who left since stays away.
    empty.cli("member", "remove", f"talk@{HOST}", "bob@example.com")
    bring(empty, *words, code=1)
    assert len(empty.rows("held", "ls")) == len(empty.rows("pending", "ls")) == 1
    assert "bob@example.com" not in empty.cli("member", "ls", "--names", f"talk@{HOST}")


def test_the_directory_above_the_lists(empty, tmp_path):
    """The report says which directories are lists, of some hundred the first, and what a list has."""
    spool, file = tmp_path / "spool", tmp_path / "file"
    file.touch()
    for number in range(7):
        make_list(spool, f"list{number}")
    (spool / "nothing").mkdir()
    named = " ".join(str(spool / f"list{number}") for number in range(5))
    for words in (("--dry-run",), ()):
        told = bring(empty, *words, spool, spool / "list6", file, f"{file}.gone", code=1)
        assert f"left out: {spool}: it is no list of mlmmj: the directory of one has the file control/listaddress; " \
            f"lists are in it, so name these: {named}, and 2 more\n" in told
        assert f"left out: {file}: it is no directory\n" in told and f"{file}.gone: there is no such" in told
        assert "3 left out" in told
    assert empty.cli("list", "ls", "--names").split() == [f"list6@{HOST}"]


def test_a_list_that_cannot_be_read_stops_no_other(empty, tmp_path):
    """It is named, the other comes, and each log has its own members; run again, it comes, too."""
    talk = make_list(tmp_path, "talk", subscribers=("anne@example.com", "bob@example.com"))
    news = make_list(tmp_path, "news", subscribers=("carl@example.org",))
    file = talk / "subscribers.d" / "b"

    def members():
        with empty.database() as database:
            return database.execute("SELECT count(*) FROM member").fetchone()[0]

    with leased(file):
        done = empty.run("import", "mlmmj", talk, news)
    assert done.returncode == 75 and f"{talk} is not whole: {file}: " in done.stderr and str(news) not in done.stderr
    assert "run it again to go on" in done.stdout
    assert re.search(rf"^members +{members()} +0$", done.stdout, re.MULTILINE), done.stdout
    came = {row["name"]: row["after"] for row in empty.rows("list", "log", f"news@{HOST}") if row["kind"] == "import"}
    assert came == {"owner": "1", "member": "1"}
    with leased(file):
        done = empty.run("import", "mlmmj", news, talk)
    assert done.returncode == 75 and re.search("^lists +0 +1$", done.stdout, re.MULTILINE), "the other is there, " \
        f"whatever comes behind it: {done.stdout}"
    bring(empty, talk, news)
    assert members() == 5 and empty.cli("member", "ls", "--names", f"talk@{HOST}").split() == [
        "anne@example.com", "bob@example.com"]


def test_a_list_of_a_real_mlmmj(empty, tmp_path):
    """Its own programs make the list, its members, a post that waits and one that is archived."""
    if not shutil.which("mlmmj-sub"):
        pytest.skip("mlmmj is missing")
    spool = tmp_path / "spool"
    spool.mkdir()
    talk = spool / "talk"

    def mlmmj(program, *words, **more):
        subprocess.run([shutil.which(f"mlmmj-{program}"), *map(str, words)], check=True, timeout=60, cwd="/",
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)

    def process(name, octets):
        (talk / "incoming" / name).write_bytes(octets)
        mlmmj("process", "-L", talk, "-m", talk / "incoming" / name)

    mlmmj("make-ml", "-s", spool, "-L", "talk", input=f"{HOST}\nolga@example.com\nen\n", text=True)
    (talk / "control" / "relayhost").write_text("127.0.0.1\n")
    (talk / "control" / "smtpport").write_text("9\n")  # nobody listens there: nothing leaves this machine
    for address, *how in (("anne@example.com",), ("Bob@Example.com",), ("dora@example.org", "-d"),
                         ("away@example.org", "-n")):
        mlmmj("sub", "-L", talk, "-a", address, "-f", "-q", "-s", *how)
    process("one", b"Return-Path: <jo@example.net>\n" + POST)
    (talk / "control" / "moderated").touch()
    (talk / "control" / "moderators").write_text("mod@example.com\n")
    process("two", b"Return-Path: <jo@example.net>\n" + POST.replace(b"held-1", b"held-2"))
    told = bring(empty, talk)
    assert f"no equal here: talk.{HOST}: archive: 1 posts" in told and " 0 changed" in told
    members = {row["address"]: row for row in empty.rows("member", "ls", f"talk@{HOST}")}
    assert list(members) == ["anne@example.com", "bob@example.com", "away@example.org", "dora@example.org"]
    held, = empty.rows("held", "ls")
    assert (held["sender"], held["subject"], held["message_id"]) == ("jo@example.net", "café", "held-2@example.net")
    assert settings(empty, "talk")["default_member_action"] == "hold"
    empty.set({"archiver.maildir": {"index": "yes"}})
    empty.cli("archive", "import", f"talk@{HOST}", talk / "archive")
    found = [path for path in empty.archive.rglob("*") if path.is_file() and b"held-1@example.net" in path.read_bytes()]
    assert found, list(empty.archive.rglob("*"))

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Posts that are sent at a time: who may have one sent so, what is shown and changed meanwhile, and that each goes
once, judged by the mail that arrives."""
import email.utils
import itertools
import json
import os
import random
import re
import signal
import time

import pytest

from support import rest
from support.instance import HOST, wait_until
from support.post import post
from support.rest import Rest

ANTS, BEES = f"ants@{HOST}", f"bees@{HOST}"
OLGA, OTTO, MARK, SUE, ANNE = ("olga@example.com", "otto@example.com", "mark@example.com", "sue@example.org",
                               "anne@example.net")
HOUR, DAY, YEAR = 3600, 86400, 366 * 86400
numbers = itertools.count(1)


class Site:
    """The list ants is Olga's and Mark moderates it, bees is Otto's; Anne is a member of both."""

    def __init__(self, instance, sink, clock):
        self.instance, self.sink, self.clock, self.cli = instance, sink, clock, instance.cli
        instance.create_list("ants", [ANNE], owner=OLGA, settings=["subject_prefix="])
        instance.create_list("bees", [ANNE], owner=OTTO, settings=["subject_prefix="])
        self.cli("member", "add", ANTS, MARK, "--role", "moderator")

    def at(self, seconds):
        """An hour from now as RFC 5322 has it, two as ISO 8601 does: the time of the instance's clock, and text."""
        moment = int(self.clock.now()) + seconds
        iso = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
        return moment, email.utils.formatdate(moment) if seconds == HOUR else iso

    def post(self, sender, when=None, to=ANTS, subject=None, extra=()):
        subject = subject or f"post {next(numbers)}"
        field = [f"X-Listrunner-Send-At: {when}"] if when is not None else []
        self.instance.lmtp_send(post(sender, subject, to=to, extra=[*field, *extra]), to, sender=sender.split(", ")[-1])
        return subject

    def mail(self):
        self.instance.wait_idle()
        return self.sink.take_mail()

    def subjects(self):
        """Of the posts that reached Anne since; letters of the lists do not count."""
        return [message["Subject"] for message in self.mail().get(ANNE, []) if not message["Auto-Submitted"]]

    def rows(self, *words):
        return [json.loads(line) for line in self.cli("scheduled", "ls", "--json", *words).splitlines()]

    def held(self):
        return [json.loads(line) for line in self.cli("held", "ls", "--json").splitlines()]

    def turn(self, seconds):
        """Move the clock and have the timer look."""
        self.clock.seconds(self.clock.offset + seconds)
        self.instance.run_job("scheduled")


@pytest.fixture
def site(clock, instances, sink):
    return Site(instances(sink.port, settings={"site": {"held_notice_interval": "0"}}).start(), sink, clock)


@pytest.mark.main
def test_waits_and_goes_once(site):
    """The owner's post and the moderator's wait, are told of, and go to the list when their time has come."""
    due, text = site.at(HOUR)
    later, iso = site.at(2 * HOUR)
    first, second = site.post(OLGA, text), site.post(MARK, iso)
    plain = site.post(SUE)
    found = site.mail()
    assert [message["Subject"] for message in found[ANNE]] == [plain], "only what has no time goes at once"
    rows = site.rows()
    assert [(row["subject"], row["author"], row["list"]) for row in rows] == [
        (first, OLGA, f"ants.{HOST}"), (second, MARK, f"ants.{HOST}")]
    assert rows[0]["due_at"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due))
    letter = found[OLGA][0].get_content()
    assert str(rows[0]["number"]) in letter and first in letter and email.utils.formatdate(due)[:-6] in letter
    assert "schedule" in site.cli("list", "log", ANTS) and first in site.cli("list", "log", ANTS)
    site.instance.stop()
    site.instance.start()
    assert site.rows() == rows, "a restart changes nothing"
    site.turn(HOUR - 600)
    assert site.mail() == {}, "ten minutes too early"
    site.turn(660)
    message, = site.mail()[ANNE]
    assert message["Subject"] == first and message["X-Listrunner-Send-At"] is None
    sent = email.utils.parsedate_to_datetime(message["Date"]).timestamp()
    assert due <= sent <= site.clock.now(), "the Date is that of the sending"
    assert message["List-Id"] and len(message.get_all("Date")) == 1
    assert [row["subject"] for row in site.rows()] == [second]
    site.instance.run_job("scheduled")
    assert site.mail() == {}
    site.turn(HOUR)
    assert site.subjects() == [second]
    assert site.rows() == [] and site.held() == []


def test_not_of_everybody(site):
    """A stranger, a member and the owner of another list cannot have a post wait by themselves; it is held, and does
    not go out before its time when it is accepted."""
    for who in (SUE, ANNE, OTTO):
        site.post(who, site.at(2 * HOUR)[1])
    site.post(OLGA, site.at(2 * HOUR)[1], extra=["Sender: olga@example.com"], to=BEES)
    two = site.post(f"{OLGA}, {SUE}", site.at(2 * HOUR)[1])
    assert site.subjects() == [] and site.rows() == []
    held = site.held()
    assert [row["sender"] for row in held] == [SUE, ANNE, OTTO, OLGA, OLGA] and held[4]["subject"] == two
    assert held[0]["reason"].startswith("The post is to be sent at")
    assert all("is to be sent at 20" in row["reason"] for row in held)
    accepted, discarded = held[0], held[1]
    site.mail()
    site.cli("held", "accept", accepted["number"])
    site.cli("held", "discard", discarded["number"])
    found = site.mail()
    assert list(found) == [SUE], "the one whose post waits now is told, and until when"
    letter = found[SUE][0].get_content()
    assert accepted["subject"] in letter and "cancel it" in letter.replace("\n", " ")
    assert f"number {site.rows()[0]['number']}" in letter.replace("\n", " ")
    row, = site.rows()
    assert (row["subject"], row["author"]) == (accepted["subject"], None)
    waits = f"waits to be sent at {row['due_at']}, as number {row['number']} of: listrunner scheduled ls ants.{HOST}\n"
    assert waits in site.cli("trace", accepted["message_id"])
    assert waits not in site.instance.run("trace", held[2]["message_id"]).stdout, "which is held"
    waiting, = [json.loads(line) for line in site.cli("trace", "--json", accepted["message_id"]).splitlines()
                if "waits_in" in line]
    assert (waiting["waits_in"], waiting["due"], waiting["list"]) == ("scheduled", row["due_at"], f"ants.{HOST}")
    assert waits in site.cli("trace", waiting["trace"])
    site.turn(2 * HOUR + 60)
    assert site.subjects() == [accepted["subject"]]
    assert waits not in site.instance.run("trace", accepted["message_id"]).stdout
    site.cli("held", "accept", held[2]["number"])
    assert site.subjects() == [held[2]["subject"]], "accepted too late, it goes at once"


def test_password_instead_of_from(site):
    """Where all posts are looked at, a From is too little, and the password is enough, from whatever address."""
    site.cli("list", "set", ANTS, "default_nonmember_action=hold", "moderator_password=secret")
    forged = site.post(OLGA, site.at(HOUR)[1])
    wrong = site.post(SUE, site.at(HOUR)[1], extra=["Approved: wrong"])
    right = site.post(SUE, site.at(HOUR)[1], extra=["Approved: secret"])
    assert site.subjects() == []
    assert [row["subject"] for row in site.rows()] == [right]
    assert [row["subject"] for row in site.held()] == [forged, wrong]
    site.turn(HOUR + 60)
    assert site.subjects() == [right]


@pytest.mark.main
def test_bad_times(site):
    """A time that is over is now, and the author is told; what cannot be read, or is more than a year ahead, comes back
    with a sentence."""
    moment, over = site.at(-HOUR)
    past = site.post(OLGA, over)
    word = site.post(SUE, "now")
    found = site.mail()
    assert sorted(found) == [ANNE, OLGA], "of now nobody is told"
    assert sorted(message["Subject"] for message in found[ANNE]) == sorted([past, word])
    letter, = found[OLGA]
    text = letter.get_content().replace("\n", " ")
    assert past in text and email.utils.formatdate(moment)[:-6] in text and "was over when the message came" in text
    assert site.cli("list", "log", ANTS).count(f"send, as {over} is over") == 1
    said = f"result=accept .*The time {over}, at which the post was to be sent, was over when it came"
    wait_until(lambda: re.search(said, site.instance.log_text()), 30, "the log to say so")
    site.cli("list", "set", BEES, "emergency=true")
    late = site.post(OTTO, over, to=BEES)
    site.mail()
    held, = site.held()
    assert f"The time {over}, at which the post was to be sent, was over" in held["reason"]
    site.cli("held", "accept", held["number"])
    assert site.subjects() == [late]
    for when, why in (("soon", "is no time with its zone"), ("2026-12-24 08:00", "is no time with its zone"),
                      ("", "is no time with its zone"), (site.at(YEAR + HOUR)[1], "more than a year ahead")):
        site.post(OLGA, when)
        found = site.mail()
        assert list(found) == [OLGA] and why in found[OLGA][0].get_body(("plain",)).get_content().replace("\n", " ")
    site.cli("list", "set", ANTS, "preferred_language=de")
    site.post(OLGA, "bald")
    assert "keine Zeit mit Zeitzone" in site.mail()[OLGA][0].get_body(("plain",)).get_content().replace("\n", " ")
    assert site.rows() == [] and site.held() == []


def test_shell(site):
    """inject --at, and what the verbs of scheduled do to each of several."""
    def inject(subject, when, to=ANTS):
        return site.instance.run("inject", "--at", when, to, input=post(SUE, subject, to=to))
    for number, to in enumerate((ANTS, ANTS, ANTS, BEES)):
        done = inject(f"shell {number}", site.at(2 * HOUR)[1], to)
        assert done.returncode == 0, done.stderr
    assert site.mail() == {}, "nobody wrote a mail, and nobody is told"
    one, two, three, four = (row["number"] for row in site.rows())
    assert [row["number"] for row in site.rows(BEES)] == [four]
    shown = site.cli("scheduled", "show", two)
    assert "shell 1" in shown and "It rains." in shown and "send_at" not in shown.lower()
    site.cli("scheduled", "send", one)
    assert site.subjects() == ["shell 0"]
    site.cli("scheduled", "move", "--at", site.at(3 * DAY)[1], two)
    site.cli("scheduled", "drop", three)
    assert [row["number"] for row in site.rows()] == [four, two]
    for words, code in ((("send", one), 66), (("drop", three), 66), (("move", two), 64), (("show", "x"), 64),
                        (("move", "--at", "whenever", two), 64), (("move", "--at", site.at(-HOUR)[1], two), 64),
                        (("move", "--at", site.at(YEAR + HOUR)[1], two), 64)):
        done = site.instance.run("scheduled", *words)
        assert done.returncode == code and done.stderr, words
    for words, text in ((("--at", "soon", ANTS), b"is no time"), (("--at", site.at(-HOUR)[1], ANTS), b"is over"),
                        (("--at", "now", "--to", "owner", ANTS), b"--at is for")):
        done = site.instance.run("inject", *words, input=post())
        assert done.returncode == 64 and text in done.stderr
    site.turn(3 * HOUR)
    assert site.subjects() == ["shell 3"]
    log = site.cli("list", "log", ANTS)
    assert all(word in log for word in ("schedule 20", "send", "drop"))
    site.cli("scheduled", "move", "--at", "now", two)
    assert site.subjects() == ["shell 1"]


@pytest.mark.main
def test_while_it_waits(site):
    """The list comes into emergency; the author's role is taken away; the list gets another address; the list goes."""
    calm = site.post(OLGA, site.at(HOUR)[1])
    site.post(MARK, site.at(2 * HOUR)[1], subject="Mark's")
    of_bees = site.post(OTTO, site.at(2 * HOUR)[1], to=BEES)
    site.mail()
    site.cli("list", "set", ANTS, "emergency=true")
    site.turn(HOUR + 60)
    assert sorted(site.mail()) == sorted([OLGA, MARK]), "the moderators are asked"
    held, = site.held()
    assert held["subject"] == calm and "Emergency" in held["reason"]
    site.cli("list", "set", ANTS, "emergency=false")
    site.cli("held", "accept", held["number"])
    message, = site.mail()[ANNE]
    assert message["Subject"] == calm
    site.cli("member", "remove", ANTS, MARK, "--role", "moderator")
    site.cli("list", "rename", BEES, f"wasps@{HOST}")
    site.mail()
    site.turn(HOUR)
    assert site.subjects() == [of_bees]
    held, = site.held()
    assert held["subject"] == "Mark's" and "does not run the list any more" in held["reason"]
    site.post(OLGA, site.at(HOUR)[1], subject="never")
    other = site.post(OTTO, site.at(HOUR)[1], to=f"wasps@{HOST}")
    site.mail()
    site.cli("list", "remove", "--yes", ANTS)
    found = site.mail()
    assert list(found) == [OLGA] and "never" in found[OLGA][0].get_content()
    assert "removed before that time" in found[OLGA][0].get_content().replace("\n", " ")
    site.turn(HOUR + 60)
    assert site.subjects() == [other] and site.rows() == []


@pytest.mark.main
def test_killed_when_due(site):
    """The timer and the runner behind it are killed again and again while many posts fall due: each comes once."""
    subjects = {f"due {number}" for number in range(60)}
    for number, subject in enumerate(sorted(subjects)):
        site.instance.cli("inject", "--at", site.at(2 * HOUR)[1], (ANTS, BEES)[number % 2],
                          input=post(SUE, subject, to=(ANTS, BEES)[number % 2]).decode())
    wait_until(lambda: len(site.rows()) == 60, 60, "all posts to wait")
    site.clock.seconds(site.clock.offset + 2 * HOUR + 60)
    chance = random.Random(int(os.environ.get("LISTRUNNER_SEED", "1")))
    deadline = time.monotonic() + 120
    while site.rows() and time.monotonic() < deadline:
        site.cli("task", "run", "scheduled")
        time.sleep(chance.random() * 0.2)
        for pid in site.instance.pids("task") + site.instance.pids("pipeline"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    site.instance.wait_ready()
    site.instance.run_job("scheduled")
    site.instance.run_job("outbox")
    found = [message["Subject"] for message in site.mail()[ANNE]]
    assert sorted(found) == sorted(subjects) and site.rows() == []


@pytest.mark.sqlite
def test_one_that_cannot_be_sent(site):
    """A post whose metadata cannot be read stays, and is shown with its fault; those due with it go out in time, of its
    own list and of others."""
    for subject, to in (("damaged", ANTS), ("beside", ANTS), ("elsewhere", BEES)):
        site.instance.cli("inject", "--at", site.at(HOUR)[1], to, input=post(SUE, subject, to=to).decode())
    wait_until(lambda: len(site.rows()) == 3, 30, "all posts to wait")
    assert {row["fault"] for row in site.rows()} == {None}
    before = site.instance.run("status").stdout
    with site.instance.database() as database:
        database.execute("UPDATE scheduled SET meta = '{' WHERE subject = 'damaged'")
    site.clock.seconds(site.clock.offset + HOUR + 300)
    site.cli("task", "run", "scheduled")
    wait_until(lambda: site.instance.jobs()["scheduled"]["fault"], 30, "the job to tell of the fault")
    assert sorted(site.subjects()) == ["beside", "elsewhere"]
    row, = site.rows()
    assert row["subject"] == "damaged" and row["fault"].startswith("its metadata cannot be read: ")
    assert f" {row['number']} " in site.cli("scheduled", "ls") and "cannot be read" in site.cli("scheduled", "ls")
    done = site.instance.run("status")
    text = "A post that was to be sent at a time has not gone, since "
    assert done.returncode != 0 and text in done.stdout and text not in before
    assert f"scheduled post {row['number']} of ants.{HOST}: " in done.stdout, "the job says which, and why"
    site.cli("scheduled", "drop", row["number"])
    site.instance.run_job("scheduled")
    after = site.instance.run("status").stdout
    assert text not in after and "job scheduled" not in after


@pytest.mark.sqlite
def test_database_of_yesterday(site):
    """A database that is put back lets no post go a second time, and tells of one of which nobody knows."""
    gone, dark, later = (site.post(OLGA, site.at(seconds)[1]) for seconds in (HOUR, HOUR + 1, 9 * HOUR))
    site.mail()
    backup = site.instance.directory / "backup"
    site.cli("backup", backup)
    (_, number), *_ = ((row["subject"], row["number"]) for row in site.rows() if row["subject"] == dark)
    site.cli("scheduled", "drop", number)
    site.turn(HOUR + 60)
    assert site.subjects() == [gone]
    site.instance.stop()
    for path in (site.instance.directory / "lib").iterdir():
        path.unlink()
    done = site.instance.run("restore", "--only", "database", "--json", backup)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    told = {row["kind"]: [other["text"] for other in told if other["kind"] == row["kind"]] for row in told}
    assert len(told["scheduled"]) == 2 and "as the trail shows" in told["scheduled"][0], done
    assert "the site sends it when it starts" in told["scheduled"][1]
    assert [row["subject"] for row in site.rows()] == [dark, later]
    site.instance.start()
    site.instance.run_job("scheduled")
    assert site.subjects() == [dark]


@pytest.mark.main
def test_rest(clock, tmp_path):
    """The same for programs: the token of one list sees and changes nothing of the other's."""
    with rest.site(tmp_path) as instance:
        for name, owner in (("ants", OLGA), ("bees", OTTO)):
            instance.create_list(name, [ANNE], owner=owner, settings=["subject_prefix="])
        api = Rest(instance)
        soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock.now() + HOUR))
        ants, bees = f"listrunner/lists/ants.{HOST}/scheduled", f"listrunner/lists/bees.{HOST}/scheduled"
        for path in (ants, bees):
            text = post(SUE, f"by {path}").decode()
            assert api.call("POST", path, text=text, send_at=soon).status == 202
        over = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock.now() - HOUR))
        for when, says in (("soon", "is no time"), (over, "is over; the word now")):
            refused = api.call("POST", ants, text="x", send_at=when)
            assert refused.status == 400 and says in refused.json["description"]
            assert re.search(r"[^.]\.$", refused.json["description"])
        assert api.call("POST", ants, text="x").status == 400
        one, = wait_until(lambda: api.call("GET", ants).json.get("entries"), 30, "the post to wait")
        other, = wait_until(lambda: api.call("GET", bees).json.get("entries"), 30, "the other to wait")
        assert one["subject"] == f"by {ants}" and one["send_at"] == soon and one["author"] is None
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", one["made_at"])
        mine, foreign = f"{ants}/{one['number']}", f"{ants}/{other['number']}"
        assert "It rains." in api.call("GET", mine).json["msg"]
        for verb, fields in (("GET", {}), ("PATCH", {"send_at": "now"}), ("DELETE", {})):
            assert api.call(verb, foreign, **fields).status == 404
        scoped, words = Rest(instance), instance.cli("token", "create", "--list", f"bees@{HOST}").split()
        scoped.headers = {"Authorization": "Bearer " + next(word for word in words if word.startswith("lrt_"))}
        assert scoped.call("GET", bees).json["total_size"] == 1
        for verb, path, fields in (("GET", ants, {}), ("GET", mine, {}), ("DELETE", mine, {}),
                                   ("PATCH", mine, {"send_at": "now"}), ("POST", ants, {"text": "x", "send_at": soon})):
            assert scoped.call(verb, path, **fields).status == 403
        for when in ("whenever", over):
            assert api.call("PATCH", mine, send_at=when).status == 400
        assert api.call("GET", mine).json["send_at"] == soon
        later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock.now() + DAY))
        assert api.call("PATCH", mine, send_at=later).status == 204
        assert api.call("GET", mine).json["send_at"] == later
        for zone, hours in (("+05:30", 5.5), ("-03:00", -3), ("z", 0)):
            there = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(clock.now() + DAY + hours * HOUR))
            now = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(clock.now() + DAY))
            assert api.call("PATCH", mine, send_at=f"{there}.25{zone}").status == 204
            assert api.call("GET", mine).json["send_at"][:16] == now and api.call("GET", ants).json["entries"]
        assert api.call("PATCH", mine, send_at="now").status == 204
        assert api.call("GET", mine).status == 404
        assert api.call("DELETE", f"{bees}/{other['number']}").status == 204
        assert api.call("GET", bees).json["total_size"] == 0
        instance.wait_idle()
        log = instance.cli("list", "log", f"ants@{HOST}")
        assert "send" in log

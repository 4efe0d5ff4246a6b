# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""listrunner list try foretells what a change of a list then does, changes nothing itself, and says what it lacks."""
import collections
import email.utils
import os
import re
import signal
import subprocess

import pytest

from support import corpus
from support.dns import Dns
from support.instance import HOST, prefix
from support.post import post
from support.wire import field, message_id, wire

FATES = {"accept": "accepted", "hold": "held", "reject": "rejected", "discard": "discarded"}
LINE = re.compile(r" list=(\S+) queue=in to=posting from=\S* message-id=(.*?)(?: post=\d+)? entries=\d+ "
                  r"result=(\w+)(?: \((.*)\))?$", re.M)
DAYS = ["--days", "36500"]  # mail of the corpus is old
IMAGE = ("--cut\nContent-Type: text/plain\n\nSee below.\n--cut\nContent-Type: image/png; name=cat.png\n"
         "Content-Disposition: attachment; filename=cat.png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n"
         "--cut--\n")


# As the defaults are; lists of the tests have others.
USUAL = ["default_nonmember_action=hold", "default_member_action=defer", "require_explicit_destination=yes",
         "administrivia=yes"]


def start(instances, sink):
    instance = instances(sink.port)
    instance.set({"archiver.maildir": {"index": "yes"}})
    instance.start()
    return instance


def with_image(sender, number, to):
    return post(sender=sender, to=to, message_id=f"<image-{number}@example.net>", body=IMAGE, subject="A cat",
                extra=["MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=cut"])


def posts_for(address):
    """(sender, octets): members and strangers, large and small, with parts and without, named and unnamed lists."""
    made = []
    for number in range(5):
        body = "Anne writes.\n" * (200 if number == 4 else 1)
        made.append(("anne@example.org", post(sender="anne@example.org", to=address, body=body,
                                              message_id=f"<a-{number}@x.example>")))
    for number, sender in enumerate(["bart@spam.example", "bea@example.net"]):
        made.append((sender, post(sender=sender, to=address, message_id=f"<b-{number}@x.example>",
                                  extra=["X-Spam: yes"] if number else [], subject="unsubscribe" if number else "Hi")))
        made.append((sender, with_image(sender, number, address)))
    for number, sender in enumerate(["cleo@elsewhere.example", "carl@spam.example"]):
        made.append((sender, post(sender=sender, to=address, message_id=f"<c-{number}@x.example>", subject="Stranger")))
    for number, (to, subject) in enumerate([("somebody@example.net", "Weather"), (address, "unsubscribe")]):
        made.append(("anne@example.org", post(sender="anne@example.org", to=to, subject=subject,
                                              message_id=f"<d-{number}@x.example>")))
    return made


def send(instance, address, mails):
    """Posts them one after the other; returns what became of each: {Message-ID: (fate, reasons)}."""
    begun = len(instance.log_text())
    with instance.lmtp() as client:
        for sender, octets in mails:
            instance.lmtp_send(octets, address, sender=sender, client=client)
    instance.wait_idle(240)
    name = address.replace("@", ".")
    return {found[2]: (FATES.get(found[3], found[3]), found[4] or "")
            for found in LINE.finditer(instance.log_text()[begun:]) if found[1] == name}


def forget(instance):
    """The posts may come again."""
    with instance.database() as database:
        database.execute("DELETE FROM message_id")
        database.execute("DELETE FROM pace")


def foretell(instance, address, words):
    lines = instance.rows("list", "try", address, *DAYS, *words)
    return {row["message_id"]: row for row in lines[:-1]}, lines[-1]


def plain(fate, reasons):
    """To compare. An archived mail lacks fields that the handlers took away, so its size is a little less."""
    return fate, "" if fate == "accepted" else re.sub(r"has \d+ octets", "has octets", reasons)


def of_row(outcome):
    return plain(outcome["fate"], outcome["reasons"])


def check_foretold(before, after, rows, kept):
    """All that became of the posts is what was foretold, also for those that were not named."""
    wrong = []
    for name, (fate, reasons) in before.items():
        if fate in ("rejected", "discarded"):  # nobody has them
            assert name not in rows
            continue
        row, seen = rows.get(name), after[name]
        if plain(*seen) != (of_row(row["after"]) if row else plain(fate, reasons)):
            wrong.append((name, "foretold", row, "but", seen))
        if row and of_row(row["before"]) != plain(fate, reasons):
            wrong.append((name, "was", row["before"], "and not", (fate, reasons)))
        if seen[0] == "accepted" and kept is not None and fate == "accepted":
            filtered = bool(row) and bool({"loses_attachment", "loses_part", "text"} & set(row["differs"]))
            if filtered != (name in kept):
                wrong.append((name, "filtered is foretold", filtered, row))
    assert not wrong, wrong[:5]


CHANGES = [
    ["max_message_size=1"],
    ["default_member_action=hold"],
    ["default_member_action=reject", "emergency=yes"],
    ["default_nonmember_action=accept"],
    ["default_nonmember_action=discard"],
    ["discard_these_nonmembers=^.*@spam[.]example$"],
    ["administrivia=no"],
    ["require_explicit_destination=no"],
    ["filter_content=yes", "pass_types=text/plain,multipart/mixed"],
    ["filter_content=yes", "filter_types=multipart,text", "filter_action=reject"],
    ["burst_factor=1", "burst_least=3"],
    ["autorespond_postings=respond_and_discard", "autoresponse_postings_text=No."],
    ["--ban", "^.*@spam[.]example$", "--ban", "bea@example.net"],
    ["--header-match", "X-Spam: yes", "--action", "discard"],
    ["--header-match", "Subject: stran.*", "default_nonmember_action=accept"],
]


def save(instance, address, words):
    """Makes the change for good."""
    words = list(words)
    action = words[words.index("--action") + 1] if "--action" in words else None
    while words:
        word = words.pop(0)
        if word == "--ban":
            instance.cli("ban", "add", "--list", address, words.pop(0))
        elif word == "--header-match":
            field, pattern = words.pop(0).split(": ")
            instance.cli("header-match", "add", "--list", address, *(["--action", action] if action else []), field,
                         pattern)
        elif word == "--action":
            words.pop(0)
        else:
            instance.cli("list", "set", address, word)


def filtered(instance, name):
    """Message-IDs of archived mails from which the content filter took something."""
    mails = [wire(path.read_bytes()) for path in (instance.archive / "maildir" / name).glob("new/*")]
    return {message_id(octets).strip("<>") for octets in mails if field(octets, "X-Content-Filtered-By")}


def test_what_is_foretold_happens(instances, sink):
    instance = start(instances, sink)
    lists = {}
    for number, words in enumerate(CHANGES):
        address = lists[number] = instance.create_list(f"l{number}", ["anne@example.org", "bart@spam.example"],
                                                      settings=USUAL)
        instance.cli("ban", "add", "--list", address, "nobody@example.net")
    before = {number: send(instance, address, posts_for(address)) for number, address in lists.items()}
    assert collections.Counter(fate for fate, _ in before[0].values()) == {"accepted": 7, "held": 6}
    foretold = {number: foretell(instance, address, CHANGES[number]) for number, address in lists.items()}
    forget(instance)
    for number, address in lists.items():
        save(instance, address, CHANGES[number])
    for number, address in lists.items():
        rows, total = foretold[number]
        after = send(instance, address, posts_for(address))
        assert rows, CHANGES[number]  # each change has an effect on some post
        assert total["posts"] == len(before[number]) == len(after) == 13 and not total["gap"], total
        kept = filtered(instance, f"l{number}.{HOST}") if "filter_content=yes" in CHANGES[number] else None
        if "burst_factor=1" in CHANGES[number]:  # the archive has no order of posts that came within a second
            seen = collections.Counter(fate for fate, _ in after.values())
            assert total["would_be"]["held"] == seen["held"] - 6 > 0
        else:
            check_foretold(before[number], after, rows, kept)
    # The sentence for people.
    said = instance.cli("list", "try", lists[0], "default_member_action=hold")
    assert re.search(r"^\d+ of 26 posts would have been held(, \d+ would have been [a-z ]+)*\.$", said, re.M), said


def contents(instance):
    """All that a trial must not change: rows, entries of queues, files of the archive."""
    rows = {}
    with instance.database() as database:
        for table in ("list", "list_setting", "member", "message_id", "pace", "held", "ban", "header_match", "account",
                      "autoresponse", "stranger", "effect", "outbox", "pending", "ticket"):
            found = database.execute(f"SELECT * FROM {table}").fetchall()
            rows[table] = sorted(repr([bytes(value) if isinstance(value, memoryview) else value for value in row])
                                 for row in found)
    files = {str(path): path.read_bytes() for place in (instance.spool, instance.archive)
             for path in place.rglob("*") if path.is_file() and ".index" not in str(path) and "/." not in str(path)}
    return rows, files


def test_a_trial_changes_nothing_and_repeats_itself(instances, sink):
    instance = start(instances, sink)
    address = instance.create_list("cats", ["anne@example.org", "bart@spam.example"],
                                   settings=[*USUAL, "burst_factor=2", "burst_least=2"])
    other = instance.create_list("dogs", ["anne@example.org"])
    send(instance, address, posts_for(address))
    send(instance, other, posts_for(other))
    instance.stop()
    before, copies = contents(instance), sink.copies()
    words = ["list", "try", address, "burst_factor=0", "default_nonmember_action=accept", "subject_prefix=[Cats %d] ",
             "msg_footer=Of the cats.", "--ban", "anne@example.org"]
    for option in ([], ["--json"]):
        first, second = (instance.run(*words, *option) for _ in range(2))
        assert first.returncode == 0 and first.stdout == second.stdout and len(first.stdout) > 1000, first
    assert contents(instance) == before
    instance.start()
    instance.wait_idle()
    assert sink.copies() == copies
    # A change that the list would refuse is refused by a trial, which then says nothing else.
    for word, code in (("max_message_size=many", 64), ("no_such=1", 64), ("posting_chain=none-such", 64)):
        done = instance.run("list", "try", address, word)
        assert (done.returncode, done.stdout) == (code, ""), (word, done)
    done = instance.run("list", "try", address)
    assert done.returncode == 64 and "SETTING=VALUE" in done.stderr


def test_what_it_lacks_is_said(instances, sink):
    instance = start(instances, sink)
    address = instance.create_list("cats", ["anne@example.org"], settings=USUAL)
    quiet = instance.create_list("dogs", ["anne@example.org"])
    send(instance, address, posts_for(address))
    words = ["list", "try", address, "default_member_action=hold"]

    def said(words=words):
        done = instance.run(*words)
        assert done.returncode == 0, done
        return done.stdout.splitlines()[-1], done.stderr
    assert said()[1] == ""
    text, why = said(["list", "try", quiet, "emergency=yes"])
    assert text == "There is no post of the last 30 days to try it with." and f"no directory {instance.archive}" in why

    place = instance.archive / "maildir" / f"cats.{HOST}" / "new"
    files = sorted(place.iterdir())
    whole = said()[0]
    files[0].write_bytes(b"")  # cut short
    kept = files[1].read_bytes()
    files[1].unlink()
    files[1].mkdir()  # nobody can read it
    text, why = said()
    assert text != whole and "2 files of the archive were passed over" in why and files[0].name in why, (text, why)
    files[1].rmdir()
    files[1].write_bytes(kept)
    for path in files:
        path.unlink()
    text, why = said()
    assert "The archive of the list is empty, though it has accepted" in why and "of 8 posts" in text, (text, why)
    place.rmdir()
    place.symlink_to(place)  # a folder that cannot be opened
    done = instance.run(*words)
    assert done.returncode == 75 and "the archive cannot be read" in done.stderr and not done.stdout, done
    place.unlink()
    instance.set({"archiver.maildir": {"index": None}})
    text, why = said()
    assert "No section [archiver.NAME] is enabled" in why and "of 8 posts" in text, (text, why)


def test_interrupted_it_leaves_nothing(instances, sink, tmp_path):
    instance = start(instances, sink)
    address = instance.create_list("cats", ["anne@example.org"])
    mails = [post(sender="anne@example.org", to=address, message_id=f"<{number}@x.example>") for number in range(3000)]
    mbox = b"".join(b"From x Sat Nov 21 13:20:00 2026\r\n" + octets + b"\r\n" for octets in mails)
    instance.cli("archive", "import", address, "-", input=mbox.decode().replace("\r", ""))
    instance.stop()
    before = contents(instance)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    instance.own(scratch)
    program = [prefix() / "bin" / "listrunner", "--config", instance.config, "list", "try", address, "--json", *DAYS,
               "emergency=yes"]
    environment = {**os.environ, "TMPDIR": str(scratch), "SQLITE_TMPDIR": str(scratch)}
    # A shell starts what it sends to the background with the signal ignored, and the tests may have come from one.
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as child:
        assert b'"held"' in child.stdout.readline()
        child.send_signal(signal.SIGINT)
        child.stdout.read()
    assert child.returncode == -signal.SIGINT
    assert list(scratch.iterdir()) == [] and contents(instance) == before


def test_policies_are_asked_for(instances, sink):
    """As the runner asks: of a name server that answers, for some domains not, and of none."""
    server = Dns({"reject.test": '_dmarc IN TXT "v=DMARC1; p=reject"\n', "plain.test": '@ IN TXT "v=spf1 -all"\n',
                  "quarantine.test": '_dmarc IN TXT "v=DMARC1; p=quarantine"\n', "test": "reject IN NS ns\n"},
                 broken=["broken.test"]).start()
    try:
        instance = instances(sink.port, settings={"dns": {"servers": server.server, "timeout": "20s"},
                                                  "archiver.maildir": {"index": "yes"}}).start()
        address = instance.create_list("cats", ["bart@example.org"], settings=["default_nonmember_action=accept"])
        domains = ["reject.test", "quarantine.test", "plain.test", "broken.test"]
        mails = [(f"anne@{domain}", post(sender=f"anne@{domain}", to=address, message_id=f"<1@{domain}>"))
                 for domain in domains]
        before = send(instance, address, mails)
        assert {fate for fate, _ in before.values()} == {"accepted"}
        rows, _ = foretell(instance, address, ["dmarc_mitigate_action=reject"])
        assert {name: row["differs"] for name, row in rows.items()} == {
            "1@reject.test": ["fate"], "1@quarantine.test": ["fate"], "1@broken.test": ["text"]}
        forget(instance)
        save(instance, address, ["dmarc_mitigate_action=reject"])
        check_foretold(before, send(instance, address, mails), rows, None)
    finally:
        server.stop()
    save(instance, address, ["dmarc_mitigate_action=no_mitigation"])
    rows, total = foretell(instance, address, ["dmarc_mitigate_action=reject"])
    assert total["posts"] == 6 and {tuple(row["differs"]) for row in rows.values()} == {("text",)}, rows


@pytest.mark.corpus
def test_what_is_foretold_of_real_mail_happens(instances, sink):
    """Of the mail of others' lists, half of whose authors are members."""
    instance = start(instances, sink)
    mails, authors, seen = [], [], collections.Counter(mail.message_id for mail in corpus.lists())
    for mail in corpus.lists():
        sender = email.utils.parseaddr(field(mail.octets, "From") or "")[1]
        sender = sender if re.fullmatch(r"[\w.+=-]+@[\w-]+(\.[\w-]+)+", sender, re.A) else ""
        if mail.message_id and seen[mail.message_id] == 1:
            mails.append((sender, mail.octets))
            authors.append(sender.lower())
    address = instance.create_list("cats", sorted(set(filter(None, authors)))[::2],
                                   settings=[*USUAL, "require_explicit_destination=no", "max_message_size=400"])
    words = ["max_message_size=6", "filter_content=yes", "pass_types=text/plain,multipart",
             "collapse_alternatives=yes", "--ban", "^.*@gmail[.]com$", "--header-match",
             "Subject: .*patch", "bounce_matching_headers=X-Mailer: .*"]
    before = send(instance, address, mails)
    rows, total = foretell(instance, address, words)
    assert total["posts"] == sum(fate in ("accepted", "held") for fate, _ in before.values()) > 50
    forget(instance)
    save(instance, address, words)
    for path in (instance.archive / "maildir" / f"cats.{HOST}" / "new").iterdir():
        path.unlink()
    after = send(instance, address, mails)
    # Others' lists have put fields on, which ours took away: nobody knows how large these mails were when they came.
    near = {mail.message_id.strip("<>") for mail in corpus.lists() if 6 * 1024 < len(mail.octets) <= 8 * 1024}
    assert len(near) < total["posts"] / 4
    check_foretold({name: what for name, what in before.items() if name not in near}, after, rows,
                   filtered(instance, f"cats.{HOST}"))
    assert {"fate", "loses_attachment"} <= {word for row in rows.values() for word in row["differs"]}

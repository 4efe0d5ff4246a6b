# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Parts of messages (message/partial): cut by Python's email package, put together by us."""
import json
import random
import re
import smtplib
import sqlite3
import threading
import time

import pytest

from support import corpus
from support.certificate import Authority
from support.fragments import fragment, is_7bit, make_part, split_head
from support.instance import HOST, free_port, let_through, wait_until, write_secret
from support.wire import wire

MEMBER = "member@members.example.org"
PLENTY = {"sets_per_sender": 100000, "sets_per_list": 100000, "sets_per_host": 100000}


def whole_mails(count, seed=1):
    """7-bit mails with a Message-ID each."""
    mails = [mail for mail in corpus.distinct(2 * count, 1000) if is_7bit(mail.octets)]
    random.Random(seed).shuffle(mails)
    assert len(mails) >= count
    return mails[:count]


def set_up(instances, sink, **keys):
    instance = instances(sink.port, settings={"defragment": {**PLENTY, **keys}}).start()
    instance.address = instance.create_list("test", [MEMBER], settings=["defragment=on", "include_rfc2369_headers=no",
                                                                        "subject_prefix="])
    return instance


def send(instance, octets, sender="poster@example.net", client=None, to=None):
    """Until it is taken; what is refused for now is said again later."""
    for _ in range(600):
        try:
            return instance.lmtp_send(octets, to or instance.address, sender, client)
        except smtplib.SMTPDataError as refusal:
            if refusal.smtp_code != 452:
                raise
        except smtplib.SMTPRecipientsRefused as refusal:
            if any(code != 451 for code, _ in refusal.recipients.values()):
                raise
        time.sleep(0.05)
    raise AssertionError("refused for too long")


def defragmenting(instance):
    return instance.files("defragment")["defragment"]


def settled(instance, rest=0):
    """Nothing moves, and so many parts wait: the runner has put them off for long."""
    names = defragmenting(instance)
    return len(names) == rest and instance.idle() and all(
        name.endswith(".msg") and float(name.partition("+")[0]) > time.time() + 1 for name in names)


def index(instance):
    return instance.rows("fragments", "ls")


def assert_same(sink, mails):
    """Each mail arrived once, with the octets of its body and those fields that are its own."""
    copies = {}
    for transaction in sink.transactions():
        assert transaction.result != "refused"
        copies.setdefault(transaction.message_id, []).append(transaction.octets)
    assert sorted(copies) == sorted(mail.message_id for mail in mails)
    for mail in mails:
        (octets,) = copies[mail.message_id]
        assert split_head(octets)[1] == split_head(mail.octets)[1], mail.name


class Session(threading.Thread):
    """One sender with its own LMTP session."""

    def __init__(self, instance, number, parts):
        super().__init__()
        self.instance, self.parts, self.error = instance, parts, None
        self.sender = f"sender{number}@example.net"

    def run(self):
        try:
            with self.instance.lmtp() as client:
                for octets in self.parts:
                    send(self.instance, octets, self.sender, client)
        except Exception as error:  # shown by the test
            self.error = error


def make_sessions(instance, mails, count, dice, most=50):
    """The mails' parts over so many senders, each shuffled, a fifth doubled."""
    stacks = [[] for _ in range(count)]
    for number, mail in enumerate(mails):
        sender = f"sender{number % count}@example.net"
        parts = fragment(mail.octets, f"{number}@cut.example", dice.randint(2, most), sender, instance.address, dice)
        stacks[number % count] += parts + [part for part in parts if dice.random() < 0.2]
    for stack in stacks:
        dice.shuffle(stack)
    return [Session(instance, number, stack) for number, stack in enumerate(stacks)]


def run_sessions(sessions):
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()
        assert session.error is None, session.error


@pytest.mark.main
def test_ten_sessions(instances, sink):
    """Shuffled, doubled and interleaved: every whole message once, its body identical."""
    instance = set_up(instances, sink)
    instance.set({"runner.defragment": {"instances": 2}})
    instance.cli("reload")
    mails = whole_mails(60)
    sessions = make_sessions(instance, mails, 10, random.Random(7))
    run_sessions(sessions)
    wait_until(lambda: settled(instance), 120, lambda: f"{len(defragmenting(instance))} parts left")
    assert_same(sink, mails)
    assert instance.set_aside() == []
    assert index(instance) == []


# Fields that a list adds, and fields that are not true of the whole (posting/, mail/mime/partial.h).
NOT_COMPARED = re.compile(r"(precedence|archived-at|received|dkim-signature|arc-.*|authentication-results|received-spf|"
                          r"listrunner-loop|return-path|x-google-dkim-signature|domainkey-signature)$")


def bag(head):
    """Its fields, unfolded, in no order."""
    lines = re.sub(rb"\r\n(?=[ \t])", b"", head).decode("latin-1").split("\r\n")
    found = [(name.lower(), " ".join(value.split())) for name, colon, value in (line.partition(":") for line in lines)
             if colon]
    return sorted(field for field in found if not NOT_COMPARED.match(field[0]))


def arrangements(parts, dice):
    """Orders and repetitions in which the same message comes."""
    yield parts[::-1]
    twice = parts * 2
    dice.shuffle(twice)
    yield twice
    last_says_it = [re.sub(rb"(?is);\s*total=\"?\d+\"?(?=.*?\r\n\r\n)", b"", part, count=1) for part in parts[:-1]]
    last_says_it.append(parts[-1])
    dice.shuffle(last_says_it)
    yield last_says_it


@pytest.mark.corpus
def test_corpus_sets(instances, sink):
    """Sets that other programs cut come in several orders, each for a list of its own: once, byte for byte, and with
    the header's fields. One set has octets over 127, which a part may not have."""
    instance = set_up(instances, sink)
    sets = [(folder, *one) for folder in corpus.folders("partial")
            for one in sorted(json.loads((folder / "manifest.json").read_text()).items())]
    dice, expected = random.Random(9), {}
    for folder, name, entry in sets:
        parts = [wire((folder / path).read_bytes()) for path in entry["parts"]]
        if name == "gmime-8bit":
            with pytest.raises(smtplib.SMTPDataError) as refused:
                send(instance, parts[0])
            assert refused.value.smtp_code == 554 and b"over 127" in refused.value.smtp_error
            continue
        for way, arranged in enumerate(arrangements(parts, dice)):
            address = instance.create_list(f"{name}-{way}", [MEMBER], settings=["defragment=on", "subject_prefix=",
                                                                               "include_rfc2369_headers=no"])
            for octets in arranged:
                send(instance, octets, to=address)
            expected[f"{name}-{way}"] = wire((folder / entry["expected"]).read_bytes())
    wait_until(lambda: settled(instance), 60, lambda: f"{defragmenting(instance)}")
    arrived = {}
    for transaction in sink.transactions():
        name = transaction.envelope["from"].partition("-bounces")[0]
        assert arrived.setdefault(name, transaction) is transaction, name
    assert sorted(arrived) == sorted(expected) and len(expected) >= 21
    for name, whole in expected.items():
        (head, body), (got_head, got_body) = split_head(whole), split_head(arrived[name].octets)
        assert got_body == body, name
        assert bag(got_head) == bag(head), name
    assert instance.cli("held", "ls", "--names") == ""


def test_rescale_in_the_middle(instances, sink):
    instance = set_up(instances, sink)
    mails = whole_mails(30, seed=2)
    dice = random.Random(3)
    parts = [part for number, mail in enumerate(mails)
             for part in fragment(mail.octets, f"r{number}@cut.example", dice.randint(4, 12), "poster@example.net",
                                  instance.address, dice)]
    dice.shuffle(parts)
    quarter = len(parts) // 4
    for round, count in enumerate((4, 2, 8, 1)):
        for octets in parts[round * quarter:(round + 1) * quarter if round < 3 else None]:
            send(instance, octets)
        instance.set({"runner.defragment": {"instances": count}})
        instance.cli("reload")
    wait_until(lambda: settled(instance), 60, lambda: f"{len(defragmenting(instance))} parts left")
    assert_same(sink, mails)


@pytest.mark.main
def test_killed_again_and_again(instances, sink):
    instance = set_up(instances, sink)
    mails = whole_mails(40, seed=4)
    sessions = make_sessions(instance, mails, 4, random.Random(5), most=20)
    for session in sessions:
        session.start()
    while any(session.is_alive() for session in sessions):
        instance.kill_runner("defragment")
        time.sleep(0.15)
    for session in sessions:
        assert session.error is None, session.error
    wait_until(lambda: settled(instance), 60, lambda: f"{len(defragmenting(instance))} parts left")
    assert_same(sink, mails)


@pytest.mark.parametrize("action,code", [("hold", 250), ("refuse", 550), ("pass", 250)])
def test_off(instances, sink, action, code):
    instance = instances(sink.port).start()
    address = instance.create_list("test", [MEMBER], settings=[f"partial_action={action}"])
    octets = make_part("x@y", 1, 2, b"Subject: x\r\n\r\nx\r\n", "poster@example.net", address)
    if code == 550:
        with pytest.raises(smtplib.SMTPDataError) as refused:
            instance.lmtp_send(octets, address)
        assert refused.value.smtp_code == 550
    else:
        instance.lmtp_send(octets, address)
    instance.wait_idle()
    held = instance.rows("held", "ls")
    assert len(held) == (action == "hold")
    assert len([t for t in sink.transactions() if t.to == [MEMBER]]) == (action == "pass")
    assert all("message/partial" in row["reason"] for row in held)


@pytest.mark.main
def test_the_envelope_sender_varies(instances, sink):
    """VERP by number, BATV, SRS, and none: the parts of one author meet, those of another with the same id do not."""
    instance = set_up(instances, sink)
    whole = b"From: Anne <anne@a.example>\r\nSubject: in parts\r\nMessage-ID: <whole@a.example>\r\n\r\n" + b"x\r\n" * 8
    senders = ["anne+1@a.example", "prvs=0123456789=anne@a.example", "SRS0=abcd=12=a.example=anne@relay.example", ""]
    parts = fragment(whole, "same@id", 4, "Anne <Anne@a.EXAMPLE>", instance.address)
    other = make_part("same@id", 2, 4, b"other\r\n", "bob@b.example", instance.address)
    instance.lmtp_send(other, instance.address, "anne+1@a.example")
    for part, sender in zip(parts, senders):
        instance.lmtp_send(part, instance.address, sender)
    wait_until(lambda: "result=joined parts=4" in instance.log_text() and len(defragmenting(instance)) == 1, 30,
               "the whole")
    wait_until(lambda: [row["sender"] for row in index(instance)] == ["bob@b.example"], 30, "one set, of the other")


def test_refused_at_the_door(instances, sink):
    instance = set_up(instances, sink, max_parts=10, max_waiting="1M")
    good = {"id": "a@b", "number": "1", "total": "2"}
    for change, reply in (({"number": "0"}, "its number is 0"), ({"number": "-1"}, "its number is no number"),
                          ({"number": "11", "total": None}, "at most 10 parts"), ({"total": "11"}, "at most 10 parts"),
                          ({"number": "3"}, "over its total"), ({"id": None}, "no id"),
                          ({"number": "2147483648"}, "over 999999999"), ({"id": "x" * 999}, "longer than 998")):
        words = "; ".join(f'{name}="{value}"' for name, value in {**good, **change}.items() if value is not None)
        octets = f"Content-Type: message/partial;\r\n {words}\r\n\r\nx\r\n".encode()
        with pytest.raises(smtplib.SMTPDataError) as refused:
            instance.lmtp_send(octets, instance.address)
        assert refused.value.smtp_code == 554 and reply in refused.value.smtp_error.decode(), (change, refused.value)
    base64 = b'Content-Type: message/partial; id=a; number=1\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n'
    with pytest.raises(smtplib.SMTPDataError):
        instance.lmtp_send(base64, instance.address)
    # Octets fill the room; what was begun may still be completed.
    large = b"".join(b"%076d\r\n" % number for number in range(15_000))
    instance.lmtp_send(make_part("a@x", 1, 2, large, "p@x.example", instance.address), instance.address)
    wait_until(lambda: settled(instance, 1), 30, lambda: f"{defragmenting(instance)}")
    with pytest.raises(smtplib.SMTPDataError) as full:
        instance.lmtp_send(make_part("b@x", 1, 2, b"x\r\n", "q@x.example", instance.address), instance.address)
    assert full.value.smtp_code == 452
    instance.lmtp_send(make_part("a@x", 2, 2, b"y\r\n", "p@x.example", instance.address), instance.address)
    wait_until(lambda: settled(instance), 30, lambda: f"{defragmenting(instance)}")


@pytest.mark.main
def test_forged_first_parts(instances, sink):
    """They keep nobody out: the oldest of the same name make room, and the operator is told."""
    instance = set_up(instances, sink, sets_per_sender=10)
    whole = b"Subject: whole\r\nMessage-ID: <whole@x>\r\n\r\n"
    for number in range(11):
        instance.lmtp_send(make_part(f"forged{number}@x", 1, 2, b"x\r\n", "poster@example.net", instance.address),
                           instance.address)
    for number, body in ((1, whole + b"one\r\n"), (2, b"two\r\n")):
        instance.lmtp_send(make_part("real@x", number, 2, body, "poster@example.net", instance.address),
                           instance.address)
    wait_until(lambda: any(b"whole@x" in copy.octets for copy in sink.transactions()), 30, instance.log_text)
    wait_until(lambda: settled(instance, 9), 30, lambda: f"{defragmenting(instance)}")
    assert len(index(instance)) == 9
    status = instance.run("status").stdout
    assert "2 messages in parts were given up in the last hour" in status
    assert "listrunner_fragment_early 2" in instance.cli("metrics")
    assert instance.log_text().count("result=gave-room limit=sets_per_sender") == 2


@pytest.mark.main
@pytest.mark.parametrize("expiry", ["hold", "pass"])
def test_expiry(clock, instances, sink, expiry):
    """The clock goes forward two days: the parts leave by themselves."""
    instance = set_up(instances, sink)
    instance.cli("list", "set", instance.address, f"fragment_expiry={expiry}")
    parts = [make_part("x@y", number, 3, b"x\r\n", "poster@example.net", instance.address) for number in (1, 3)]
    for octets in parts:
        instance.lmtp_send(octets, instance.address)
    wait_until(lambda: settled(instance, 2), 30, "both parts to wait")
    (row,) = index(instance)
    assert (row["state"], row["parts"], row["total"]) == ("open", 2, 3)
    fragments = instance.status()["fragments"]
    assert (fragments["open_sets"], fragments["parts"]) == (1, 2) and fragments["octets"] == 6
    assert fragments["oldest"]
    metrics = dict(line.rsplit(" ", 1) for line in instance.cli("metrics").splitlines() if not line.startswith("#"))
    assert [metrics[f"listrunner_fragment_{name}"] for name in ("open_sets", "parts", "octets")] == ["1", "2", "6"]
    assert 0 <= float(metrics["listrunner_fragment_oldest_seconds"]) < 3600
    clock.seconds(2 * 86400 - 600)
    time.sleep(1.5)
    assert settled(instance, 2), "not before the time"
    clock.seconds(2 * 86400 + 1)
    wait_until(lambda: settled(instance), 30, lambda: f"{defragmenting(instance)}")
    held = instance.rows("held", "ls")
    delivered = [t for t in sink.transactions() if t.to == [MEMBER]]
    if expiry == "hold":
        assert len(held) == 2 and not delivered
        assert all("did not come in time" in row["reason"] for row in held)
    else:
        assert not held and len(delivered) == 2
        assert all(b"message/partial" in t.octets for t in delivered)


def test_operator(instances, sink):
    """listrunner fragments: ls, show, release, drop."""
    instance = set_up(instances, sink)
    for name in "ab":
        for number in (1, 2):
            octets = make_part(f"{name}@y", number, 3, b"octets\r\n", "poster@example.net", instance.address)
            instance.lmtp_send(octets, instance.address)
    wait_until(lambda: settled(instance, 4), 30, "four parts to wait")
    rows = {row["id"]: row for row in index(instance)}
    assert sorted(rows) == ["a@y", "b@y"]
    shown = instance.cli("fragments", "show", rows["a@y"]["set"])
    assert "a@y" in shown and "poster@example.net" in shown and re.search(r"missing.*3", shown)
    assert json.loads(instance.cli("fragments", "show", "--json", rows["a@y"]["set"]))["parts"][0]["number"] == 1
    instance.cli("fragments", "release", rows["a@y"]["set"])
    instance.cli("fragments", "drop", rows["b@y"]["set"])
    wait_until(lambda: settled(instance), 30, lambda: f"{defragmenting(instance)}")
    assert sorted(t.message_id for t in sink.transactions()) == ["<1.a@y>", "<2.a@y>"]
    assert index(instance) == []
    assert {row["state"] for row in map(json.loads, instance.cli("fragments", "ls", "--all", "--json").splitlines())} \
        == {"released", "dropped"}
    again = instance.run("fragments", "release", rows["b@y"]["set"])
    assert again.returncode != 0 and "dropped" in again.stderr


def test_two_hosts(instances, sink, tmp_path):
    """Parts come to either of two hosts that share the store; each set is joined where it began."""
    first = instances(sink.port)
    second = instances(sink.port)
    let_through(tmp_path)
    authority = Authority(tmp_path / "authority")
    for instance, name in ((first, "one.example.com"), (second, "two.example.com")):
        both = authority.certify(name)
        key = instance.directory / "host.key"
        write_secret(key, both.with_suffix(".key").read_text())
        door = f"127.0.0.1:{free_port()}"
        instance.set({"site": {"hostname": name}, "store": first.sections["store"], "defragment": PLENTY,
                      "runner.host": {"start": "yes"}, "runner.door": {"listen": door},
                      "host": {"lease": "10s", "certificate_file": both.with_suffix(".crt"), "key_file": key,
                               "authority_file": authority.file, "address": door}})
        instance.start()
        instance.address = f"test@{HOST}"
    first.create_list("test", [MEMBER], settings=["defragment=on", "subject_prefix="])
    mails = whole_mails(20, seed=6)
    dice = random.Random(8)
    parts = [part for number, mail in enumerate(mails)
             for part in fragment(mail.octets, f"h{number}@cut.example", dice.randint(2, 10), "poster@example.net",
                                  first.address, dice)]
    dice.shuffle(parts)
    for octets in parts:
        send(dice.choice((first, second)), octets)
    wait_until(lambda: settled(first) and settled(second), 90,
               lambda: f"{len(defragmenting(first))} and {len(defragmenting(second))} parts left")
    assert_same(sink, mails)
    logs = first.log_text(), second.log_text()
    assert all("result=handed-over" in log and "result=joined" in log for log in logs)
    # one host is away: its sets' parts wait here, nothing hangs, others are joined
    head = b"Subject: late\r\nMessage-ID: <late@y>\r\n\r\nx\r\n"
    late = make_part("late@y", 1, 2, head, "a@x.example", first.address)
    send(first, late)
    wait_until(lambda: settled(first, 1), 30, "the part to wait")
    first.stop()
    send(second, make_part("late@y", 2, 2, b"y\r\n", "a@x.example", first.address))
    send(second, make_part("own@y", 1, 1, b"Subject: own\r\nMessage-ID: <own@y>\r\n\r\nx\r\n", "a@x.example",
                           first.address))
    wait_until(lambda: "<own@y>" in {t.message_id for t in sink.transactions()}, 30, "the other message")
    wait_until(lambda: any(second.files("handover").values()), 30, "the part to wait for the host")
    first.start()
    wait_until(lambda: "<late@y>" in {t.message_id for t in sink.transactions()}, 60,
               lambda: f"{defragmenting(first)} and {second.files('handover')}")
    wait_until(lambda: settled(first) and settled(second), 30, "the parts to be gone")


@pytest.mark.sqlite
def test_index_out_of_reach(instances, sink):
    """Without the store the door says 451, parts that are there wait, and all goes on when it is back."""
    instance = set_up(instances, sink)
    parts = [make_part("x@y", number, 3, octets, "poster@example.net", instance.address)
             for number, octets in ((1, b"Subject: x\r\nMessage-ID: <whole@y>\r\n\r\none\r\n"), (2, b"two\r\n"),
                                    (3, b"three\r\n"))]
    send(instance, parts[0])
    wait_until(lambda: settled(instance, 1), 30, "the part to wait")
    instance.stop()
    database = instance.directory / "lib" / "listrunner.db"
    kept = {path: path.rename(path.with_name(f"kept-{path.name}")) for path in database.parent.glob("listrunner.db*")}
    database.mkdir()
    instance.start(wait=False)
    wait_until(lambda: instance.pids("lmtp"), 20, "the door")

    def refused():
        try:
            instance.lmtp_send(parts[1], instance.address)
        except smtplib.SMTPRecipientsRefused as refusal:
            return next(iter(refusal.recipients.values()))[0]
        except OSError:
            return None
    assert wait_until(refused, 20, "an answer") == 451
    assert len(defragmenting(instance)) == 1
    database.rmdir()
    for path, aside in kept.items():
        aside.rename(path)
    instance.wait_ready()

    def taken(octets):
        """As an MTA does: again, when the door starts anew in the middle because the database is there."""
        try:
            return instance.lmtp_send(octets, instance.address) == {}
        except (smtplib.SMTPException, OSError):
            return False
    for octets in parts[1:]:
        wait_until(lambda part=octets: taken(part), 60, "the door to take it")
    wait_until(lambda: settled(instance), 60, lambda: f"{defragmenting(instance)}\n{instance.log_text()[-2000:]}")
    (copy,) = sink.transactions()
    assert split_head(copy.octets)[1] == b"one\r\ntwo\r\nthree\r\n"


@pytest.mark.sqlite
def test_locked_index(instances, sink):
    """Somebody holds the store longer than anybody waits for it: parts are deferred, nothing is lost."""
    instance = set_up(instances, sink)
    lock = sqlite3.connect(instance.directory / "lib" / "listrunner.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    for number, octets in ((1, b"Subject: x\r\nMessage-ID: <whole@y>\r\n\r\none\r\n"), (2, b"two\r\n")):
        part = make_part("x@y", number, 2, octets, "poster@example.net", instance.address)
        instance.lmtp_send(part, instance.address)
    wait_until(lambda: "result=later" in instance.log_text(), 30, "the parts to be put back")
    assert len(defragmenting(instance)) == 2
    lock.rollback()
    lock.close()
    wait_until(lambda: settled(instance) and sink.transactions(), 30, lambda: f"{defragmenting(instance)}")


def test_flood(clock, instances, sink):
    """First parts of messages that never become complete: limits hold, other mail flows, nothing stays for ever."""
    instance = set_up(instances, sink, sets_per_host=50)
    instance.cli("list", "set", instance.address, "respond_to_post_requests=no", "admin_immed_notify=no")
    other = instance.create_list("other", ["other@members.example.org"])
    codes = []

    def flood(session):
        with instance.lmtp() as client:
            for number in range(100):
                octets = make_part(f"{session}.{number}@x", 1, 2, b"x\r\n", "p@x.example", instance.address)
                try:
                    client.sendmail(f"f{session}.{number}@x.example", [instance.address], octets)
                    codes.append(250)
                except smtplib.SMTPDataError as refusal:
                    codes.append(refusal.smtp_code)
    threads = [threading.Thread(target=flood, args=(session,)) for session in range(4)]
    for thread in threads:
        thread.start()
    posts = 0
    while any(thread.is_alive() for thread in threads):
        instance.lmtp_send(f"Message-ID: <post{posts}@x>\r\nSubject: {posts}\r\n\r\nx\r\n".encode(), other)
        posts += 1
        assert len(index(instance)) <= 50
        time.sleep(0.1)
    assert codes == [250] * 400
    wait_until(lambda: len(sink.transactions()) == posts, 30, "the other list's mail")
    wait_until(lambda: settled(instance, 50), 60, lambda: f"{len(defragmenting(instance))} wait")
    assert len(index(instance)) == 50
    clock.seconds(2 * 86400 + 60)
    wait_until(lambda: settled(instance), 60, lambda: f"{len(defragmenting(instance))} left")
    assert len(instance.cli("held", "ls", "--names").splitlines()) == 400
    assert index(instance) == []


@pytest.mark.main
def test_list_removed_while_parts_wait(instances, sink):
    """Its parts come to shunt at once, and say why."""
    instance = set_up(instances, sink)
    for number in (1, 2):
        instance.lmtp_send(make_part("gone@x", number, 3, b"x\r\n", "p@x.example", instance.address), instance.address)
    wait_until(lambda: [row["parts"] for row in index(instance)] == [2], 10, "both parts in the index")
    said = instance.cli("list", "remove", "--yes", instance.address)
    assert "2 parts of 1 incomplete message for it" in said
    wait_until(lambda: len(instance.files("shunt")["shunt"]) == 2, 10, "the parts in shunt")
    wait_until(lambda: settled(instance), 10, "the queue to be empty")
    rows = instance.rows("shunt", "ls")
    list_id = instance.address.replace("@", ".")
    assert len(rows) == 2 and all(f"no list {list_id}" in row["reason"] for row in rows), rows

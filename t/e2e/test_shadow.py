# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""listrunner shadow reports what it would have done otherwise than the list server that is live, and does nothing
else."""
import hashlib
import json
import os
import re
import smtplib

import pytest

from support import exim, mailman3_core, postfix as postfix_server
from support.corpus import TOP
from support.instance import HOST, need, tool, wait_until
from support.ports import free_port
from support.post import post
from support.shadow import Shadow
from support.sink import Sink

TALK, NEWS = f"talk@{HOST}", f"news@{HOST}"
MEMBERS = ["anne@example.org", "bart@example.net", "Cleo@Example.net"]
FOOTER = "To leave, write to talk-leave@lists.example.com\n"


@pytest.fixture
def instance(instances):
    """Two lists, and nothing that runs."""
    made = instances(1)
    made.set({"archiver.mbox": None, "archiver.maildir": None})
    made.create_list("talk", MEMBERS, settings=["subject_prefix=[Talk] ", f"msg_footer={FOOTER}"])
    made.create_list("news", ["anne@example.org", "dora@example.com"],
                     settings=["subject_prefix=[News] ", "default_nonmember_action=hold"])
    return made


@pytest.fixture
def shadows(instance, until_end):
    return lambda *options: until_end(Shadow(instance, *options)).start()


@pytest.fixture
def shadow(shadows):
    return shadows()


def copy_of(octets, name, prefix=None, footer=None):
    """The copy of a post as the live server makes it for a list."""
    head, _, body = octets.partition(b"\r\n\r\n")
    prefix = f"[{name.capitalize()}] " if prefix is None else prefix
    footer = FOOTER if footer is None and name == "talk" else footer or ""
    head = head.replace(b"\r\nSubject: ", b"\r\nSubject: " + prefix.encode())
    address, host = f"{name}@{HOST}", f"{name}.{HOST}"
    fields = ["X-Mailman-Version: 3.3.8", "Precedence: list", f"List-Id: <{host}>",
              f"List-Help: <mailto:{name}-request@{HOST}?subject=help>", f"List-Owner: <mailto:{name}-owner@{HOST}>",
              f"List-Post: <mailto:{address}>", f"List-Subscribe: <mailto:{name}-join@{HOST}>",
              f"List-Unsubscribe: <mailto:{name}-leave@{HOST}>", "Received: by live.example"]
    return head + b"\r\n" + "\r\n".join(fields).encode() + b"\r\n\r\n" + body + footer.replace("\n", "\r\n").encode()


def bounces(name, member=None):
    return f"{name}-bounces{'+' + member.replace('@', '=') if member else ''}@{HOST}"


def letter(name, to, inside, subject="Request to mailing list rejected", confirm=False):
    parts = ["Content-Type: text/plain\n\nAbout your post.\n",
             "Content-Type: message/rfc822\n\n" + inside.decode().replace("\r\n", "\n")]
    if confirm:
        parts.append("Content-Type: message/rfc822\n\nSubject: confirm 8f2a\nFrom: x@example.com\n\nDecide.\n")
    return post(f"{name}-owner@{HOST}", subject, "".join(f"--cut\n{part}\n" for part in parts) + "--cut--\n",
                ["MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=cut", f"List-Id: <{name}.{HOST}>"],
                to=to)


def by_subject(lines):
    return {line["subject"]: line for line in lines}


def live_post(shadow, subject, *, name="talk", sender="anne@example.org", to=MEMBERS, **changes):
    """A post, and its copies in one batch."""
    octets = post(sender, subject, to=f"{name}@{HOST}")
    shadow.send(octets, [f"{name}@{HOST}"], sender)
    if to:
        shadow.send(copy_of(octets, name, **changes), to, bounces(name))
    return octets


def test_an_anonymous_list(shadow, instance):
    """Mailman gives the copies ids of their own, so they are found by their date."""
    instance.cli("list", "set", TALK, "anonymous_list=yes", "filter_content=yes")
    for number, subject in enumerate(("equal", "other prefix", "no copies", "held there")):
        octets = post("anne@example.org", subject, to=TALK).replace(b"13:20:00", b"13:20:0%d" % number)
        shadow.send(octets, [TALK], "anne@example.org")
        copy = copy_of(octets, "talk", prefix="[talk] " if number == 1 else None)
        copy = re.sub(rb"(?m)^Message-ID: .*$", b"Message-ID: <%d@live.example>\r" % number, copy)
        copy = re.sub(rb"(?m)^From: .*$", f"From: Talk <{TALK}>\r\nReply-To: {TALK}\r".encode(), copy)
        copy = b"X-Content-Filtered-By: Mailman/MimeDel 3.3.8\r\n" + copy.replace(b" 13:20:0", b"\r\n 13:20:0")
        if number < 2:
            shadow.send(copy, MEMBERS, bounces("talk"))
        if number == 3:
            shadow.send(letter("talk", f"talk-owner@{HOST}", octets, confirm=True), [f"talk-owner@{HOST}"],
                        bounces("talk"))
    lines = by_subject(shadow.pass_hour())
    assert {subject: line["differs"] for subject, line in lines.items()} == {
        "equal": [], "other prefix": ["header"], "no copies": ["decision"], "held there": ["decision"]}, lines
    assert lines["held there"]["decision"]["live"] == "held"
    assert [one["field"] for one in lines["other prefix"]["header"]] == ["subject"]


def test_what_is_equal_and_what_differs(shadow, instance):
    live_post(shadow, "equal")
    live_post(shadow, "equal news", name="news", to=["dora@example.com", "anne@example.org"])
    live_post(shadow, "held there", to=[])
    live_post(shadow, "held in both", name="news", sender="stranger@example.org", to=[])
    live_post(shadow, "held here", name="news", sender="stranger@example.org", to=["dora@example.com"])
    live_post(shadow, "one more", to=[*MEMBERS, "dora@example.com"])
    live_post(shadow, "one less", to=MEMBERS[1:])
    live_post(shadow, "prefix", prefix="[talk] ")
    live_post(shadow, "footer", footer="Leave: nowhere\n")
    # Copies of each member, one of them before the post.
    octets = post("bart@example.net", "verp", to=TALK)
    shadow.send(copy_of(octets, "talk"), ["anne@example.org"], bounces("talk", "anne@example.org"))
    shadow.send(octets, [TALK], "bart@example.net")
    for member in MEMBERS[1:]:
        shadow.send(copy_of(octets, "talk"), [member.lower()], bounces("talk", member))
    # Mail that is no post of a list of ours.
    shadow.send(post(to=f"other@{HOST}", subject="foreign"), [f"other@{HOST}"], "poster@example.net")
    shadow.send(copy_of(post(subject="foreign"), "other"), MEMBERS, bounces("other"))
    shadow.send(post(subject="owner"), [f"talk-owner@{HOST}"], "poster@example.net")
    shadow.send(post(subject="private", to="bart@example.net"), ["bart@example.net"], "poster@example.net")
    shadow.send(copy_of(post(subject="no post"), "talk"), MEMBERS, bounces("talk"))
    assert shadow.lines() == []  # an hour has not passed
    lines = by_subject(shadow.pass_hour())
    differs = {subject: line.get("differs") for subject, line in lines.items()}
    assert differs == {"equal": [], "equal news": [], "held there": ["decision"], "held in both": [],
                       "held here": ["decision"], "one more": ["recipients"], "one less": ["recipients"],
                       "prefix": ["header"], "footer": ["body"], "verp": [], "[Talk] no post": None}, lines
    assert lines["held there"]["decision"] == {"live": "stopped", "ours": "accepted", "reasons": ""}
    assert lines["held here"]["decision"]["ours"] == "held" and lines["held here"]["decision"]["reasons"]
    assert lines["one more"]["recipients"] == {
        "live": 4, "ours": 3, "known": True, "live_only": 1, "live_only_addresses": ["dora@example.com"],
        "ours_only": 0, "ours_only_addresses": []}
    assert lines["one less"]["recipients"]["ours_only_addresses"] == ["anne@example.org"]
    assert lines["prefix"]["header"] == [{"field": "subject", "live": ["[talk] prefix"], "ours": ["[Talk] prefix"]}]
    assert lines["footer"]["body"] == {"part": "1 text/plain", "line": 2, "live": "Leave: nowhere",
                                       "ours": FOOTER.strip()}
    assert lines["[Talk] no post"]["kind"] == "copies" and lines["equal news"]["list"] == f"news.{HOST}"
    done = shadow.summary()
    assert done.returncode == 1
    assert re.search(rf"^news\.{HOST} +3 +2 +1 +0 +0 +0 +0 +0$", done.stdout, re.M), done.stdout
    assert re.search(rf"^talk\.{HOST} +7 +2 +1 +2 +1 +1 +0 +1$", done.stdout, re.M), done.stdout
    assert "posts compared: 10, equal: 4, differing: 6\n" in done.stdout
    assert "field subject differs in 1\n" in done.stdout


def test_summary_of_equal_posts(shadow, instance, tmp_path):
    live_post(shadow, "equal")
    shadow.pass_hour()
    done = shadow.summary()
    assert done.returncode == 0 and "posts compared: 1, equal: 1, differing: 0\n" in done.stdout
    row = json.loads(shadow.summary("--json").stdout)
    assert (row["posts"], row["equal"], row["header"]) == (1, 1, 0)
    for path, says in ((tmp_path / "none", "No such file or directory; the report is what"),
                       (tmp_path / "empty", "is empty: no post was compared")):
        (tmp_path / "empty").touch()
        for more in ((), ("--json",)):
            done = instance.run("shadow", "--summary", path, *more)
            assert (done.returncode, done.stdout) == (66, "") and f"{path}" in done.stderr and says in done.stderr, done
    assert instance.run("shadow").returncode == 64
    assert instance.run("shadow", "--lmtp", "nowhere", "--state", instance.spool / "x").returncode == 64


def test_letters_tell_what_the_live_server_decided(shadow, instance):
    instance.cli("list", "set", TALK, "default_nonmember_action=reject")
    for subject, confirm, to in (("rejected", False, "stranger@example.org"), ("held", True, f"talk-owner@{HOST}")):
        octets = live_post(shadow, subject, sender="stranger@example.org", to=[])
        shadow.send(letter("talk", to, octets, confirm=confirm), [to], bounces("talk"))
    # Held, and let pass by a moderator within the time.
    octets = live_post(shadow, "released", name="news", sender="stranger@example.org", to=[])
    shadow.send(letter("news", f"news-owner@{HOST}", octets, confirm=True), [f"news-owner@{HOST}"], "site@example.com")
    shadow.send(copy_of(octets, "news"), ["dora@example.com", "anne@example.org"], bounces("news"))
    # A digest has posts within it, and is no letter about one.
    octets = live_post(shadow, "in a digest", to=[])
    digest = post(f"talk-request@{HOST}", "Talk Digest, Vol 1",
                  "--cut\nContent-Type: multipart/digest; boundary=in\n\n--in\nContent-Type: message/rfc822\n\n" +
                  octets.decode().replace("\r\n", "\n") + "\n--in--\n--cut--\n",
                  ["MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=cut", f"List-Id: <talk.{HOST}>"])
    shadow.send(digest, ["dora@example.com"], bounces("talk"))
    lines = by_subject(shadow.pass_hour())
    decisions = {subject: (line["decision"]["live"], line["decision"]["ours"], line["differs"])
                 for subject, line in lines.items()}
    assert decisions == {"rejected": ("rejected", "rejected", []), "held": ("held", "rejected", ["decision"]),
                         "released": ("held", "held", []), "in a digest": ("stopped", "accepted", ["decision"])}


def packed(address):
    return f"shadow+{address.replace('@', '=')}@shadow.invalid"


def test_recipients_in_the_address_of_the_copy(shadows):
    """As recipient_bcc_maps of Postfix makes it."""
    shadow = shadows("--bcc", "shadow@shadow.invalid")
    octets = post("anne@example.org", "packed", to=TALK)
    shadow.send(octets, [packed(TALK)], "anne@example.org")
    shadow.send(copy_of(octets, "talk"), [packed(member) for member in MEMBERS[:2]], bounces("talk"))
    line, = shadow.pass_hour()
    assert line["recipients"]["ours_only_addresses"] == [MEMBERS[2]] and line["recipients"]["live"] == 2
    assert line["differs"] == ["recipients"]


def test_copies_whose_recipients_are_not_known(shadows):
    """As always_bcc makes it: fields name the list, and VERP the members."""
    shadow = shadows("--bcc", "shadow@example.com")
    octets = {name: post("anne@example.org", name, to=TALK) for name in ("batch", "wrong", "verp")}
    for subject in octets:
        shadow.send(octets[subject], ["shadow@example.com"], "anne@example.org")
    for subject, footer in (("batch", None), ("wrong", "Else\n")):
        shadow.send(copy_of(octets[subject], "talk", footer=footer), ["shadow@example.com"], bounces("talk"))
    for member in MEMBERS[1:]:
        shadow.send(copy_of(octets["verp"], "talk"), ["shadow@example.com"], bounces("talk", member))
    lines = by_subject(shadow.pass_hour())
    assert {subject: line["differs"] for subject, line in lines.items()} == \
        {"batch": [], "wrong": ["body"], "verp": ["recipients"]}
    assert not lines["batch"]["recipients"]["known"] and lines["verp"]["recipients"]["known"]
    assert lines["verp"]["recipients"]["ours_only_addresses"] == ["anne@example.org"]


def test_fields_that_are_not_to_be_compared(shadows):
    shadow = shadows("--ignore", "Subject")
    live_post(shadow, "other", prefix="[t] ")
    line, = shadow.pass_hour()
    assert line["differs"] == [] and line["header"] == []


def test_killed_in_between(shadow, instance):
    """All that came before is there after, each post is reported once, and a line that was cut off is written again."""
    live_post(shadow, "first")
    octets = live_post(shadow, "second", to=MEMBERS[:1])
    shadow.kill()
    shadow.start()
    shadow.send(copy_of(octets, "talk"), MEMBERS[1:], bounces("talk"))
    live_post(shadow, "third", prefix="x")
    assert [line["differs"] for line in shadow.pass_hour()] == [[], [], ["header"]]
    # The process died when the line was in the report in part, or as a whole, and nothing else was done.
    for cut in (20, 0):
        shadow.stop()
        whole = shadow.report.read_bytes()
        last = whole.splitlines()[-1]
        key = hashlib.sha1(f"talk.{HOST}\n{json.loads(last)['message_id']}".encode()).hexdigest()
        (shadow.state / f"{key}.done").unlink()
        (shadow.state / f"{key}.line").write_bytes(last)
        (shadow.state / f"{key}.post").write_bytes(b'{"arrival":1}\nx')
        for path in shadow.state.glob(f"{key}.*"):
            instance.own(path)
        shadow.report.write_bytes(whole[:-cut] if cut else whole)
        shadow.start()
        assert shadow.report.read_bytes() == whole
        assert {path.suffix for path in shadow.state.glob(f"{key}.*")} == {".done"}
    # Mail about it that comes late, and the post once more, change nothing.
    shadow.send(octets, [TALK], "anne@example.org")
    shadow.send(copy_of(octets, "talk"), ["dora@example.com"], bounces("talk"))
    assert shadow.waiting() == 0 and shadow.pass_hour() == []
    assert shadow.stop() == 0


def test_a_post_that_kills_is_set_aside(shadow, instance):
    live_post(shadow, "deadly")
    live_post(shadow, "harmless")
    post_file = next(path for path in shadow.state.glob("*.post") if b"Subject: deadly" in path.read_bytes())
    shadow.stop()
    for mark in (".try1", ".try2"):
        post_file.with_suffix(mark).touch()
        instance.own(post_file.with_suffix(mark))
    shadow.start()
    lines = by_subject(shadow.pass_hour())
    assert lines["deadly"]["kind"] == "skipped" and "died" in lines["deadly"]["why"]
    assert lines["harmless"]["differs"] == []
    assert shadow.summary().returncode == 1


def test_two_on_one_state(shadow, instance):
    other = instance.run("shadow", "--lmtp", "127.0.0.1:0")
    assert other.returncode == 1 and "another process" in other.stderr


def test_nothing_else_is_touched(shadow, instance):
    """Neither the store nor a queue, whatever the rules would write; and the report goes where it is told."""
    def all_rows():
        with instance.database() as database:
            return {name: sorted(map(repr, database.execute(f"SELECT * FROM {name}").fetchall()))
                    for name in ("message_id", "held", "list", "member", "address", "pending")}

    def queues():
        return {path.relative_to(instance.spool): path.stat().st_size for path in instance.spool.rglob("*")
                if path.is_file() and shadow.state not in path.parents}
    before = all_rows(), queues()
    for subject in ("one", "two"):
        live_post(shadow, subject)
    live_post(shadow, "held", name="news", sender="stranger@example.org", to=[])
    assert len(shadow.pass_hour()) == 3
    assert (all_rows(), queues()) == before
    instance.start()  # its spool is sound, and a queue of the name does not appear
    assert "shadow" not in instance.queue_stat()
    assert instance.run("spool", "check").returncode == 0
    assert instance.stop() == 0


def test_lists_that_changed_meanwhile(shadow, instance):
    """A list is read again when its copy is old; one that is gone is told."""
    live_post(shadow, "before")
    assert shadow.pass_hour()[0]["differs"] == []
    instance.cli("member", "remove", TALK, "bart@example.net")
    live_post(shadow, "after")
    line, = shadow.pass_hour()
    assert line["recipients"]["live_only_addresses"] == ["bart@example.net"]
    live_post(shadow, "gone", name="news", to=[])
    instance.cli("list", "remove", NEWS, "--yes")
    line, = shadow.pass_hour()
    assert line["kind"] == "skipped" and "news" in line["why"]


def nested(depth):
    return "".join(f"--c{at}\nContent-Type: multipart/mixed; boundary=c{at + 1}\n\n" for at in range(depth))


@pytest.mark.parametrize("octets", [
    post("anne@example.org", "huge", "x" * 76 + "\n" + "word " * 4_000_000 + "\n"),
    post("anne@example.org", "deep", nested(20000),
         ["MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=c0"]),
    post("anne@example.org", "fields", extra=[f"X-{at}: {at}" for at in range(50000)]),
    post("anne@example.org", "addresses", extra=["Cc: " + ", ".join(f"a{at}@example.com" for at in range(50000))]),
    post("anne@example.org", "bytes", "\0\1\xff\n", ["Content-Type: text/plain; charset=\"\\\"; boundary=;;;=",
                                                      "X-\x7f: =?utf-8?b?////?="]),
    b"From: anne@example.org\r\nSubject: no id\r\nTo: talk@lists.example.com\r\n\r\nx\r\n",
    b"\r\n",
], ids=lambda octets: (re.search(rb"Subject: (\w+)", octets) or [b"", b"empty"])[1].decode())
def test_hostile_mail(shadow, octets):
    """It is answered and reported, as a post, a copy and a letter, and other posts go on."""
    assert set(shadow.send(octets, [TALK], "anne@example.org")) == {250}
    assert set(shadow.send(copy_of(octets, "talk"), MEMBERS, bounces("talk"))) == {250}
    wrapped = (f"From: talk-owner@{HOST}\r\nTo: talk-owner@{HOST}\r\nList-Id: x\r\n"
               "Content-Type: message/rfc822\r\n\r\n").encode() + octets
    assert set(shadow.send(wrapped, [f"talk-owner@{HOST}"], bounces("talk"))) == {250}
    live_post(shadow, "harmless")
    lines = by_subject(shadow.pass_hour())
    assert lines["harmless"]["differs"] == [] and len(lines) >= 2
    assert all(len(json.dumps(line)) < 100_000 for line in lines.values())


@pytest.mark.sqlite
def test_without_a_database(shadow, instance):
    """A copy that cannot be judged where it belongs is put off, and taken later."""
    there = instance.sections["store"]["path"]
    os.rename(there, f"{there}.away")
    octets = post("anne@example.org", "later", to=TALK)
    assert set(shadow.send(octets, [TALK], "anne@example.org")) == {250, 451}
    os.rename(f"{there}.away", there)
    shadow.send(octets, [TALK], "anne@example.org")
    shadow.send(copy_of(octets, "talk"), MEMBERS, bounces("talk"))
    assert [line["differs"] for line in shadow.pass_hour()] == [[]]


# ---- a real Postfix ----

@pytest.fixture
def postfix(tmp_path, sinks, until_end):
    """Makes one with the maps of doc/shadow.md; what is not for the shadow goes to a sink."""
    need(postfix_server.missing())

    def make(route):
        sink = sinks()
        server = postfix_server.Postfix("live", {"default_transport": f"smtp:[127.0.0.1]:{sink.port}",
                                                 "transport_maps": f"inline:{{ {{ shadow.invalid = {route} }} }}"})
        until_end(server)
        bcc = server.config / "shadow"
        page = (TOP / "doc" / "shadow.md").read_text()
        bcc.write_text(re.sub("^ +", "", re.search(r"# /etc/postfix/shadow\n((?:    .*\n)+)", page)[1], flags=re.M))
        with open(server.config / "main.cf", "a") as main:
            main.write(f"recipient_bcc_maps = regexp:{bcc}\n")
        server.sink = sink
        return server.start()
    return make


def hand_in(server, octets, recipients, sender):
    with smtplib.SMTP("127.0.0.1", server.port, timeout=60) as client:
        client.sendmail(sender, recipients, octets)


def test_postfix_makes_the_copies(shadows, postfix):
    shadow = shadows("--bcc", "shadow@shadow.invalid")
    server = postfix(f"lmtp:[127.0.0.1]:{shadow.port}")
    octets = {subject: post("anne@example.org", subject, to=TALK) for subject in ("all", "one less")}
    for subject, to in (("all", MEMBERS), ("one less", MEMBERS[1:])):
        hand_in(server, octets[subject], [TALK], "anne@example.org")
        hand_in(server, copy_of(octets[subject], "talk"), to, bounces("talk"))
    hand_in(server, post(to="x@example.com", subject="private"), ["x@example.com"], "anne@example.org")
    wait_until(server.empty, 60, server.log_text)
    lines = by_subject(shadow.pass_hour())
    assert {subject: line["differs"] for subject, line in lines.items()} == {"all": [], "one less": ["recipients"]}, \
        json.dumps(lines, indent=1)
    assert lines["one less"]["recipients"]["ours_only_addresses"] == [MEMBERS[0]]
    assert sum(len(sent.to) for sent in server.sink.transactions()) == 2 + 3 + 2 + 1


def test_no_sender_hears_of_a_shadow_that_refuses(postfix):
    server = postfix("error:there is no shadow")
    octets = post("anne@example.org", "unseen", to=TALK)
    hand_in(server, octets, [TALK], "anne@example.org")
    hand_in(server, copy_of(octets, "talk"), MEMBERS, bounces("talk"))
    wait_until(server.empty, 60, server.log_text)
    assert {sent.sender for sent in server.sink.transactions()} == {"anne@example.org", bounces("talk")}


# ---- a real Exim ----

@pytest.fixture
def exims(sink, until_end):
    """Makes one with the lines of doc/shadow.md; a mail that cannot be delivered at once comes back at once."""
    need(exim.missing())

    def make(port):
        page = (TOP / "doc" / "shadow.md").read_text()
        router, transport = (re.search(rf"^    # {place}\n((?:    .*\n)+)", page, re.M)[1].replace("8034", str(port))
                             for place in ("the first of the routers", "among the transports"))
        server = until_end(exim.Server())
        server.configure(f"""tls_advertise_hosts =
acl_smtp_rcpt = all
recipients_max = 0
begin acl
all:
  accept
begin routers
{router}
others:
  driver = manualroute
  transport = relay
  route_list = * 127.0.0.1
  self = send
begin transports
{transport}
relay:
  driver = smtp
  port = {sink.port}
  allow_localhost
begin retry
""")
        return server.start()
    return make


def has_sent(server):
    return not list((server.top / "spool" / "input").rglob("*-H"))


def test_exim_makes_the_copies(shadow, exims, sink):
    server = exims(shadow.port)
    octets = {subject: post("anne@example.org", subject, to=TALK) for subject in ("all", "one less")}
    for subject, to in (("all", MEMBERS), ("one less", MEMBERS[1:])):
        hand_in(server, octets[subject], [TALK], "anne@example.org")
        hand_in(server, copy_of(octets[subject], "talk"), to, bounces("talk"))
    wait_until(lambda: has_sent(server), 60, server.log_text)
    lines = by_subject(shadow.pass_hour())
    assert {subject: line["differs"] for subject, line in lines.items()} == \
        {"all": [], "one less": ["recipients"]}, server.log_text()
    assert sum(len(sent.to) for sent in sink.transactions()) == 2 + 3 + 2


def test_no_sender_hears_from_exim_of_a_shadow_that_is_down(exims, sink):
    server = exims(free_port())
    octets = post("anne@example.org", "unseen", to=TALK)
    hand_in(server, octets, [TALK], "anne@example.org")
    hand_in(server, copy_of(octets, "talk"), MEMBERS, bounces("talk"))
    wait_until(lambda: has_sent(server) and len(sink.transactions()) >= 2, 60, server.log_text)
    assert "shadow_lmtp" in server.log_text()
    assert {sent.sender for sent in sink.transactions()} == {"anne@example.org", bounces("talk")}, server.log_text()


# ---- a real Mailman ----

PARTS = ["MIME-Version: 1.0", "Content-Type: multipart/alternative; boundary=cut"]
TEXTS = "--cut\nContent-Type: text/plain\n\nSee below.\n--cut\nContent-Type: text/html\n\n<b>x</b>\n--cut--\n"
FILES = ("--cut\nContent-Type: text/plain\n\nSee the file.\n--cut\nContent-Type: image/png; name=cat.png\n"
         "Content-Disposition: attachment; filename=cat.png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n"
         "--cut--\n")
UTF8 = ["MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit"]


def kinds_of_posts(name):
    """(sender, post): ten of them for one list."""
    to, anne, stranger = f"{name}@{HOST}", "anne@example.org", "stranger@example.org"
    return [(sender, post(sender, f"{subject} {name}", body, extra, to=to)) for sender, subject, body, extra in (
        (anne, "plain", "It rains.\n", []),
        (anne, "=?utf-8?q?K=C3=A4se?=", "Käse\n", UTF8),
        (anne, "texts", TEXTS, PARTS),
        (anne, "file", FILES, ["MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=cut"]),
        (f"{name}1@example.net", "Re: answer", "> It rains.\nYes.\n", ["In-Reply-To: <x@example.net>",
                                                                      "References: <x@example.net>"]),
        (stranger, "stranger", "Buy.\n", []),
        (anne, "folded field", "x\n", ["X-Long: one\r\n two\r\n three", "Cc: somebody@example.com"]),
        (anne, "", "No subject.\n", []),
        (anne, "large", "0123456789\n" * 5000, []),
        (f"{name}2@example.net", "moderated", "x\n", []))]


def fill(core):
    client = core.client()
    domain = client.create_domain(HOST)
    known = {"pre_verified": True, "pre_confirmed": True, "pre_approved": True, "send_welcome_message": False}
    for name in ("talk", "news"):
        made = domain.create_list(name)
        for number in range(5):
            made.subscribe(f"{name}{number}@example.net", **known)
        made.subscribe("anne@example.org", **known)
        made.add_owner("olga@example.com")
        settings = made.settings
        if name == "news":  # each member has a copy and an envelope sender of their own
            settings.update({"reply_goes_to_list": "point_to_list", "personalize": "full"})
        settings.save()
        member = made.get_member(f"{name}2@example.net")
        member.moderation_action = "hold"
        member.save()
    wait_until(lambda: not core.waiting(), 60, "Mailman to be idle")


class Live:
    """Mailman and its MTA, which copies all mail to the shadow."""

    def __init__(self, core, sink, shadow):
        self.core, self.sink, self.shadow = core, sink, shadow

    def send(self, posts):
        self.sink.purge()
        for name, sender, octets in posts:
            self.core.send(octets, f"{name}@{HOST}", sender)
            self.shadow.send(octets, [f"{name}@{HOST}"], sender)
        wait_until(self.idle, 120, "Mailman to have sent all", step=0.5)
        for sent in self.sink.transactions():
            self.shadow.send(sent.octets, sent.to, sent.sender)

    def idle(self):
        """Mail goes from queue to queue in the order in which they are looked at, and is in one at any time."""
        return not self.core.waiting() and not list(self.core.top.glob("var/queue/out/*.[pb]*"))


@pytest.mark.proof
@pytest.mark.skipif(mailman3_core.missing() is not None, reason=str(mailman3_core.missing()))
def test_beside_a_real_mailman(instances, tmp_path, until_end):
    core = until_end(mailman3_core.Core(started=("out",)))
    sink = until_end(Sink(tool("smtp-sink"), directory=tmp_path / "live", port=core.smtp))
    instance = instances(1)
    instance.set({"archiver.mbox": None, "archiver.maildir": None})
    instance.create_store()
    shadow = until_end(Shadow(instance, "--ignore", "X-Mailman-Copy"))  # Mailman has no "no" in it
    fill(core.start())
    instance.cli("import", "mailman3", "--site", "--db", core.top / "var/data/mailman.db", "--var",
                 core.top / "var")
    live = Live(core, sink, shadow.start())
    live.send((name, *one) for name in ("talk", "news") for one in kinds_of_posts(name))
    lines = shadow.pass_hour()
    assert len(lines) == 20
    assert not [line for line in lines if line["differs"]], json.dumps(lines, indent=1)
    decisions = sorted(line["decision"]["live"] for line in lines)
    assert decisions == ["accepted"] * 14 + ["held"] * 6, lines
    assert shadow.summary().returncode == 0
    # Settings that differ here are found, and nothing else.
    instance.cli("member", "remove", TALK, "talk3@example.net")
    instance.cli("list", "set", NEWS, "subject_prefix=[N] ", "msg_footer=Bye.")
    live.send([("talk", *kinds_of_posts("talk")[0]), ("news", *kinds_of_posts("news")[0])])
    talk, news = sorted(shadow.pass_hour(), key=lambda line: line["list"], reverse=True)
    assert talk["differs"] == ["recipients"], talk
    assert talk["recipients"]["live_only_addresses"] == ["talk3@example.net"]
    assert news["differs"] == ["header", "body"], news
    assert [row["field"] for row in news["header"]] == ["subject"] and news["body"]["ours"] == "Bye."
    assert shadow.summary().returncode == 1

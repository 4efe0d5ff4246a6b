# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mail made to stop a host (support/hostile.py) goes to every runner, to REST and to the command line. No process dies
or works long, nothing is set aside, and what comes behind arrives. All mails go to a list that posts, and each to one
more place, or to every place with LISTRUNNER_EXHAUSTIVE."""
import http.server
import json
import os
import re
import resource
import smtplib
import threading

import pytest

from support import hostile, rest
from support.dns import Dns
from support.fragments import fragment
from support.instance import HOST, Instance, tool, wait_until, write_secret
from support.news_server import NewsServer
from support.post import post
from support.rest import Rest
from support.sink import Sink
from test_arc import RSA, Key
from test_bounces import report, signed, standing

pytestmark = pytest.mark.xdist_group("hostile")  # one instance; most is found in the order of this file

MEMBER, PLAIN, MIME, OLGA = "m@members.example.org", "plain@members.example.org", "mime@members.example.org", \
    "olga@owners.example.org"
GROUP = "local.test"
SECONDS = 0.4  # of processor time that one process may take for one mail, on average over a batch
BATCH = 25     # mails
COMMAND_SECONDS = 10  # of processor time that one command may take
EXHAUSTIVE = bool(os.environ.get("LISTRUNNER_EXHAUSTIVE"))
MAILS = list(enumerate(hostile.all_of_them()))


def processor_seconds(pid):
    words = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Receiver(http.server.BaseHTTPRequestHandler):
    """A hook that takes everything."""
    taken = []

    def do_POST(self):
        self.taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words):
        pass


class Site:
    """An instance whose runners all work, and what is around it."""

    def __init__(self, instance, sink, news):
        self.instance, self.sink, self.news, self.client = instance, sink, news, None
        self.refused, self.used, self.filled = [], {}, set()
        self.most_of_command = 0

    def processes(self):
        return {child["pid"]: group["runner"] for group in self.instance.status()["runners"]
                for child in group["children"]}

    def begin(self):
        self.before = self.processes()
        self.spent = {pid: processor_seconds(pid) for pid in self.before}

    def send(self, octets, to, sender):
        """One that is refused for good is noted; that is an end for it, too."""
        try:
            self.client = self.client or self.instance.lmtp()
            self.instance.lmtp_send(octets, to, sender=sender, client=self.client)
        except (smtplib.SMTPDataError, smtplib.SMTPRecipientsRefused) as refusal:
            code = refusal.smtp_code if hasattr(refusal, "smtp_code") else next(iter(refusal.recipients.values()))[0]
            assert 500 <= code < 600, refusal
            self.refused.append((re.search(rb"X-Case: (\d+)", octets)[1].decode(), refusal))

    def hang_up(self):
        """Before a reload, which starts the runner lmtp anew."""
        if self.client:
            self.client.close()
            self.client = None

    def command(self, *words, input=None, text=True):
        """A command that ends by itself, within its processor time, and not by a signal; its output."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.instance.run(*words, input=input if text else b"")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
        self.most_of_command = max(used, self.most_of_command)
        assert used < COMMAND_SECONDS, (words, used)
        assert 0 <= done.returncode < 64, (words, done.returncode, done.stderr[-500:])
        return done

    def end_of_batch(self, names, count=BATCH):
        """Nothing moves; what every process has done for the batch is within the bound, and all of them live."""
        self.instance.wait_idle(120)
        log = self.instance.log_text()
        assert "died" not in log, (re.findall(".*died.*", log)[:5], names)
        assert self.processes() == self.before, names
        for pid, runner in self.before.items():
            now = processor_seconds(pid)
            used = now - self.spent[pid]
            self.spent[pid] = now
            self.used[runner] = max(used, self.used.get(runner, 0))
            assert used < SECONDS * max(count, BATCH), (runner, used, names)
        assert self.instance.set_aside() == [], names


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    directory = tmp_path_factory.mktemp("hostile")
    sink = Sink(tool("smtp-sink"), directory=directory / "sink", options=["--without", "8BITMIME"])
    news = NewsServer({GROUP: {}})
    names = Dns({"example.net": '_dmarc IN TXT "v=DMARC1; p=reject"\n'}).start()
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    instance = Instance(sink.port, directory=directory / "site")
    write_secret(directory / "secret", "a secret of thirty octets or so\n")
    key = Key(instance.directory / "key.pem", *RSA)
    instance.own(key.path)
    instance.set({"site": {"held_notice_interval": "0", "max_autoresponses_per_day": "0"},
                  "runner.nntp": {"start": "yes"}, "runner.hooks": {"start": "yes"},
                  "nntp": {"host": "127.0.0.1", "port": news.port, "poll_interval": "1s"},
                  "hook.all": {"url": f"http://127.0.0.1:{hook.server_address[1]}/", "secret_file":
                               directory / "secret"},
                  "bounces": {"check_interval": "100ms"}, "defragment": {"sets_per_sender": 100000, "sets_per_list":
                                                                         100000, "sets_per_host": 100000},
                  "dns": {"servers": names.server, "timeout": "20s"},
                  "authentication": {"authserv_id": HOST, "trusted": "mx.test"},
                  "dkim.s": {"domain": HOST, "key_file": key.path, "use": "both"},
                  **rest.serving(directory)})
    rest.let_through(directory)
    try:
        instance.start()
        filtered = ["filter_content=true", "collapse_alternatives=true", "convert_html_to_plaintext=true"]
        instance.create_list("posts", [MEMBER, PLAIN, MIME], settings=[
            *filtered, "digest_size_threshold=0", "msg_footer=the footer\n"])
        instance.cli("member", "set", f"posts@{HOST}", MIME, "--delivery-mode", "mime_digests")
        instance.cli("member", "set", f"posts@{HOST}", PLAIN, "--delivery-mode", "plaintext_digests")
        instance.create_list("raw", [MEMBER], settings=[
            "msg_header=the header\n", "anonymous_list=yes", f"linked_newsgroup={GROUP}", "gateway_to_news=yes"])
        instance.create_list("munged", [MEMBER], settings=["dmarc_mitigate_action=wrap_message",
                                                           "dmarc_mitigate_unconditionally=yes"])
        instance.create_list("held", [MEMBER], owner=OLGA, settings=["default_nonmember_action=hold"])
        instance.create_list("people", [MEMBER], owner=OLGA)
        instance.create_list("back", [MEMBER])
        instance.create_list("parts", [MEMBER], settings=["defragment=on"])
        yield Site(instance, sink, news)
    finally:
        instance.close()
        sink.stop()
        news.close()
        names.stop()
        hook.shutdown()
        hook.server_close()


# ---- the places: how a mail comes there ----

def by_lmtp(local):
    def send(site, number, mail):
        sender = f"poster-{number}@example.net"
        to = f"{local}@{HOST}"
        site.send(mail.octets(number, to, sender), to, sender)
    return send


def to_bounces(site, number, mail):
    """By a signed address, then by none."""
    for to in (signed(site.instance, "back", MEMBER), f"back-bounces@{HOST}"):
        site.send(mail.octets(number, to, "mailer-daemon@example.net"), to, "<>")


def by_inject(site, number, mail):
    done = site.command("inject", f"raw@{HOST}", input=mail.octets(number, f"raw@{HOST}"))
    assert done.returncode == 0, (mail.name, done.stderr)


def by_parse(site, number, mail):
    path = site.instance.directory / "report"
    path.write_bytes(mail.octets(number, f"back-bounces@{HOST}", "mailer-daemon@example.net"))
    site.command("bounce", "parse", path)
    site.command("bounce", "parse", "--json", path)


CONFIRM = f"people-confirm+{'a' * 26}"
PLACES = {"posts": by_lmtp("posts"), "anonymous list": by_lmtp("raw"), "wrapped": by_lmtp("munged"),
          "held": by_lmtp("held"), "request": by_lmtp("people-request"), "join": by_lmtp("people-join"),
          "confirm": by_lmtp(CONFIRM), "leave": by_lmtp("people-leave"), "owner": by_lmtp("people-owner"),
          "bounces": to_bounces, "defragment": by_lmtp("parts"), "inject": by_inject, "bounce parse": by_parse}


def mails_of(place):
    """All, or those whose turn it is here."""
    turns = [name for name in PLACES if name != "posts"]
    return [(number, mail) for number, mail in MAILS
            if EXHAUSTIVE or place == "posts" or turns[number % len(turns)] == place]


def test_queue(site):
    """While the runner in is away, the entries are looked at; then they take their way."""
    instance = site.instance
    site.hang_up()
    instance.set({"runner.in": {"start": "no"}})
    instance.cli("reload")  # before a client has a session, which the runner lmtp would wait for
    wait_until(lambda: not instance.pids("in"), 30, "the runner in to end")
    mails = [(number, mail) for number, mail in MAILS if EXHAUSTIVE or number % 9 == 0]
    for number, mail in mails:
        PLACES["anonymous list"](site, number, mail)
    try:
        names = instance.cli("queue", "ls", "in", "--names").split()
        assert len(names) + len(site.refused) >= len(mails)
        for words in (["ls"], ["ls", "--json"], ["stat"], ["shape"]):
            assert site.command("queue", *words).returncode == 0
        for name in names:
            for words in ([], ["--json"], ["--headers"], ["--body"]):
                assert site.command("queue", "cat", name, *words, text=False).returncode == 0
        assert f"{len(names)} entries are sound" in site.command("spool", "check").stdout
    finally:
        site.hang_up()
        instance.set({"runner.in": {"start": None}})
        instance.cli("reload")
    wait_until(lambda: instance.pids("in"), 30, "the runner in")
    instance.wait_ready()
    site.begin()
    site.end_of_batch(["those that waited"], len(mails))


def fill(site, place):
    """Send the mails of the place there, unless an earlier test has."""
    if place in site.filled:
        return
    site.filled.add(place)
    site.begin()
    mails = mails_of(place)
    for at in range(0, len(mails), BATCH):
        batch = mails[at:at + BATCH]
        for number, mail in batch:
            PLACES[place](site, number, mail)
        site.end_of_batch([mail.name for _, mail in batch])


@pytest.mark.parametrize("place", PLACES)
def test_place(site, place):
    fill(site, place)


def test_held(site):
    """The posts that a moderator is to look at, by the command line and by REST."""
    fill(site, "held")
    site.begin()
    api = Rest(site.instance)
    rows = [json.loads(line) for line in site.command("held", "ls", f"held@{HOST}", "--json").stdout.splitlines()]
    assert len(rows) >= len(mails_of("held")) - 1, "but for the one with too many fields Received"
    assert site.command("held", "ls").returncode == 0
    for row in rows:
        for words in ([], ["--headers"], ["--body"]):
            assert site.command("held", "show", row["number"], *words, text=False).returncode == 0
    entries = api.call("GET", f"lists/held.{HOST}/held").json["entries"]
    assert len(entries) == len(rows)
    for entry in entries:
        one = api.call("GET", f"lists/held.{HOST}/held/{entry['request_id']}")
        assert one.status == 200 and one.json["msg"], entry["request_id"]
    assert api.call("GET", "listrunner/held").status == 200
    letters = [one for one in site.sink.transactions() if OLGA in one.to and b"held-confirm+" in one.octets]
    assert len(letters) >= len(rows)
    site.end_of_batch(["held"], len(rows))
    for row in rows:
        assert site.command("held", "accept", row["number"]).returncode == 0
    site.end_of_batch(["those that were let through"], len(rows))
    cases = {case for one in site.sink.transactions() if one.to == [MEMBER] and one.sender.startswith("held-")
             for case in re.findall(rb"^X-Case: (\d+)", one.octets, re.M)[:1]}
    assert len(cases) == len(rows)


def test_each_post_came_or_is_kept(site):
    """A mail that cannot be read is text. Only the filter of content throws a mail away, and says so: a message in more
    messages than it opens (DECODED_MAX in mail/mime/content_filter.c) may hide a file."""
    fill(site, "posts")
    refused = {int(number) for number, _ in site.refused}
    names = dict(MAILS)
    assert {names[number].name for number in refused} <= {"Received often"}, site.refused
    kept = set()
    for number in site.instance.cli("held", "ls", f"posts@{HOST}", "--names").split():
        kept |= set(re.findall(r"^X-Case: (\d+)", site.instance.cli("held", "show", number, "--headers"), re.M))
    filtered = re.findall(r"message-id=hostile-(\d+)@.*holds nothing that the list takes", site.instance.log_text())
    sent = {number for number, _ in mails_of("posts")} - refused - {int(number) for number in filtered}
    assert {names[int(number)].name for number in filtered} <= {"messages in messages", "a message in base64"}
    there = {int(case) for one in site.sink.transactions() if MEMBER in one.to and one.sender.startswith("posts-")
             for case in re.findall(rb"^X-Case: (\d+)", one.octets, re.M)[:1]} | {int(case) for case in kept}
    assert not [names[number].name for number in sorted(sent - there)]


def test_digests(site):
    fill(site, "posts")
    site.begin()
    assert site.command("digest", "ls", f"posts@{HOST}", "--json").returncode == 0
    assert site.command("digest", "send", f"posts@{HOST}").returncode == 0
    site.end_of_batch(["the digests"], len(mails_of("posts")))
    for reader in (PLAIN, MIME):
        assert [one for one in site.sink.transactions() if reader in one.to]


def test_what_comes_behind(site):
    """Ordinary mail to each place, news and hooks included."""
    site.begin()
    instance = site.instance

    def arrives(mark, to=MEMBER):
        instance.wait_idle()
        assert [one for one in site.sink.transactions() if to in one.to and mark in one.octets], mark
    for name in ("posts", "raw", "munged"):
        instance.lmtp_send(post(subject=f"behind {name}", to=f"{name}@{HOST}"), f"{name}@{HOST}")
        arrives(f"behind {name}".encode())
    instance.lmtp_send(post(subject="behind held", to=f"held@{HOST}"), f"held@{HOST}")
    arrives(b"behind held", OLGA)
    held = instance.rows("held", "ls", f"held@{HOST}")
    number, = [row["number"] for row in held if row["subject"] == "behind held"]
    instance.cli("held", "discard", number)
    instance.lmtp_send(post(subject="", sender="new@example.net"), f"people-join@{HOST}", "new@example.net")
    arrives(b"confirm ", "new@example.net")
    whole = b"Subject: behind parts\r\nMessage-ID: <whole@a.example>\r\n\r\n" + b"x\r\n" * 8
    for octets in fragment(whole, "whole@a.example", 3, "poster@example.net", f"parts@{HOST}"):
        instance.lmtp_send(octets, f"parts@{HOST}")
    wait_until(lambda: any(b"behind parts" in one.octets for one in site.sink.transactions()), 30, "the whole")
    instance.add_members(f"back@{HOST}", ["gone@members.example.org"])
    instance.lmtp_send(report("gone@members.example.org"), signed(instance, "back", "gone@members.example.org"), "<>")
    wait_until(lambda: standing(instance, f"back@{HOST}").get("gone@members.example.org"), 30, "the bounce to count")
    wait_until(lambda: any(b"behind raw" in article for article in site.news.posted), 30, "the article")
    wait_until(lambda: any(event["type"] == "post.accepted" and "behind raw" in event["data"]["subject"]
                           for event in Receiver.taken), 30, "the hook to hear of it")
    site.end_of_batch(["ordinary mail"])
    wait_until(lambda: not instance.files("hooks")["hooks"], 120, "the hooks to hear what they did not at first")
    print(f"\nmost processor time for a batch: {({runner: round(used, 2) for runner, used in site.used.items()})}, "
          f"for a command: {site.most_of_command:.2f}")

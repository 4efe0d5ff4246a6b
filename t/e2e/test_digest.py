# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Digests, from the post to the reader: judged by Python's email, mutt and mshow (mblaze)."""
import email
import email.policy
import json
import mailbox
import os
import re
import subprocess

import pytest

from support.instance import HOST, wait_until
from support.post import post
from support.wire import fits

ADDRESS = f"test@{HOST}"
ANNE, BART, CORA, DORA = "anne@example.org", "bart@example.org", "cora@example.org", "dora@example.net"


def mode(instance, member, which, address=ADDRESS):
    instance.cli("member", "set", address, member, "--delivery-mode", which)


def waiting(instance, address=ADDRESS):
    return json.loads(instance.cli("digest", "ls", address, "--json"))


class Readers:
    """A list with one reader of each kind, and what they get."""

    def __init__(self, instance, sink):
        self.instance, self.sink, self.sent = instance, sink, []

    def post(self, octets, **options):
        self.instance.lmtp_send(octets, ADDRESS, **options)
        self.sent.append(octets)

    def send(self):
        self.instance.wait_idle()
        self.instance.cli("digest", "send", ADDRESS)
        return self.got()

    def got(self):
        """{address: [transaction]} of what came since."""
        self.instance.wait_idle()
        found = {}
        for transaction in self.sink.transactions():
            for address in transaction.to:
                found.setdefault(address, []).append(transaction)
        self.sink.purge()
        return found


@pytest.fixture
def readers(instance, sink):
    instance.create_list("test", members=[ANNE, BART, CORA, DORA], settings=["digest_size_threshold=0"])
    mode(instance, BART, "mime_digests")
    mode(instance, CORA, "plaintext_digests")
    mode(instance, DORA, "summary_digests")
    return Readers(instance, sink)


def parsed(transaction):
    return email.message_from_bytes(transaction.octets, policy=email.policy.default)


def enclosed(octets):
    """The posts of a MIME digest, octet for octet."""
    message = email.message_from_bytes(octets, policy=email.policy.compat32)
    digest = [part for part in message.walk() if part.get_content_type() == "multipart/digest"]
    assert digest  # posts may hold others
    boundary = b"--" + digest[0].get_boundary().encode()
    pieces = octets.split(b"\r\n" + boundary)
    head, posts = pieces[0], pieces[1:]
    assert posts[-1].startswith(b"--")
    found = [piece.split(b"\r\n\r\n", 1)[1] for piece in posts[:-1]]
    assert len(found) == len(digest[0].get_payload())
    return found


@pytest.mark.main
def test_subjects_in_charsets_with_other_names(readers):
    """A reply's Subject and the author's name reach two lists, one of which munges From, their archives and a digest:
    decoded where nothing is lost, else as they came."""
    instance, other = readers.instance, f"other@{HOST}"
    instance.create_list("other", members=[ANNE], settings=["dmarc_mitigate_action=munge_from",
                                                            "dmarc_mitigate_unconditionally=yes"])
    korean, damaged = "=?ks_c_5601-1987?B?UmU6IIxj?=", "=?ks_c_5601-1987?B?UmU6IIz/?="
    for number, (subject, name) in enumerate([(korean, "=?iso-8859-8-i?Q?=F9=EC?="), (damaged, "=?x-foo?Q?=F9?=")]):
        for address in (ADDRESS, other):
            octets = post(subject=subject, sender=f"{name} <poster@example.net>", message_id=f"<{number}@example.net>",
                          to=address)
            instance.lmtp_send(octets, address)
    copies = {}
    for transaction in readers.got()[ANNE]:
        raw = email.message_from_bytes(transaction.octets)
        copies[raw["List-Id"].split("<")[1].split(".")[0], raw["Message-ID"]] = raw, parsed(transaction)
    assert len(copies) == 4
    for name, label in (("test", "Test"), ("other", "Other")):
        whole, lossy = copies[name, "<0@example.net>"], copies[name, "<1@example.net>"]
        assert whole[1]["Subject"] == f"[{label}] Re: 똠"
        assert lossy[0]["Subject"] == f"[{label}] {damaged}"
        box = mailbox.Maildir(instance.archive / "maildir" / f"{name}.{HOST}", create=False)
        assert sorted(str(mail["Subject"]).replace("\n", "") for mail in box) == sorted(
            str(mail[0]["Subject"]).replace("\n", "") for mail in (whole, lossy))
    assert copies["other", "<0@example.net>"][1]["From"].addresses[0].display_name == "של via Other"
    lossy = copies["other", "<1@example.net>"][0]
    assert lossy["From"].replace("\r\n", "") == f"=?x-foo?Q?=F9?= via Other <{other}>"
    assert lossy["Reply-To"].replace("\r\n", "") == "=?x-foo?Q?=F9?= <poster@example.net>"
    text = parsed(readers.send()[CORA][0]).get_content().replace("\r\n", "\n")
    assert "Subject: [Test] Re: 똠\n" in text and f"Subject: [Test] {damaged}\n" in text
    assert "של" in text and "From: =?x-foo?Q?=F9?= <poster@example.net>\n" in text


@pytest.mark.main
def test_main_path(readers):
    """Regular members get the posts at once; the others one issue, in their form; nobody gets anything twice."""
    latin = post(subject="=?iso-8859-1?q?Gr=FC=DFe?=", sender="=?utf-8?b?SsO2cmc=?= <joerg@example.net>",
                 extra=["Content-Type: text/plain; charset=iso-8859-1", "Content-Transfer-Encoding: 8bit"],
                 body="PLACE\n").replace(b"PLACE", b"Gr\xfc\xdfe aus K\xf6ln")
    image = post(subject="With a picture", extra=["Content-Type: multipart/mixed; boundary=b"],
                 body="--b\nContent-Type: multipart/alternative; boundary=a\n\n--a\n\nplain words\n--a\n"
                      "Content-Type: text/html\n\n<b>html words</b>\n--a--\n--b\n"
                      "Content-Type: image/png; name=sun.png\nContent-Transfer-Encoding: base64\n\n"
                      "iVBORw0KGgo=\n--b--\n")
    broken = post(subject="Broken", extra=["Content-Type: multipart/mixed; boundary=never"], body="no parts\n--never\n")
    rule = post(subject="Rule", body="a\n\n" + 30 * "-" + "\n\nb\n")
    for octets in (latin, image, broken, rule):
        readers.post(octets)
    first = readers.got()
    assert {address: len(all_) for address, all_ in first.items()} == {ANNE: 4}
    archived = [transaction.octets for transaction in first[ANNE]]
    assert waiting(readers.instance)["posts"] == 4
    got = readers.send()
    assert sorted(got) == [BART, CORA, DORA] and all(len(all_) == 1 for all_ in got.values())
    assert got[BART][0].octets == got[DORA][0].octets  # one transaction, one issue
    digest = parsed(got[BART][0])
    assert digest["Subject"] == "[Test] Digest, Vol 1, Issue 1"
    assert digest["From"] == f"test-request@{HOST}" and digest["To"] == ADDRESS == digest["Reply-To"]
    assert digest["List-Id"] and digest["List-Post"] and digest["Precedence"] == "list"
    assert got[BART][0].sender == f"test-bounces@{HOST}"
    assert digest.get_content_type() == "multipart/mixed" and not digest.defects
    masthead, contents, posts, footer = digest.get_payload()
    assert ADDRESS in masthead.get_content() and f"test-leave@{HOST}" in footer.get_content()
    topics = contents.get_content()
    assert "Today's Topics" in topics and "1. Grüße (Jörg)" in topics and "4. Rule (poster@example.net)" in topics
    assert [part["Message"] for part in posts.get_payload()] == ["1", "2", "3", "4"]
    assert sorted(enclosed(got[BART][0].octets)) == sorted(archived)
    plain = parsed(got[CORA][0])
    text = plain.get_content().replace("\r\n", "\n")
    assert plain.get_content_type() == "text/plain" and plain["Subject"] == digest["Subject"]
    assert "Grüße aus Köln" in text and "plain words" in text and "html words" not in text and "no parts" in text
    assert "image/png" in text and "sun.png" in text
    sections = text.split("\n" + 30 * "-" + "\n")
    assert [section.strip().split("\n")[0] for section in sections[1:-2]] == [f"Message: {n}" for n in (2, 3, 4)]
    assert " " + 29 * "-" in sections[3] and "b" in sections[3]
    assert "End of Test Digest, Vol 1, Issue 1\n**********************************" in text
    assert waiting(readers.instance)["posts"] == 0 and waiting(readers.instance)["issue"] == 2


def shown_by_mutt(box):
    """Return what mutt shows of the first message of a mailbox."""
    command = ("stty rows 24 cols 80; "
               f"mutt -n -F /dev/null -R -e 'set folder={box.parent} pager=cat wait_key=no prompt_after=no' -f {box} "
               "-e 'push <display-message><exit>'")
    environment = {**os.environ, "TERM": "vt100", "HOME": str(box.parent)}
    return subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, env=environment).stdout


def test_opened_by_other_readers(readers, tmp_path):
    """mutt and mshow see the posts of a MIME digest as messages."""
    for number in range(3):
        readers.post(post(subject=f"Number {number}", body=f"Text {number}.\n"))
    octets = readers.send()[BART][0].octets.replace(b"\r\n", b"\n")
    path, box = tmp_path / "digest.eml", tmp_path / "box"
    path.write_bytes(octets)
    box.write_bytes(b"From x Fri Nov 20 13:20:00 2026\n" + octets + b"\n")
    shown = subprocess.run(["mshow", "-t", path], capture_output=True, text=True).stdout
    assert shown.count("message/rfc822") == 3 and "multipart/digest" in shown, shown
    shown = shown_by_mutt(box)
    assert re.findall(r"Subject: \[Test\] (Number \d)", shown) == ["Number 0", "Number 1", "Number 2"], shown


def test_real_mail(readers, list_mails, mime_mails):
    """A digest of any mails opens, with each post as the archive has it."""
    readers.instance.cli("list", "set", ADDRESS, "digest_post_threshold=0")
    mails = {mail.message_id: mail for mail in [*list_mails[::9], *mime_mails] if mail.message_id and fits(mail.octets)}
    client = readers.instance.lmtp()
    for mail in mails.values():
        readers.post(mail.octets, client=client)
    posts = {transaction.octets for transaction in readers.got()[ANNE]}
    got = readers.send()
    found = enclosed(got[BART][0].octets)
    assert len(found) == len(posts) > 20
    assert {digested.rstrip() for digested in found} == {octets.rstrip() for octets in posts}
    assert parsed(got[CORA][0]).get_content_type() == "text/plain"


@pytest.mark.main
def test_by_size_number_and_settings(readers):
    """Each threshold makes an issue by itself; without digests all get the posts."""
    instance = readers.instance
    instance.cli("list", "set", ADDRESS, "digest_post_threshold=2")
    readers.post(post(subject="One"))
    readers.post(post(subject="Two"))
    got = readers.got()
    assert len(got[BART]) == 1 and len(enclosed(got[BART][0].octets)) == 2
    instance.cli("list", "set", ADDRESS, "digest_post_threshold=0", "digest_size_threshold=1")
    readers.post(post(subject="Long", body=20 * (60 * "x" + "\n")))
    got = readers.got()
    assert [parsed(t)["Subject"] for t in got[BART]] == ["[Test] Digest, Vol 1, Issue 2"]
    instance.cli("digest", "bump", ADDRESS)
    readers.post(post(subject="Long", body=20 * (60 * "x" + "\n")))
    assert [parsed(t)["Subject"] for t in readers.got()[BART]] == ["[Test] Digest, Vol 2, Issue 1"]
    instance.cli("list", "set", ADDRESS, "digests_enabled=no")
    readers.post(post(subject="Plainly"))
    got = readers.got()
    assert sorted(got) == [ANNE, BART, CORA, DORA]
    assert {parsed(t)["Subject"] for all_ in got.values() for t in all_} == {"[Test] Plainly"}
    done = instance.run("digest", "send", ADDRESS)
    assert done.returncode == 1 and "no post waits" in done.stderr
    instance.cli("list", "set", ADDRESS, "digests_enabled=yes", "digest_is_default=yes")
    instance.cli("member", "add", ADDRESS, "eve@example.org")
    members = instance.rows("member", "ls", ADDRESS)
    assert {row["address"]: row["delivery_mode"] for row in members}["eve@example.org"] == "mime_digests"


@pytest.mark.main
def test_one_last_digest(readers):
    """A member who leaves the digest mode while posts wait gets them once more as a digest, and from then on each
    post."""
    instance = readers.instance
    readers.post(post(subject="Before"))
    instance.wait_idle()
    mode(instance, BART, "regular")
    mode(instance, DORA, "regular")
    mode(instance, DORA, "mime_digests")  # and comes back
    readers.post(post(subject="After"))
    got = readers.got()
    assert [parsed(t)["Subject"] for t in got[BART]] == ["[Test] After"] and len(got[ANNE]) == 2
    got = readers.send()
    assert sorted(got) == [BART, CORA, DORA] and all(len(all_) == 1 for all_ in got.values())
    readers.post(post(subject="Later"))
    got = readers.send()
    assert sorted(got) == [ANNE, BART, CORA, DORA] and parsed(got[BART][0])["Subject"] == "[Test] Later"


@pytest.mark.main
def test_personal_copies(instances, sink):
    """Issues go out as posts do: a signed sender and a one-click link for each."""
    settings = {"verp_delivery_interval": "10", "unsubscribe_url": "https://lists.example.com/u/$token"}
    instance = instances(sink.port, settings={"pipeline": settings}).start()
    instance.create_list("test", members=[BART, CORA], settings=["digest_size_threshold=0"])
    mode(instance, BART, "mime_digests")
    mode(instance, CORA, "mime_digests")
    readers = Readers(instance, sink)
    readers.post(post(subject="One"))
    got = readers.send()
    assert "bart=example.org" in got[BART][0].sender and "cora=example.org" in got[CORA][0].sender
    links = {parsed(got[who][0])["List-Unsubscribe"] for who in (BART, CORA)}
    assert len(links) == 2 and all("https://lists.example.com/u/" in link for link in links)
    assert len(enclosed(got[BART][0].octets)) == 1


@pytest.mark.main
@pytest.mark.sqlite  # a host whose clock is not that of the database does not start
def test_by_time(clock, instances, sink):
    """Posts of before the hour go when it has come, also where the machine was off then; later ones wait."""
    instance = instances(sink.port).start()
    instance.create_list("test", members=[BART], settings=["digest_size_threshold=0", "digest_period=weekly"])
    mode(instance, BART, "mime_digests")
    readers = Readers(instance, sink)
    readers.post(post(subject="One"))
    instance.wait_idle()
    assert waiting(instance)["due_at"] and waiting(instance)["posts"] == 1
    instance.stop()
    clock.days(8)
    instance.start()
    wait_until(lambda: sink.transactions(), 20, "the digest")
    got = readers.got()
    assert len(enclosed(got[BART][0].octets)) == 1 and len(got[BART]) == 1
    readers.post(post(subject="Two"))
    instance.wait_idle()
    instance.run_job("digests")
    assert readers.got() == {} and waiting(instance)["posts"] == 1


@pytest.mark.main
@pytest.mark.parametrize("runner", ["digest", "pipeline"])
def test_list_removed(instances, sink, runner):
    """A post that waits for the digest of a list that is gone ends, and so does an issue that was to be sent; they wait
    for no person."""
    instance = instances(sink.port, settings={f"runner.{runner}": {"start": "no"}}).start()
    instance.create_list("test", members=[BART], settings=["digest_size_threshold=0", "digest_post_threshold=1"])
    mode(instance, BART, "mime_digests")
    instance.lmtp_send(post(subject="One"), ADDRESS)
    wait_until(lambda: instance.files(runner)[runner], 20, "an entry in the queue")
    instance.cli("list", "remove", ADDRESS, "--yes")
    instance.stop()
    instance.set({f"runner.{runner}": {"start": None}})
    instance.start()
    wait_until(lambda: not instance.files(runner)[runner], 20, "an empty queue")
    assert not instance.set_aside() and "result=dropped (the list was removed)" in instance.log_text()


@pytest.mark.main
def test_killed(readers):
    """kill -9 of the runner again and again: each post is in exactly one issue, and each issue comes once."""
    instance = readers.instance
    instance.cli("list", "set", ADDRESS, "digest_post_threshold=3")
    for number in range(30):
        readers.post(post(subject=f"N{number}", message_id=f"<kill-{number}@example.net>"))
        if number % 4 == 0:
            instance.kill_runner("digest")
    got = readers.got()
    issues = [enclosed(t.octets) for t in got[BART]]
    ids = [email.message_from_bytes(octets)["Message-ID"] for octets in sum(issues, [])]
    assert sorted(ids) == sorted(f"<kill-{number}@example.net>" for number in range(30))
    subjects = [parsed(t)["Subject"] for t in got[BART]]
    assert len(set(subjects)) == len(subjects) == 10
    assert not instance.set_aside()

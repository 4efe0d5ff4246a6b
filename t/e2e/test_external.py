# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Programs of the site that judge and change posts: each answer, and what happens when a program is broken."""

from support.instance import wait_until
from support.wire import field, split

SCANNER = """#!/bin/sh
post=$(cat)
[ -n "$LISTRUNNER_LIST" ] && [ -n "$LISTRUNNER_TRACE" ] || exit 3
case $post in
*hold-me*) echo "It smells of spam."; exit 10 ;;
*reject-me*) echo "A virus was found."; exit 11 ;;
*discard-me*) exit 12 ;;
*later*) [ -e "$0.better" ] || exit 75 ;;
*crash*) [ -e "$0.better" ] || kill -9 $$ ;;
*sleep*) [ -e "$0.better" ] || sleep 60 ;;
esac
exit 0
"""
CHANGER = """#!/bin/sh
sed -e 's/secret/......../'
"""


def write(instance, name, text):
    path = instance.directory / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_answers(instances, sink):
    instance = instances(sink.port)
    scanner, changer = write(instance, "scan", SCANNER), write(instance, "change", CHANGER)
    instance.set({"external.scan": {"command": scanner, "timeout": "5s"}, "external.change": {"command": changer},
                  "rules": {"external": "scan"}, "handlers": {"external": "change"}})
    instance.start()
    address = instance.create_list("test", members=["bart@example.org"],
                                   settings=["default_nonmember_action=accept", "admin_immed_notify=no"])
    words = ["plain", "hold-me", "reject-me", "discard-me", "later", "crash", "sleep"]
    for word in words:
        instance.lmtp_send(f"From: a@example.net\r\nTo: {address}\r\nSubject: {word}\r\nMessage-ID: <{word}@x>\r\n\r\n"
                           "a secret\r\n".encode(), address, sender="a@example.net")

    def found(sender_is_list=True):
        return {field(t.octets, "Subject").split()[-1]: t for t in sink.transactions()}

    wait_until(lambda: "plain" in found() and "result=discard" in instance.log_text(), 20, "the answers")
    assert split(found()["plain"].octets)[1] == b"a ........\r\n"
    held = wait_until(lambda: instance.cli("held", "ls", "--json"), 20, "the held post")
    assert "hold-me" in held and "It smells of spam." in held
    wait_until(lambda: any(b"A virus was found." in t.octets for t in sink.transactions()), 20, "the refusal")
    assert not {"hold-me", "discard-me", "later", "crash", "sleep"} & {word for word in found() if word in words}
    (instance.directory / "scan.better").write_text("")

    def all_came():
        instance.run("queue", "edit-due", "--queue", "in", "now")
        return {"later", "crash", "sleep"} <= set(found())
    wait_until(all_came, 60, instance.log_text, step=0.5)


def test_wrong_names_are_told(instances, sink):
    instance = instances(sink.port, settings={"rules": {"external": "nobody"}})
    done = instance.run("config", "check", "--offline")
    assert done.returncode != 0 and "nobody" in done.stderr


def test_chains_and_pipelines(instances, sink):
    """A list that chose a chain and a pipeline of the site's own has those rules and handlers alone, in that order."""
    instance = instances(sink.port)
    scanner, changer = write(instance, "scan", SCANNER), write(instance, "change", CHANGER)
    instance.set({"external.scan": {"command": scanner}, "external.change": {"command": changer},
                  "chain.short": {"rules": "no-senders:discard external.scan no-subject:hold", "otherwise": "accept"},
                  "pipeline.plain": {"handlers": "member-recipients cleanse external.change to-outgoing"}})
    instance.start()
    address = instance.create_list("test", members=["bart@example.org"], settings=[
        "default_nonmember_action=discard", "posting_chain=short", "posting_pipeline=plain"])
    for word in ("plain", "reject-me", ""):
        instance.lmtp_send(f"From: a@example.net\r\nTo: {address}\r\nSubject: {word}\r\nMessage-ID: <{word}1@x>\r\n"
                           "\r\na secret\r\n".encode(), address, sender="a@example.net")
    instance.wait_idle()
    posts = [t for t in sink.transactions() if "bart@example.org" in t.to]
    assert [field(t.octets, "Subject") for t in posts] == ["plain"] and b"List-Id" not in posts[0].octets
    assert split(posts[0].octets)[1] == b"a ........\r\n" and not instance.files("archive")["archive"]
    assert any(b"A virus was found." in t.octets for t in sink.transactions())
    assert "The message has no subject." in instance.cli("held", "ls", "--json")
    done = instance.run("list", "set", address, "posting_chain=gone")
    assert done.returncode != 0 and "[chain.gone]" in done.stderr


def test_unknown_words_are_told(instances, sink):
    instance = instances(sink.port, settings={
        "chain.one": {"rules": "loop:discard no-such-rule max-size:nowhere external.none", "otherwise": "accept"},
        "chain.hold": {"rules": "any:hold"},
        "pipeline.two": {"handlers": "dmarc no-such-handler to-outgoing"}})
    told = instance.run("config", "check", "--offline").stderr
    for words in ("there is no rule no-such-rule", "there is no chain nowhere", "there is no rule external.none",
                  "built in", "no-such-handler", "dmarc must stand behind to-outgoing", "needs member-recipients"):
        assert words in told, told

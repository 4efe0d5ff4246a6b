# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The operator's commands beside running runners, under load: nothing lost, nothing doubled, but what was deleted."""
import json
import random
import signal
import subprocess
import time
from collections import Counter

from support import corpus
from support.instance import prefix, wait_until
from support.load import Load, missing_and_repeats

MEMBERS = [f"m{i}@members.example.org" for i in range(10)]
OTHERS = [f"o{i}@others.example.org" for i in range(10)]


def rows(done):
    assert done.returncode in (0, 1), f"code {done.returncode}: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def message_id(text):
    head = text.split("\r\n\r\n", 1)[0].replace("\r\n ", " ").split("\r\n")
    return next(line.split(":", 1)[1].strip() for line in head if line.lower().startswith("message-id:"))


def killed(instance, *words):
    """A command that is killed on its way, or has just ended."""
    program = prefix() / "bin" / "listrunner"
    process = subprocess.Popen([program, "--config", instance.config, *words], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0.001, 0.03))
    process.send_signal(signal.SIGKILL)
    process.wait()


def wipe_out(instance, address, limit):
    """Deletes some held entries; returns the (message id, member) that they still had to reach, None for all members.
    What is held moves no more, so it can be looked at before."""
    gone = []
    held = [row for row in rows(instance.run("queue", "ls", "--json", "--list", address)) if row["queue"] == "hold"]
    while held and limit > 0:
        row = held.pop()
        entry, = rows(instance.run("queue", "cat", row["name"], "--json"))
        origin = entry["meta"]["origin"]["queue"]
        if origin not in ("in", "pipeline", "out", "retry"):
            continue
        limit -= 1
        result, = rows(instance.run("queue", "delete", row["name"], "--json"))
        assert result["result"] == "deleted", result
        who = [one["address"] for one in entry["recipients"] if one["state"] == "todo"]
        gone += [(message_id(entry["message"]), member) for member in (who if origin in ("out", "retry") else MEMBERS)]
    return gone


def test_hold_release_requeue_delete_under_load(instances, sinks):
    sink = sinks(options=["--latency", "120"])  # so that mail is there as long as the commands take
    instance = instances(sink.port)
    instance.set({f"runner.{name}": {"instances": 2} for name in ("in", "pipeline", "out")})
    instance.set({"spool": {"batch_limit": 2}, "out": {"message_active_limit": 4},
                  "transport.relay": {"concurrency": 4}})  # so that more is ready than claimed
    instance.start()
    ours = instance.create_list("test", MEMBERS)
    other = instance.create_list("other", OTHERS)
    mails = corpus.distinct(660, 1000)
    loads = [Load(instance, ours, mails[:330], pause=0.02), Load(instance, other, mails[330:], pause=0.02)]
    for load in loads:
        load.start()
    rounds = held = untouched = 0
    deleted = []
    while (any(load.is_alive() for load in loads) or instance.under_way()) and (rounds < 10 or not held or not deleted):
        rounds += 1
        done = rows(instance.run("queue", "hold", "--list", ours, "--json"))
        held += sum(row["result"] == "held" for row in done)
        untouched += sum("held by a runner" in row["reason"] for row in done)
        if len(deleted) < 100:
            deleted += wipe_out(instance, ours, 3)
        killed(instance, "queue", "requeue", "--list", ours)
        killed(instance, "queue", "release", "--list", ours)
        killed(instance, "queue", "hold", "--list", ours)
        rows(instance.run("queue", "edit-due", "now", "--list", ours, "--json"))
        rows(instance.run("queue", "release", "--list", ours, "--json"))
    for load in loads:
        load.halt.set()
        load.finish(60)
    ours_sent, other_sent = (load.accepted for load in loads)
    rows(instance.run("queue", "release", "--list", ours, "--json"))
    instance.wait_idle()
    print(f"held {held}, held by a runner {untouched}, deleted {len(deleted)} recipients")
    assert held > 0 and deleted, "the commands met entries"
    assert instance.files("hold", "shunt", "corrupt") == {"hold": [], "shunt": [], "corrupt": []}
    copies = Counter(sink.copies())
    check, _ = missing_and_repeats({key: count for key, count in copies.items() if key[1] in OTHERS}.keys(),
                                   other_sent, OTHERS)
    assert not check, f"the list that nobody touched: {check[:3]}"
    missing, _ = missing_and_repeats([key for key in copies if key[1] in MEMBERS], ours_sent, MEMBERS)
    assert sorted(missing) == sorted(set(deleted)), (len(missing), len(deleted))
    assert len(deleted) == len(set(deleted)), "deleted once"
    repeats = [key for key, count in copies.items() if count > 1]
    assert not repeats and " died, " not in instance.log_text(), repeats[:3]
    assert instance.run("spool", "check").returncode == 0, instance.run("spool", "check").stdout


def test_expire_bounces_what_is_refused(instances, sinks):
    """A server that says "later": expire ends it with a bounce, in one more attempt."""
    sink = sinks(faults=["rcpt do 450 4.2.0 try again later"])
    instance = instances(sink.port).start()
    address = instance.create_list("test", MEMBERS[:3])
    instance.lmtp_send(corpus.distinct(1, 500)[0].octets, address)
    wait_until(lambda: any(name.endswith(".msg") for name in instance.files("retry")["retry"]), 20, "a deferral")

    def expired():  # the runner may have it in hand at first
        row, = rows(instance.run("queue", "expire", "--list", address, "--json"))
        return row["result"] == "expired" and row
    assert wait_until(expired, 20, "it to expire")["queue"] == "retry"
    wait_until(lambda: "queue=retry to=bounces sent=0 bounced=0 deferred=3 result=expired" in instance.log_text(), 20,
               lambda: f"the line of the log: {instance.log_text()[-2000:]}")
    assert not sink.copies()


def test_preserved_and_put_back(instances, sink):
    """A list may have posts that its content filter refuses kept for the operator, who lets one through later."""
    instance = instances(sink.port)
    address = instance.create_list("talk", MEMBERS[:2], settings=["filter_content=true", "filter_types=image/png",
                                                                  "filter_action=preserve"])
    instance.start()
    octets = (b"From: a@example.org\r\nTo: talk@lists.example.com\r\nSubject: map\r\nMessage-ID: <map@x>\r\n"
              b"MIME-Version: 1.0\r\nContent-Type: image/png\r\n\r\nxxx\r\n")
    instance.lmtp_send(octets, address)
    kept, = wait_until(lambda: rows(instance.run("shunt", "ls", "--json")), 20, "the post to be kept")
    assert kept["from"] == "in" and kept["times"] == 1 and "image/png" in kept["reason"], kept
    instance.cli("list", "set", address, "filter_content=false")
    assert rows(instance.run("shunt", "retry", kept["name"], "--json"))[0]["result"] == "put back"
    wait_until(lambda: sink.recipients() == 2, 20, "the copies")
    instance.wait_idle()
    assert sink.copies() == {("<map@x>", member): 1 for member in MEMBERS[:2]} and instance.set_aside() == []


def test_shunted_and_tried_again(instances, sink):
    """A post for a list that is gone is set aside with the reason; when the list is back it is tried again."""
    instance = instances(sink.port)
    address = instance.create_list("test", MEMBERS[:2])
    mail = corpus.distinct(1, 500)[0]
    instance.cli("inject", address, "--sender", "poster@example.net", "-", input=mail.octets)
    instance.cli("list", "remove", "--yes", address)
    instance.start()
    shunted, = wait_until(lambda: rows(instance.run("shunt", "ls", "--json")), 20, "the entry to be shunted")
    assert shunted["from"] == "in" and shunted["runner"] == "in" and "no list" in shunted["reason"], shunted
    assert shunted["times"] == 1 and '"listrunner shunt delete" drops the post' in shunted["reason"], shunted
    rows(instance.run("shunt", "retry", "--all", "--json"))
    again, = wait_until(lambda: [row for row in rows(instance.run("shunt", "ls", "--json")) if row["times"] == 2], 20,
                        "the entry to be shunted again")
    assert again["reason"] == shunted["reason"]
    instance.create_list("test", MEMBERS[:2])
    assert rows(instance.run("shunt", "retry", again["name"], "--json"))[0]["result"] == "put back"
    wait_until(lambda: len(sink.copies()) == 2, 20, "the copies")
    instance.wait_idle()
    missing, repeats = missing_and_repeats(sink.copies().elements(), [mail], MEMBERS[:2])
    assert not missing and not repeats
    assert instance.cli("shunt", "ls") == ""

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""listrunner trace: what became of a post, for each recipient, by whatever name it is asked for."""
import json
import os
import re
import signal

import pytest

from support.instance import HOST, wait_until
from support.post import post

ANNE, BART, CORA = "anne@example.org", "bart@example.org", "cora@example.org"


def send(instance, name, number, **more):
    instance.lmtp_send(post(to=f"{name}@{HOST}", message_id=f"<{name}-{number}@example.net>", **more), f"{name}@{HOST}")


def trace(instance, *words):
    """Its lines as objects; processes hold lines back for some seconds."""
    return [json.loads(line) for line in instance.run("trace", *words, "--json").stdout.splitlines()]


def wait_for(instance, words, text):
    wait_until(lambda: any(text in line["text"] for line in trace(instance, *words)), 60, f"{text} of {words}")


def make(instances, port, **settings):
    instance = instances(port, settings=settings).start()
    for name in ("cats", "dogs"):
        instance.create_list(name, [ANNE, BART] if name == "cats" else [ANNE, CORA])
    return instance


@pytest.mark.main
def test_by_each_name(instances, sink):
    """By Message-ID, by the post's number, by the trace in the log; one recipient, and only his."""
    instance = make(instances, sink.port, out={"log_recipients": "no"})
    for number in (1, 2):
        for name in ("cats", "dogs"):
            send(instance, name, number)
    instance.wait_idle()
    instance.stop()  # so that all lines are there
    assert "nrcpt=2" in instance.log_text() and f"to=<{ANNE}>" not in instance.log_text()  # the log says less
    lines = trace(instance, "<cats-2@example.net>")
    assert {line["list"] for line in lines} == {f"cats.{HOST}"} and len({line["trace"] for line in lines}) == 1
    # The runner of a queue may be done before who stored the entry has said so.
    assert {line["program"].split("[")[0] for line in lines[:2]} == {"lmtp", "in"}
    assert sorted(line["time"] for line in lines) == [line["time"] for line in lines]
    sent = [line["text"] for line in lines if "status=sent" in line["text"]]
    assert all(f"<{address}>" in " ".join(sent) for address in (ANNE, BART)) and CORA not in " ".join(sent)
    for words in (["cats-2@example.net"], [f"cats@{HOST}#2"], [f"cats.{HOST}#2"], [lines[0]["trace"]]):
        assert trace(instance, *words) == lines, words
    one = [line["text"] for line in trace(instance, "cats-2@example.net", BART.upper()) if "status=" in line["text"]]
    assert len(one) == 1 and BART in one[0].lower() and ANNE not in one[0]
    text = instance.cli("trace", f"cats@{HOST}#2")
    assert "recipients: 2 sent, 0 bounced, 0 deferred" in text and text.startswith(lines[0]["trace"])
    for unknown in ("nobody@example.net", f"cats@{HOST}#3", "0123456789ab"):
        answer = instance.run("trace", unknown)
        assert answer.returncode == 1 and "the trail goes back to 20" in answer.stderr
    assert instance.run("trace", f"birds@{HOST}#1").returncode == 66
    # One that waits: where, and since when; two wait, and each is told of its own.
    instance.start()
    instance.cli("dest", "suspend", "relay")
    for name in ("cats", "dogs"):
        send(instance, name, 3)
    wait_for(instance, ["cats-3@example.net"], "waits in the queue")
    row, = [line for line in trace(instance, "cats-3@example.net") if "waits_in" in line]
    assert row["waits_in"] in ("out", "retry") and row["list"] == f"cats.{HOST}" and row["since"] <= row["time"]
    told = instance.cli("trace", row["trace"])
    assert re.search(rf"^{row['trace']} waits in the queue (out|retry) \(\w+\) since 20\S+Z", told, re.M), told
    instance.cli("dest", "resume", "relay")
    instance.wait_idle()
    assert "waits in" not in instance.cli("trace", row["trace"])


@pytest.mark.main
def test_deferred_held_and_two_lists(instances, sinks):
    """A mail to two lists has two traces; one recipient is put off and gets it, one is refused, a post is held."""
    sink = sinks(faults=[f"rcpt match=^{ANNE} times=1 do 450 4.2.1 busy just now",
                         f"rcpt match=^{BART} do 550 5.1.1 gone"])
    instance = make(instances, sink.port, out={"minimal_backoff_time": "1s", "maximal_backoff_time": "1s"})
    instance.cli("list", "set", f"dogs@{HOST}", "emergency=yes")
    for name in ("cats", "dogs"):
        instance.lmtp_send(post(to=f"{name}@{HOST}", message_id="<both@example.net>"), f"{name}@{HOST}")
    wait_for(instance, ["both@example.net"], "result=hold")
    wait_for(instance, ["both@example.net", ANNE], "status=sent")
    wait_for(instance, ["both@example.net", BART], "status=bounced")
    wait_for(instance, ["both@example.net", BART], "score=")  # another process writes it
    lines = trace(instance, "both@example.net")
    assert len({line["trace"] for line in lines}) == 2
    assert {line["list"] for line in lines} == {f"cats.{HOST}", f"dogs.{HOST}"}
    anne = [line["text"] for line in trace(instance, "both@example.net", ANNE) if "status=" in line["text"]]
    assert len(anne) == 2, anne
    assert "status=deferred" in anne[0] and "busy just now" in anne[0] and "sent" in anne[1]
    bart = [line["text"] for line in trace(instance, "both@example.net", BART) if "status=" in line["text"]]
    assert len(bart) == 2 and "status=bounced" in bart[0] and "550 5.1.1 gone" in bart[0] and "score=" in bart[1]
    assert "recipients: 1 sent, 1 bounced, 0 deferred" in instance.cli("trace", "both@example.net")


def test_what_is_old_goes(instances, sink, clock):
    instance = make(instances, sink.port, trail={"keep": "30d"})
    send(instance, "cats", 1)
    instance.wait_idle()
    wait_for(instance, ["cats-1@example.net"], "status=sent")
    clock.days(29)
    instance.cli("task", "run", "trail")
    instance.wait_idle()
    assert trace(instance, "cats-1@example.net")
    clock.days(31)
    instance.cli("task", "run", "trail")
    wait_until(lambda: not trace(instance, "cats-1@example.net"), 60, "the old file to go")
    send(instance, "dogs", 2)  # the processes go on with a new one
    instance.wait_idle()
    wait_for(instance, ["dogs-2@example.net"], "status=sent")


def test_killed_and_not_kept(instances, sink):
    """All that was written before a process is killed stays; without a trail everything works, and nothing is kept."""
    instance = make(instances, sink.port)
    send(instance, "cats", 1)
    instance.wait_idle()
    wait_for(instance, ["cats-1@example.net"], "status=sent")
    for pid in instance.pids("out"):
        os.kill(pid, signal.SIGKILL)
    send(instance, "cats", 2)
    instance.wait_idle()
    wait_for(instance, ["cats-2@example.net"], "status=sent")
    assert any("status=sent" in line["text"] for line in trace(instance, "cats-1@example.net"))
    instance.stop()
    directory = instance.directory / "trail"
    instance.set({"trail": {"directory": directory / "below" / "1.trail", "enabled": "yes"}})
    (directory / "below").write_text("a file, where a directory must be made")
    instance.start()
    send(instance, "cats", 3)
    instance.wait_idle()
    wait_until(lambda: "the trail cannot be written since" in instance.run("status").stdout, 60, "status to tell it")
    assert instance.run("status").returncode != 0 and "the trail cannot be written since" in instance.log_text()
    assert sink.copies()["cats-3@example.net", ANNE] + sink.copies()["<cats-3@example.net>", ANNE] == 1
    assert "Not a directory" in instance.run("trace", "cats-3@example.net").stderr

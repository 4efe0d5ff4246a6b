# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""An operator is told what matters: at a start, by status and metrics, when the database has gone, and who may ask."""
import fcntl
import os
import pty
import pwd
import random
import re
import smtplib
import struct
import subprocess
import termios

import pytest

from support.instance import prefix, wait_until
from support.limits import LimitedServer, Limits
from support.post import post


def lose_database(instance):
    for path in (instance.directory / "lib").iterdir():
        path.unlink()


@pytest.mark.sqlite
def test_a_database_that_vanishes_refuses_nobody_for_good(instances, sink):
    instance = instances(sink.port, settings={"master": {"restart_delay_max": "200ms"}}).start()
    address = instance.create_list(members=["m@example.org"])
    instance.lmtp_send(post(), address)
    lose_database(instance)
    for name in (address, "nobody@lists.example.com"):
        with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
            instance.lmtp_send(post(), name)
        assert refused.value.recipients[name][0] == 451, refused.value.recipients
    instance.kill()
    wait_until(lambda: not instance.leftovers(), 20, "the runners to end")
    before = len(instance.log_text())
    instance.start(wait=False)
    wait_until(lambda: "children are well" in instance.log_text()[before:], 20, "the end of the start")
    assert "listrunner store create" in instance.log_text()[before:]
    with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
        instance.lmtp_send(post(), address)
    assert refused.value.recipients[address][0] == 451
    assert not list((instance.directory / "lib").glob("*.db"))


@pytest.mark.sqlite
def test_a_start_tells_which_runner_is_not_ready(instances, sink):
    """listrunner start waits for the runners, and is a failure when one of them fails."""
    instance = instances(sink.port)
    instance.set({"master": {"log_file": instance.directory / "logs" / "listrunner.log"}})
    gone = instance.run("start")
    assert gone.returncode == 66 and "listrunner store create" in gone.stderr, gone
    assert instance.run("status").returncode == 3, "nothing was started"
    instance.create_store()
    try:
        good = instance.run("start")
        assert good.returncode == 0 and "all runners are ready" in good.stdout, good
        again = instance.run("start")
        assert again.returncode == 1 and "running already" in again.stderr, again
        assert all(child["state"] == "ready" for runner in instance.status()["runners"] for child in runner["children"])
        assert instance.run("stop").returncode == 0
        lose_database(instance)
        (instance.directory / "lib" / "listrunner.db").write_bytes(random.Random(1).randbytes(8192))
        bad = instance.run("start")
        assert bad.returncode == 78, bad
        for runner in ("in", "pipeline", "virgin", "bounces", "defragment"):
            assert re.search(rf"  {runner}\[0\]: not ready for .*file is not a database", bad.stderr), bad.stderr
        assert "lmtp[0]" not in bad.stderr and "out[0]" not in bad.stderr
        shown = instance.run("status")
        assert shown.returncode == 1 and shown.stdout.count("file is not a database") >= 5, shown.stdout
        assert "next try in" in shown.stdout and "Held posts and requests could not be counted" in shown.stdout
        with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
            instance.lmtp_send(post(), "test@lists.example.com")
        assert refused.value.recipients["test@lists.example.com"][0] == 451
    finally:
        instance.run("stop")


def test_a_start_by_root_leaves_nothing_of_roots(instances, sink):
    instance = instances(sink.port)
    if instance.user == "root" or os.getuid() != 0:
        pytest.skip("only root starts as another user")
    logs = instance.directory / "logs"
    instance.set({"master": {"log_file": logs / "listrunner.log", "runtime_directory": instance.directory / "run2"}})
    instance.create_store()
    owner = pwd.getpwnam(instance.user).pw_uid
    try:
        instance.directory.chmod(0o777)  # as /var/log and /run are for root
        assert instance.run("start").returncode == 0
        made = [path for path in instance.directory.rglob("*") if path != instance.config]
        assert logs / "listrunner.log" in made
        assert {path.stat().st_uid for path in made} == {owner}, [(p, p.stat().st_uid) for p in made]
        assert not list((instance.directory / "run2").glob("*.log")), "only sockets and the like"
        assert instance.run("stop").returncode == 0
        again = subprocess.run([prefix() / "bin" / "listrunner", "-c", instance.config, "start"], user=instance.user,
                               extra_groups=[], capture_output=True, text=True, timeout=60)
        assert again.returncode == 0, again
        assert instance.run("stop").returncode == 0
        (logs / "listrunner.log").unlink()
        (logs / "listrunner.log").touch()
        refused = instance.run("start")
        assert refused.returncode == 75 and f"as the user {instance.user}, to whom it must belong" in refused.stderr
    finally:
        instance.run("stop")


def test_the_log_is_rotated_with_a_reload(instances, sink):
    """Each runner writes to the new file, and nothing more comes to the old one."""
    instance = instances(sink.port)
    log = instance.directory / "logs" / "listrunner.log"
    instance.set({"master": {"log_file": log}})
    address = instance.create_list(members=["m@example.org"])
    try:
        assert instance.run("start").returncode == 0
        instance.lmtp_send(post(), address)
        wait_until(lambda: " out[0]: " in log.read_text() and "status=sent" in log.read_text(), 20, "a delivery")
        log.rename(log.with_suffix(".log.1"))
        instance.cli("reload")
        runners = ("lmtp", "in", "pipeline", "virgin", "out", "bounces", "archive", "defragment", "command")

        def moved():
            pids = [pid for name in runners for pid in instance.pids(name)]
            try:
                return len(pids) == len(runners) and all(os.readlink(f"/proc/{pid}/fd/2") == str(log) for pid in pids)
            except OSError:  # one of them has just ended
                return False

        wait_until(moved, 20, "the new file everywhere")
        size = log.with_suffix(".log.1").stat().st_size
        instance.lmtp_send(post(), address)
        wait_until(lambda: "status=sent" in log.read_text(), 20, "a delivery in the new file")
        wait_until(lambda: all(f" {name}[0]: " in log.read_text() for name in ("lmtp", "in", "out", "archive")), 20,
                   "a line of each runner in the new file")
        assert log.with_suffix(".log.1").stat().st_size == size
    finally:
        instance.run("stop")


def test_what_waits_for_a_person(instances, sink):
    """status says all of it, leaves with 2, and says "All is well." only when nothing waits."""
    instance = instances(sink.port).start()
    address = instance.create_list(members=["m@example.org"])
    assert instance.run("status").returncode == 0 and "All is well." in instance.cli("status")

    def waits(*words):
        shown = instance.run("status")
        assert shown.returncode == 2 and "All is well." not in shown.stdout, shown
        for word in words:
            assert word in shown.stdout, (word, shown.stdout)
        assert instance.status()["healthy"], "the processes are"
        return instance.run("metrics").stdout

    instance.cli("list", "set", address, "default_nonmember_action=hold")
    instance.lmtp_send(post(), address)
    wait_until(lambda: instance.cli("held", "ls", "--names").split(), 20, "a held post")
    figures = waits("1 post is held for a moderator, since 20", "listrunner held ls")
    assert "\nlistrunner_held_posts 1\n" in figures
    instance.cli("held", "discard", *instance.cli("held", "ls", "--names").split())
    assert instance.run("status").returncode == 0

    instance.cli("dest", "suspend", "relay")
    figures = waits("destination relay (transport relay) waits, it is suspended",
                    "listrunner dest resume relay")
    assert 'listrunner_destination_suspended{transport="relay",destination="relay",instance="0"} 1' in figures
    instance.cli("list", "set", address, "default_nonmember_action=accept")
    instance.lmtp_send(post(), address)
    wait_until(lambda: instance.cli("queue", "ls", "--names", "out").split(), 20, "an entry of out")
    instance.stop()
    instance.set({"runner.out": {"start": "no"}})
    instance.start()
    figures = waits("1 entry is in out, a queue that no runner works, since 20", "listrunner queue ls out")
    assert 'listrunner_waiting_entries{kind="unworked",queue="out"} 1\n' in figures
    instance.cli("queue", "hold", *instance.cli("queue", "ls", "--names", "out").split())
    waits("1 entry is on hold, since 20", "listrunner queue release")
    instance.cli("queue", "delete", "--queue", "hold", "--list", address)
    assert "All is well." in instance.cli("status")


def test_mail_that_waits_for_a_throttled_relay(instances, until_end):
    """Told like mail for a dead one: since when, why, and what helps; also after a restart, and not once it went."""
    limits = Limits(closed=(0, 1e9), closed_at="connect", closed_with="421 4.7.28 unusual rate of mail")
    server = until_end(LimitedServer(limits))
    instance = instances(server.port, settings={
        "transport.relay": {"minimal_backoff_time": "1s", "maximal_backoff_time": "1s"}}).start()
    address = instance.create_list(members=["m@example.org"])
    instance.lmtp_send(post(), address)

    def told():
        shown = instance.run("status")
        return shown if "relay (transport relay) waits, it is throttled to " in shown.stdout else None

    for again in (False, True):
        if again:
            instance.stop()
            instance.start()
        shown = wait_until(told, 20, "the relay to be told of")
        assert re.search(r"it is throttled to \S+ since 20\S+Z, because of: .*unusual rate of mail.*:\n"
                         r" +listrunner dest resume relay\n", shown.stdout), shown.stdout
        assert shown.returncode == 2 and "something waits" in shown.stdout, shown
        figures = instance.run("metrics").stdout
        labels = '{transport="relay",destination="relay",instance="0"}'
        assert f"\nlistrunner_destination_slowed{labels} 1\n" in figures
        assert f"\nlistrunner_destination_dead{labels} 0\n" in figures
    server.limits.closed = ()
    instance.cli("dest", "resume", "relay")
    instance.wait_idle()
    assert server.copies == {"m@example.org": 1}
    wait_until(lambda: instance.run("status").returncode == 0, 30, lambda: instance.run("status").stdout)
    assert f"\nlistrunner_destination_slowed{labels} 0\n" in instance.run("metrics").stdout


def test_status_fits_the_terminal(instances, sink):
    """Repeated, it is cut to the size of the screen; and a line of the table fits in 80 columns."""
    instance = instances(sink.port).start()
    for line in instance.cli("status").splitlines()[2:]:
        assert len(line) <= 80, line
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 40, 0, 0))
    watch = subprocess.Popen([prefix() / "bin" / "listrunner", "-c", instance.config, "status", "--watch"],
                             stdout=follower, stderr=follower)
    os.close(follower)
    seen = b""
    while b"All is well." not in seen:
        seen += os.read(leader, 4096)
    watch.terminate()
    watch.wait(60)
    os.close(leader)
    lines = seen.decode().replace("\x1b[H\x1b[J", "").split("\r\n")
    assert len([line for line in lines if line]) <= 9 and max(map(len, lines)) <= 40, lines


def test_a_job_that_is_never_due(instances, sink):
    """reminder_time = never, as instances have it, is no time in a hundred thousand years."""
    instance = instances(sink.port)
    instance.start()
    jobs = wait_until(lambda: {"reminders", "digests"} <= set(instance.jobs()) and instance.jobs(), 30, "the jobs")
    assert jobs["reminders"]["due_at"] is None and jobs["reminders"]["due_in"] is None
    assert jobs["digests"]["due_at"] and jobs["digests"]["due_in"] is not None


def test_how_long_another_number_of_processes_lasts(instances, sink):
    instance = instances(sink.port, settings={"runner.in": {"instances": "auto"}, "runner.out": {"instances": "1"}})
    instance.start()
    told = "2 instances until the next reload"
    assert instance.cli("rescale", "in", "2") == f"in: {told}, or until the load asks for another number.\n"
    assert instance.cli("rescale", "out", "2") == f"out: {told}.\n"
    assert instance.cli("rescale", "virgin", "2") == f"virgin: {told}.\n"

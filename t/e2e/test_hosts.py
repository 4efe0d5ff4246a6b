# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Two hosts over one PostgreSQL: each with its spool, one of them does what only one may, and the other takes it over
when it dies. The lists' host names are one thing, the names of the hosts that run Listrunner another."""
import json
import os
import re
import smtplib
import threading
import time
from collections import Counter
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support import postgresql
from support.desk import Person
from support.hosts import die
from support.instance import HOST, free_port, let_through, wait_until
from support.pages import Pages
from support.post import post
from support.rest import Rest, serving

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

ANNE, BOB, CORA = "anne@example.org", "bob@example.net", "cora@example.org"
WORKERS = ("in", "pipeline", "virgin", "command", "bounces", "digest", "task", "out", "archive", "defragment")
LEASE = "10s"
SOON = 7  # pages


@pytest.fixture
def server():
    one = postgresql.Server()
    yield one
    one.remove()


def make_host(instances, sink, server, name):
    host = instances(sink.port)
    host.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site")},
              "site": {"hostname": f"{name}.example.com"}, "host": {"lease": LEASE}})
    return host


@pytest.fixture
def pair(instances, sink, server):
    """Hosts a and b, with lists talk@ and other@. Both run."""
    a, b = (make_host(instances, sink, server, name) for name in "ab")
    a.create_list("talk", members=[ANNE, BOB], settings=["digests_enabled=true", "digest_size_threshold=0"])
    a.create_list("other", members=[ANNE])
    a.start()
    b.has_store = True
    b.start()
    return a, b


def hosts(instance):
    """{name without its domain: row}"""
    rows = map(json.loads, instance.cli("host", "ls", "--json").splitlines())
    return {row["name"].partition(".")[0]: row for row in rows}


def states(instance):
    return {name: row["state"] for name, row in hosts(instance).items()}


def send(instance, subject, name="talk"):
    instance.lmtp_send(post(subject=subject, to=f"{name}@{HOST}"), f"{name}@{HOST}")


def arrived(sink):
    """Counts of (recipient, subject)."""
    return Counter((to, message_from_bytes(one.octets)["Subject"].split("] ")[-1])
                   for one in sink.transactions() for to in one.to)


def timer_of(server):
    """The host that holds the claim to the timer's jobs."""
    rows = server.sql("SELECT host FROM site.claim WHERE what = 'task'", database="listrunner")
    return rows[0].partition(".")[0] if rows else None


def test_both_work(pair, sink):
    """Posts that come to one or the other arrive once, with numbers of one list; each tells of both."""
    a, b = pair
    for number in range(10):
        send(a, f"a{number}")
        send(b, f"b{number}")
    for host in pair:
        host.wait_idle()
        wait_until(lambda: states(host) == {"a": "living", "b": "living"}, 30, "both to live")
        assert host.set_aside() == []
        wait_until(lambda: host.run("status").returncode == 0, 30, lambda: host.run("status").stdout)
    assert arrived(sink) == {(to, f"{host}{number}"): 1 for to in (ANNE, BOB) for host in "ab" for number in range(10)}
    numbers = [int(number) for host in pair for number in re.findall(r" post=(\d+) ", host.log_text())]
    assert sorted(numbers) == list(range(1, 21))
    shown = wait_until(lambda: "out: 0 wait" in (text := a.cli("host", "show", "b.example.com")) and text, 120,
                       "b to say what it has to do")
    assert "in: 0 wait" in shown, shown
    assert hosts(a)["a"]["epoch"] < hosts(a)["b"]["epoch"]
    metrics = b.cli("metrics")
    assert 'listrunner_host_up{host="a.example.com"} 1' in metrics


def test_a_trace_says_whom_it_did_not_ask(instances, sink, server, tmp_path):
    """Each host knows what it did itself: page, shell and REST name the others, also where nothing was found, and one
    that is alone names none."""
    let_through(tmp_path)
    a = make_host(instances, sink, server, "a")
    a.set({"site": {"web_url": "https://pages.example"}, "runner.web": {"listen": f"127.0.0.1:{free_port()}"}})
    a.set(serving(tmp_path))
    a.create_list("talk", members=[ANNE, BOB], owner=CORA)
    a.start()
    a.pages = Pages(a)
    cora, rest = Person(a, sink, CORA), Rest(a)
    page, where = f"/desk/list/talk.{HOST}/trace?of=", "listrunner/trace?message_id="
    sends = [post(to=f"talk@{HOST}", message_id=f"<by-{name}@example.net>") for name in "ab"]
    a.lmtp_send(sends[0], f"talk@{HOST}")
    known = wait_until(lambda: (done := a.run("trace", "by-a@example.net")).returncode == 0 and done, 30, "the trace")
    assert known.stderr == "" and rest.call("GET", f"{where}by-a@example.net").json["not_asked"] == []
    assert "not asked" not in cora.get(f"{page}by-a@example.net").text

    b = make_host(instances, sink, server, "b")
    b.has_store = True
    b.start()
    b.lmtp_send(sends[1], f"talk@{HOST}")
    for host, other in ((a, "b"), (b, "a")):
        name = "a" if other == "b" else "b"
        done = wait_until(lambda: (found := host.run("trace", f"by-{name}@example.net")).returncode == 0 and found, 30,
                          name)
        assert f"{other}.example.com was not asked" in done.stderr, done.stderr
        assert f"{name}.example.com was" not in done.stderr
    missing = a.run("trace", "by-b@example.net")
    assert missing.returncode == 1 and "b.example.com was not asked" in missing.stderr
    for name, count in (("a", "<h2>talk"), ("b", "Nothing was found")):
        answer = rest.call("GET", f"{where}by-{name}@example.net").json
        assert answer["not_asked"] == ["b.example.com"] and bool(answer["entries"]) == (name == "a")
        cora.get(f"{page}by-{name}@example.net").says("were not asked", "<bdi>b.example.com</bdi>", count)
    # Without the database the shell shows what this host knows, and says what it cannot find out.
    server.stop()
    done = a.run("trace", "by-a@example.net")
    assert done.returncode == 0 and ANNE in done.stdout and "cannot be found out" in done.stderr, done
    server.start()


def test_one_does_the_timer_and_another_takes_over(pair, sink, server):
    """The jobs that each host does for itself are done on both; all others on one, and on the other one after its
    death. A digest that is due meanwhile goes out once."""
    a, b = pair
    by_name = {"a": a, "b": b}
    first = wait_until(lambda: timer_of(server), 30, "a claim to the timer's jobs")
    wait_until(lambda: {"outbox@a.example.com", "outbox@b.example.com", "digests"} <=
               {row["name"] for row in map(json.loads, a.cli("task", "ls", "--json").splitlines())}, 30, "the jobs")
    dead, other = by_name[first], by_name["b" if first == "a" else "a"]
    a.add_members(f"talk@{HOST}", [CORA])
    a.cli("member", "set", f"talk@{HOST}", CORA, "--delivery-mode", "mime_digests")
    send(dead, "for the digest")
    wait_until(lambda: server.sql("SELECT waiting FROM site.digest", database="listrunner") == ["1"], 30,
               "the post to wait")
    epoch = hosts(other)[first]["epoch"]
    die(dead)
    server.sql("UPDATE site.digest SET first_at = first_at - 172800000000", database="listrunner")  # us: it is due now
    wait_until(lambda: states(other)[first] == "dead", 30, "the lease to end")
    told = wait_until(lambda: (done := other.run("status")).returncode == 2 and done.stdout, 30, "status to tell")
    assert f"The host {first}.example.com has not been heard of since" in told
    assert 'listrunner_host_up{host="%s.example.com"} 0' % first in other.cli("metrics")
    wait_until(lambda: timer_of(server) != first, 90, "the other one to take the timer over")
    wait_until(lambda: any(to == CORA for to, _ in arrived(sink)), 90, "the digest")
    refused = other.run("host", "remove", f"{'a' if first == 'b' else 'b'}.example.com")
    assert refused.returncode == 1 and "lives: stop it first" in refused.stderr
    dead.start()
    wait_until(lambda: states(other) == {"a": "living", "b": "living"}, 30, "it to live again")
    assert hosts(other)[first]["epoch"] > epoch
    assert timer_of(server) != first, "the claim stays where it is"
    dead.stop()
    assert states(other)[first] == "stopped"
    server.sql(f"UPDATE site.host SET state = '{{}}' WHERE name = '{first}.example.com'", database="listrunner")
    assert hosts(other)[first]["backlog"] is None and hosts(other)[first]["waiting"] is None
    other.cli("host", "remove", f"{first}.example.com")
    assert list(hosts(other)) == ["a" if first == "b" else "b"]
    wait_until(lambda: other.run("status").returncode == 0, 30, lambda: other.run("status").stdout)
    names = {row["name"] for row in map(json.loads, other.cli("task", "ls", "--json").splitlines())}
    assert f"outbox@{first}.example.com" not in names
    assert other.run("host", "remove", "c.example.com").returncode == 66
    other.wait_idle()
    assert sum(count for (to, _), count in arrived(sink).items() if to == CORA) == 1, "one digest"


@pytest.fixture
def slow_pages():
    """A web server that thinks for a second about each page, longer about those behind the first SOON unless it is to
    be quick, and notes which were asked for."""
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            time.sleep(1)
            if len(self.server.asked) > SOON:
                self.server.quick.wait(4)
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"Text\n")

        def log_message(self, *words):
            pass

    one = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    one.asked, one.quick = [], threading.Event()
    threading.Thread(target=one.serve_forever, daemon=True).start()
    yield one
    one.shutdown()


def test_a_job_goes_on_as_long_as_the_lease(instances, sink, server, slow_pages):
    """A job that takes longer than one lease is not cut, for the lease is renewed. One that is, since its host is
    drained, is due at once, and another host goes on with it."""
    a, b = (make_host(instances, sink, server, name) for name in "ab")
    url = f"127.0.0.1:{slow_pages.server_port}"
    for host in (a, b):
        host.set({"site": {"template_hosts": url}})
    a.create_list("talk")
    texts = [(place, name) for place in (["--list", f"talk@{HOST}"], ["--domain", HOST], [])
             for name in ("hold", "welcome", "goodbye", "rejected")]
    for number, (place, name) in enumerate(texts):
        a.cli("template", "set", *place, "--uri", f"http://{url}/{number}", f"list:user:notice:{name}")
    a.cli("queue", "delete", "--queue", "task")  # the timer shall find them by itself
    a.start()
    wait_until(lambda: len(slow_pages.asked) >= SOON, 20, lambda: f"more than {slow_pages.asked}")
    a.cli("host", "drain", "a.example.com")
    wait_until(lambda: "job=templates result=cut" in a.log_text(), 10, "the job to be cut")
    wait_until(lambda: a.jobs()["templates"]["due_in"] == 0, 10, "its row to say so")
    assert len(slow_pages.asked) < len(texts), "too late to see anything"
    slow_pages.quick.set()
    b.has_store = True
    b.start()
    wait_until(lambda: len(slow_pages.asked) == len(texts), 20, "b to go on")
    assert len(set(slow_pages.asked)) == len(texts), "no page was asked for twice"


def test_jobs_that_nobody_does_are_not_late(pair, server):
    """Jobs of a host that was stopped are not late, nor those of the time before there were hosts, which the next start
    forgets."""
    a, b = pair
    wait_until(lambda: {"outbox", "outbox@b.example.com", "digests"} <= set(a.jobs()), 30,
               "the jobs of each, and those that either does")
    b.stop()
    server.sql("UPDATE site.job SET due_at = 1 WHERE name LIKE '%@b.example.com'", database="listrunner")
    server.sql("INSERT INTO site.job (name, started_at, ended_at, due_at, done, runs, failures, fault) "
               "SELECT name, 1, 1, 1, 0, 1, 0, '' FROM (VALUES ('outbox'), ('mta-maps')) AS bare (name)",
               database="listrunner")
    wait_until(lambda: a.run("status").returncode == 0, 30, lambda: a.run("status").stdout)
    metrics = a.cli("metrics")
    late = {job: float(seconds) for job, seconds in re.findall(r'task_late_seconds{job="(.*?)"} (.*)', metrics)}
    assert "outbox@a.example.com" in late and "digests" in late and max(late.values()) < 900, late
    a.stop()
    a.start()
    wait_until(lambda: server.sql("SELECT count(*) FROM site.job WHERE name IN ('outbox', 'mta-maps')",
                                  database="listrunner") == ["0"], 30, "the bare names to be forgotten")


def test_changes_of_one_host_are_not_settled_by_the_other(pair, sink, server):
    """A row that says which mail was prepared in a spool stays until the host with that spool has settled it."""
    a, b = pair
    spool = (a.spool / ".id").read_text().strip()
    a.stop()
    server.sql("INSERT INTO site.outbox_unit (tag, queues, made_at, given_up, asked, spool) VALUES "
               f"('0123456789abcdef0123456789abcdef', 'virgin', 1, 0, 0, '{spool}')", database="listrunner")
    b.run_job("outbox")
    b.cli("task", "run", "outbox@b.example.com")
    refused = b.run("task", "run", "outbox@a.example.com")
    assert refused.returncode == 64 and "the host a.example.com: give the command there" in refused.stderr
    refused = b.run("task", "run", "nojob")
    assert refused.returncode == 66 and ", outbox, " in refused.stderr and "@" not in refused.stderr, refused.stderr

    def left():
        return server.sql("SELECT count(*) FROM site.outbox_unit", database="listrunner") != ["0"]
    assert left()
    a.start()
    a.run_job("outbox")  # which comes by itself within a minute
    wait_until(lambda: not left(), 90, "a to settle it")


def test_rest_tells_of_all_hosts(pair):
    """REST of one host shows the other, drains it and takes that back; status and metrics tell of both."""
    a, b = pair
    a.stop()
    a.set(serving(a.directory))
    a.start()
    api, name = Rest(a), "b.example.com"

    def shown():
        return {row["name"]: row["state"] for row in api.call("GET", "listrunner/hosts").json["entries"]}
    wait_until(lambda: shown() == {"a.example.com": "living", name: "living"}, 30, "both to live")
    assert api.call("PATCH", f"listrunner/hosts/{name}", draining="yes").status == 204
    assert shown() == {"a.example.com": "living", name: "draining"}
    wait_until(lambda: api.call("GET", f"listrunner/hosts/{name}").json["backlog"] == 0, 120, "b to say what it has")
    told = {row["name"]: row["draining"] for row in api.call("GET", "listrunner/status").json["hosts"]}
    assert told == {"a.example.com": False, name: True}
    metrics = api.raw("GET", "/metrics").text
    assert f'listrunner_host_draining{{host="{name}"}} 1' in metrics, metrics
    assert 'listrunner_host_draining{host="a.example.com"} 0' in metrics
    assert f'listrunner_host_backlog{{host="{name}"}} 0' in metrics
    assert api.call("DELETE", f"listrunner/hosts/{name}").status == 409
    assert api.call("PATCH", f"listrunner/hosts/{name}", draining="no").status == 204
    assert shown() == {"a.example.com": "living", name: "living"}
    b.stop()
    assert api.call("GET", f"listrunner/hosts/{name}").json["state"] == "stopped"
    assert api.call("DELETE", f"listrunner/hosts/{name}").status == 204
    assert shown() == {"a.example.com": "living"}


def test_connections_are_added_up(instances, sink):
    """config check says when all hosts together may open more connections than the server takes, and changes nothing;
    it says so, too, when the server is away."""
    server = postgresql.Server(connections=60)
    try:
        a, b = (make_host(instances, sink, server, name) for name in "ab")
        fine = a.run("config", "check")  # no schema yet
        assert fine.returncode == 0 and "in order" in fine.stdout and fine.stderr == "", fine
        a.create_list("talk")
        a.start()
        each = hosts(a)["a"]["connections"]
        assert 10 < each < 28, each
        b.has_store = True
        assert "in order" in b.run("config", "check").stdout
        many = 57 - 2 * each  # 3 of the 60 are the superuser's
        b.set({"runner.in": {"instances": 16 if many < 15 else 32}})
        b.start()
        wait_until(lambda: states(a) == {"a": "living", "b": "living"}, 30, "both to live")
        told = a.run("config", "check")
        sum_of = sum(row["connections"] for row in hosts(a).values())
        assert told.returncode == 0 and "see the warnings" in told.stdout, told
        assert f"the hosts may open {sum_of} connections (a.example.com {each}, b.example.com" in told.stderr, told
        assert f"the server takes 57 from this role: raise max_connections of PostgreSQL by {sum_of - 57} " in (
            told.stderr)
        assert a.run("config", "check", "--offline").stderr == ""
        b.stop()
        a.cli("host", "remove", "b.example.com")
        assert "in order" in a.run("config", "check").stdout
        a.stop()
        server.sql("ALTER ROLE listrunner CONNECTION LIMIT 5")
        assert "the server takes 5 from this role" in a.run("config", "check").stderr
        server.stop("fast")
        away = a.run("config", "check")
        assert away.returncode == 0 and "Connection refused" in away.stderr, away
    finally:
        server.remove()


def keepalive_of(port):
    """Of each connection that a server on this port has, after how many seconds at most the kernel asks whether the
    other end is still there; None: it does not."""
    rows = [line.split() for line in open("/proc/net/tcp", encoding="ascii").readlines()[1:]]
    timers = [row[5].split(":") for row in rows if int(row[1].partition(":")[2], 16) == port and row[3] == "01"]
    return [int(when, 16) / os.sysconf("SC_CLK_TCK") if kind == "02" else None for kind, when in timers]


def test_the_server_asks_whether_hosts_are_there(pair, server):
    """An open transaction of a host that was cut off keeps locks, so the server looks for it every few seconds."""
    a, _ = pair
    a.wait_idle()

    def all_ask():  # one with data on its way has another timer for the moment
        found = keepalive_of(server.port)
        return found and all(asks_after is not None and asks_after <= 10 for asks_after in found)
    wait_until(all_ask, 10, lambda: keepalive_of(server.port))


def test_drained(pair, sink):
    """One takes no more mail, works off what it has, and takes mail again."""
    a, b = pair

    def code(host):
        with host.lmtp() as client:
            client.ehlo_or_helo_if_needed()
            return client.mail("x@example.net")[0]
    assert code(a) == code(b) == 250
    assert a.run("host", "drain", "b.example.com").stderr == ""
    wait_until(lambda: code(b) == 451, 30, "b to take no more")
    assert code(a) == 250 and states(a) == {"a": "living", "b": "draining"}
    told = a.run("status")
    assert told.returncode == 2 and "The host b.example.com is drained and takes no mail" in told.stdout, told.stdout
    assert "No other host lives and takes mail" in a.run("host", "drain", "a.example.com").stderr
    a.cli("host", "drain", "a.example.com", "--undo")
    wait_until(lambda: code(a) == 250, 30, "a to take mail again")
    with pytest.raises(smtplib.SMTPException):
        send(b, "no")
    send(a, "yes")
    a.wait_idle()
    b.cli("host", "drain", "b.example.com", "--undo")
    wait_until(lambda: code(b) == 250, 30, "b to take mail again")
    assert arrived(sink) == {(ANNE, "yes"): 1, (BOB, "yes"): 1}
    assert a.run("host", "drain", "c.example.com").returncode == 66


def is_refused(instance, runner, why):
    return f"{runner}[0]: error: cannot start: {why}" in instance.log_text()


def recipient_code(instance):
    with instance.lmtp() as client:
        client.ehlo_or_helo_if_needed()
        assert client.mail("x@example.net")[0] == 250
        return client.rcpt(f"talk@{HOST}")[0]


def test_a_copy_does_not_work(pair, sink, server):
    """A spool that another machine works, as the first of a copied one: no runner takes anything from it, and no mail
    comes into it, until that machine's lease has ended."""
    a, b = pair
    a.stop()
    server.sql("UPDATE site.host SET boot = 'elsewhere', lease_until = 9000000000000000 WHERE name = 'a.example.com'",
               database="listrunner")
    a.start(wait=False)
    wait_until(lambda: all(is_refused(a, runner, "the spool is worked, as a.example.com, by another machine")
                           for runner in (*WORKERS, "host")), 30,
               lambda: f"all to be refused: {a.log_text()[-3000:]}")
    assert recipient_code(a) == 451
    assert states(b) == {"a": "living", "b": "living"}
    server.sql("UPDATE site.host SET lease_until = 1 WHERE name = 'a.example.com'", database="listrunner")
    a.wait_ready(90)
    wait_until(lambda: recipient_code(a) == 250, 30, "a to take mail")
    send(a, "yes")
    wait_until(lambda: arrived(sink) == {(ANNE, "yes"): 1, (BOB, "yes"): 1}, 60, "the mail")


def test_a_host_that_cannot_tell_its_own_processes_has_no_lease(pair, server):
    """As when its disk is full: another one does the timer's jobs."""
    a, b = pair
    by_name = {"a": a, "b": b}
    first = wait_until(lambda: timer_of(server), 30, "a claim to the timer's jobs")
    full, other = by_name[first], by_name["b" if first == "a" else "a"]
    obstacle = full.spool / ".host.new"
    obstacle.mkdir()
    wait_until(lambda: states(other)[first] == "stopped", 30, "the lease to be given back")
    wait_until(lambda: timer_of(server) != first, 90, "the other one to take the timer over")
    assert "the lease of this host is not renewed: create .host.new" in full.log_text()
    obstacle.rmdir()
    wait_until(lambda: states(other) == {"a": "living", "b": "living"}, 30, "it to live again")


def test_wrong_hosts(pair, instances, sink, server):
    """A name that lives already, a spool of another name or of another site: each says so, and changes nothing."""
    a, b = pair
    epoch = hosts(a)["b"]["epoch"]
    twin = make_host(instances, sink, server, "b")
    twin.has_store = True
    twin.start(wait=False)
    wait_until(lambda: "a host named b.example.com lives already and works another spool" in twin.log_text(), 30,
               lambda: f"the twin to be refused: {twin.log_text()[-2000:]}")
    wait_until(lambda: all(is_refused(twin, runner, "a host named b.example.com lives already") for runner in WORKERS),
               30, lambda: f"its runners to be refused: {twin.log_text()[-2000:]}")
    assert recipient_code(twin) == 451
    twin.stop()
    assert states(a) == {"a": "living", "b": "living"} and hosts(a)["b"]["epoch"] == epoch
    b.stop()
    copied = b.run("store", "copy", "configured", b.directory / "lib" / "copy.db")
    assert copied.returncode == 1 and "the host a.example.com works with" in copied.stderr, copied.stderr
    b.set({"site": {"hostname": "c.example.com"}})
    b.start(wait=False)
    wait_until(lambda: "the spool is that of the host b.example.com" in b.log_text(), 30, "the new name to be refused")
    b.stop()
    b.set({"site": {"hostname": "b.example.com"}, "store": {"url": server.url("elsewhere")}})
    b.has_store = False
    b.start(wait=False)
    # These two deliver and archive what the spool has, as while the database is away.
    others = [runner for runner in WORKERS if runner not in ("out", "archive")]
    wait_until(lambda: all(re.search(rf"{runner}\[0\]: error: cannot start: .*: it is not the database that this host",
                                     b.log_text()) for runner in others), 30, "the other site to be refused")
    assert recipient_code(b) == 451, "that database knows no list, but the right one may"
    b.stop()
    crash = re.search(r"signal (?!15\b).*", b.log_text()) # 15: one that was told to stop before it listened for that
    assert not crash, f"one crashed where it should have ended: {crash[0]}"
    assert states(a) == {"a": "living", "b": "stopped"}

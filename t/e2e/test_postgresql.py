# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A site whose lists are in PostgreSQL: its server goes away and comes back, or another one takes over; PgBouncer is
between; the site moves there and back; what is configured wrongly. Tests of other files run with PostgreSQL, too, by
t/tools/with-postgresql."""
import contextlib
import json
import os
import pwd
import random
import shutil
import signal
import smtplib
import threading
import time
from collections import Counter
from email import message_from_bytes

import pytest

from support import postgresql
from support.certificate import Authority
from support.clock import DAY
from support.instance import HOST, let_through, wait_until, write_secret
from support.post import post
from support.rest import Rest, serving
from support.turns import TurnCounter

pytestmark = pytest.mark.skipif(not postgresql.programs(), reason="PostgreSQL's server is not installed")

ANNE, BOB = "anne@example.org", "bob@example.net"


@pytest.fixture
def server():
    one = postgresql.Server()
    yield one
    one.remove()


@pytest.fixture
def site(instances, sink, server):
    """Two lists, of which only talk@ was asked for at the door, and REST."""
    instance = instances(sink.port)
    instance.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site")}})
    instance.set(serving(instance.directory))
    instance.create_list("talk", members=[ANNE, BOB], owner="olga@example.com")
    instance.create_list("other", members=[ANNE])
    instance.start()
    with instance.lmtp() as client:
        client.sendmail("x@example.net", f"talk@{HOST}", post(subject="first", to=f"talk@{HOST}"))
    instance.wait_idle()
    sink.purge()
    return instance


def answer(instance, name):
    """The door's code for RCPT."""
    with instance.lmtp() as client:
        client.ehlo_or_helo_if_needed()
        client.mail("x@example.net")
        return client.rcpt(f"{name}@{HOST}")[0]


def send(instance, subject, name="talk"):
    instance.lmtp_send(post(subject=subject, to=f"{name}@{HOST}"), f"{name}@{HOST}")


def arrived(sink):
    """{recipient: subjects, in no order}"""
    found = {}
    for transaction in sink.transactions():
        subject = message_from_bytes(transaction.octets)["Subject"].split("] ")[-1]
        for to in transaction.to:
            found.setdefault(to, []).append(subject)
    return {to: sorted(subjects) for to, subjects in found.items()}


def workers(instance):
    return {pid for runner in ("in", "pipeline", "lmtp", "command", "task") for pid in instance.pids(runner)}


def assert_all_came(site, sink, subjects):
    expected = sorted(subjects)
    wait_until(lambda: arrived(sink) == {ANNE: expected, BOB: expected}, 120, lambda: f"all posts: {arrived(sink)}")
    site.wait_idle()
    assert site.set_aside() == [] and arrived(sink) == {ANNE: expected, BOB: expected}


def test_the_server_goes_and_comes_back(site, sink, server):
    """Mail for addresses known at the door is taken, all else is refused for now; nobody is bounced, no process ends,
    and all goes on by itself. The status says since when."""
    api, subjects = Rest(site), [f"meanwhile {number:02}" for number in range(20)]
    started = workers(site)
    server.stop()
    wait_until(lambda: answer(site, "other") == 451, 30, "451 for a list that the door does not know")
    assert answer(site, "talk") == 250 and answer(site, "stranger") == 451
    for subject in subjects:
        send(site, subject)
    away = api.call("GET", "lists")
    assert away.status == 503 and int(away.headers["Retry-After"]) > 0
    days = [time.strftime("%Y-%m-%d", time.gmtime(time.time() + number * DAY)) for number in (0, 1)]
    status = wait_until(lambda: (told := site.run("status")).returncode != 0 and "away since" in told.stdout and told,
                        30, "the status to tell")
    assert any(day in status.stdout for day in days)
    told = wait_until(lambda: (lines := site.log_text().count("away since")) >= 8 and lines, 30, "the log to tell")
    time.sleep(3)
    assert site.log_text().count("Connection refused") <= told + 8, "the log says it again and again"
    assert answer(site, "talk") == 250 and arrived(sink) == {}
    server.start()
    assert_all_came(site, sink, subjects)
    wait_until(lambda: answer(site, "other") == 250, 30, "the door to know again")
    assert answer(site, "stranger") == 550
    assert api.call("GET", "lists").status == 200
    wait_until(lambda: site.run("status").returncode == 0, 30, "the status to be well")
    assert workers(site) == started and "the database is back after" in site.log_text()


def test_the_server_stands_still(site, sink, server):
    """It keeps its connections and takes new ones, and answers nothing, as when its disk does not answer. That is as if
    it were away: a door waits for it once, and then only now and then."""
    api, subjects = Rest(site), [f"meanwhile {number:02}" for number in range(20)]
    started = workers(site)
    with server.standing_still():
        wait_until(lambda: answer(site, "other") == 451, 60, "451 for a list that the door does not know")
        assert answer(site, "talk") == 250 and answer(site, "stranger") == 451
        for subject in subjects:
            send(site, subject)
        away = wait_until(lambda: (told := api.call("GET", "lists")).status == 503 and told, 60, "503")
        assert int(away.headers["Retry-After"]) > 0
        wait_until(lambda: (told := site.run("status")).returncode != 0 and "the database is away since" in told.stdout,
                   60, "the status to tell")
        assert answer(site, "talk") == 250 and arrived(sink) == {}
    assert_all_came(site, sink, subjects)
    wait_until(lambda: answer(site, "other") == 250, 120, "the door to know again")
    assert answer(site, "stranger") == 550
    wait_until(lambda: api.call("GET", "lists").status == 200, 120, "REST to answer again")
    wait_until(lambda: site.run("status").returncode == 0, 120, "the status to be well")
    assert workers(site) == started


def test_a_door_opens_while_the_server_stands_still(instances, sink, server, until_end):
    """The server takes the connection of a door that starts, says who it is, and then answers nothing. The door gives
    up, says 451, and asks again later."""
    proxy = until_end(TurnCounter(server.port))
    instance = instances(sink.port)
    instance.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site", port=proxy.port)}})
    instance.create_list("talk", members=[ANNE, BOB])
    instance.start()
    assert answer(instance, "talk") == 250
    door, = instance.pids("lmtp")
    proxy.swallowed = "MAX(number)"
    os.kill(door, signal.SIGKILL)
    wait_until(lambda: not os.path.exists(f"/proc/{door}"), 60, "the door to have ended")
    assert answer(instance, "talk") == 451
    proxy.swallowed = None
    wait_until(lambda: answer(instance, "talk") == 250, 120, "the door to know again")


def test_poolers_before_primary_and_standby(instances, sink, server):
    """Each server has a PgBouncer before it, and both are in the address. PgBouncer does not know which server takes
    writes, so the servers are asked themselves, and each process finds the new primary."""
    standby = postgresql.Server(copy_of=server)
    poolers = []
    try:
        poolers += [postgresql.Pooler(server), postgresql.Pooler(standby)]
        ports = ",".join(str(pooler.port) for pooler in poolers)
        instance = instances(sink.port)
        url = server.url().replace("host=127.0.0.1", "host=127.0.0.1,127.0.0.1")
        instance.set({"store": {"path": None, "driver": "postgresql",
                                "url": url.replace(f"port={server.port}", f"port={ports}")}})
        instance.create_list("talk", members=[ANNE, BOB])
        instance.start()
        started, subjects = workers(instance), [f"{number:03}" for number in range(60)]
        for subject in subjects[:30]:
            send(instance, subject)
        wait_until(lambda: (position := server.sql("SELECT pg_current_wal_lsn()")[0]) and
                   standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == ["t"], 60, "the standby")
        server.stop()
        standby.promote()
        server.become_standby_of(standby)
        for subject in subjects[30:]:
            while True:  # 451 while the door does not know yet that the other one takes writes
                with contextlib.suppress(smtplib.SMTPException):
                    send(instance, subject)
                    break
        assert_all_came(instance, sink, subjects)
        assert workers(instance) == started
        assert instance.cli("list", "show", f"talk@{HOST}")
    finally:
        for pooler in poolers:
            pooler.stop()
        standby.remove()


def test_a_commit_of_which_nobody_knows(site, server):
    """The server's process ends while its commit waits for a standby: the change is there, or not, and REST does not
    say that nothing was changed. Where the server refused before, it does."""
    api, answers = Rest(site), []

    def join(address):
        answers.append(api.call("POST", "members", list_id=f"talk.{HOST}", subscriber=address, pre_verified=True,
                                pre_confirmed=True, pre_approved=True, send_welcome_message=False))

    waiting = "FROM pg_stat_activity WHERE application_name LIKE 'rest%' AND wait_event = 'SyncRep'"
    server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
    asking = threading.Thread(target=join, args=("carl@example.org",))
    asking.start()
    wait_until(lambda: server.sql(f"SELECT pid {waiting}"), 60, "the commit to wait")
    server.sql(f"SELECT pg_terminate_backend(pid) {waiting}")
    asking.join(60)
    assert not asking.is_alive()
    server.sql("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
    assert answers[0].status == 503 and "may have been made" in answers[0].text, answers
    assert "Nothing was changed" not in answers[0].text and "Retry-After" not in answers[0].headers
    wait_until(lambda: join("carl@example.org") or answers[-1].status != 503, 60, "REST to go on")
    assert answers[-1].status == 409
    with contextlib.closing(postgresql.connect(server.url("site"))) as connection:
        connection.execute("LOCK TABLE member IN SHARE ROW EXCLUSIVE MODE")
        join("dora@example.org")
    assert answers[-1].status == 503 and "Nothing was changed" in answers[-1].text
    join("dora@example.org")
    assert answers[-1].status == 201


def test_the_standby_takes_over(instances, sink, server):
    """The primary dies in the middle of the work; once the other one is promoted, all goes on there."""
    server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
    standby = postgresql.Server(copy_of=server)
    try:
        instance = instances(sink.port)
        url = server.url("site").replace("host=127.0.0.1", "host=127.0.0.1,127.0.0.1")
        instance.set({"store": {"path": None, "driver": "postgresql",
                                "url": url.replace(f"port={server.port}", f"port={server.port},{standby.port}")}})
        instance.create_list("talk", members=[ANNE, BOB])
        instance.start()
        started, subjects = workers(instance), [f"{number:03}" for number in range(60)]
        for subject in subjects[:30]:
            send(instance, subject)
        server.stop()
        for subject in subjects[30:]:
            send(instance, subject)
        standby.promote()
        standby.sql("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")  # it has none itself
        assert_all_came(instance, sink, subjects)
        assert workers(instance) == started
        assert instance.cli("list", "show", f"talk@{HOST}")
    finally:
        standby.remove()


def test_connections_are_cut_at_any_moment(instances, sink, server):
    """Whatever a process was doing when its connection went, a COMMIT or the middle of a roster among it: every member
    gets every post once."""
    instance = instances(sink.port)
    instance.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site")}})
    members = [f"m{number}@example.org" for number in range(700)]  # more than one answer of the server brings
    instance.create_list("talk", members=members)
    instance.start()
    subjects, cuts, stop = [f"{number:02}" for number in range(30)], [], threading.Event()

    def cut():
        dice = random.Random(29)
        with contextlib.closing(postgresql.connect(server.url())) as connection:
            connection.autocommit = True
            while not stop.is_set():
                cuts.extend(connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'listrunner' AND "
                    "pid <> pg_backend_pid() ORDER BY random() LIMIT 2").fetchall())
                time.sleep(dice.uniform(0.02, 0.2))
    cutter = threading.Thread(target=cut)
    cutter.start()
    try:
        for subject in subjects:
            code = None
            while code != 250:  # 451 while the door has no connection: the MTA tries again
                with contextlib.suppress(smtplib.SMTPException):
                    instance.lmtp_send(post(subject=subject, to=f"talk@{HOST}"), f"talk@{HOST}")
                    code = 250
        wait_until(lambda: len(cuts) > 100, 60, "enough cuts")
    finally:
        stop.set()
        cutter.join()
    instance.wait_idle(120)
    came = Counter((message_from_bytes(one.octets)["Subject"].split("] ")[-1], to)
                   for one in sink.transactions() for to in one.to)
    assert came == {(subject, member): 1 for subject in subjects for member in members}
    assert instance.set_aside() == []


def test_behind_a_pooler(instances, sink, server, until_end):
    """PgBouncer gives each transaction another process of the server."""
    pooler = until_end(postgresql.Pooler(server))
    instance = instances(sink.port)
    instance.set({"store": {"path": None, "driver": "postgresql", "url": server.url(port=pooler.port)}})
    instance.create_list("talk", members=[ANNE, BOB])
    instance.start()
    subjects = [f"{number:02}" for number in range(30)]
    for subject in subjects:
        send(instance, subject)
    assert_all_came(instance, sink, subjects)
    instance.cli("member", "add", f"talk@{HOST}", "carl@example.org")
    assert "carl@example.org" in instance.cli("member", "ls", f"talk@{HOST}")


def test_moves_there_and_back(instances, sink, server):
    instance = instances(sink.port)
    file = instance.directory / "lib" / "listrunner.db"
    instance.set({"store": {"driver": None, "url": None, "path": file}})
    instance.create_list("talk", members=[ANNE, BOB], owner="olga@example.com", settings=["description=Grüße"])
    instance.create_list("other", members=[f"member{number}@example.org" for number in range(700)])
    instance.start()
    refused = instance.run("store", "copy", "configured", server.url("site"))
    assert refused.returncode != 0 and "running" in refused.stderr
    send(instance, "one")
    assert_all_came(instance, sink, ["one"])
    instance.stop()
    shown = instance.cli("list", "show", f"talk@{HOST}"), instance.cli("member", "ls", f"other@{HOST}")
    assert "rows in" in instance.cli("store", "copy", "configured", server.url("site"))
    again = instance.run("store", "copy", "configured", server.url("site"))
    assert again.returncode != 0 and "holds data already" in again.stderr
    instance.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site")}})
    assert (instance.cli("list", "show", f"talk@{HOST}"), instance.cli("member", "ls", f"other@{HOST}")) == shown
    instance.start()
    send(instance, "two")
    assert_all_came(instance, sink, ["one", "two"])
    instance.stop()
    back = instance.directory / "lib" / "back.db"
    instance.cli("store", "copy", "configured", back)
    instance.set({"store": {"driver": None, "url": None, "path": back}})
    instance.cli("store", "check")
    assert instance.cli("member", "ls", f"other@{HOST}") == shown[1]
    instance.start()
    send(instance, "three")
    assert_all_came(instance, sink, ["one", "two", "three"])


def test_certificates_that_expire(instances, sink, server, tmp_path):
    """The certificates that the address of the database names are told in time, as those of the configuration are."""
    let_through(tmp_path)
    authority = Authority(tmp_path / "authority")
    own, root = tmp_path / "own.crt", tmp_path / "root.crt"
    root.write_text(authority.certify("root.example.com", days=10).with_suffix(".crt").read_text() +
                    authority.file.read_text())
    instance = instances(sink.port)
    url = f"{server.url('site')}&sslcert={own}&sslrootcert={root}"
    instance.set({"store": {"path": None, "driver": "postgresql", "url": url}})
    instance.create_list("talk", members=[ANNE])
    own.write_text(authority.certify("own.example.com", days=365).with_suffix(".crt").read_text())
    instance.start()
    for days, words in ((365, None), (10, "expires at"), (-1, "expired at")):
        own.write_text(authority.certify("own.example.com", days=days).with_suffix(".crt").read_text())
        status, doctor = instance.run("status"), instance.run("doctor", "--no-dns", "--no-probe", "--json")
        found = [row for row in map(json.loads, doctor.stdout.splitlines()) if row["subject"] == "certificates"]
        for name, file in (("sslcert", own), ("sslrootcert", root)):
            assert f'setting="[store] url ({name})",file="{file}"' in instance.cli("metrics")
        if not words:
            assert "certificate" not in status.stdout and [row["state"] for row in found] == ["ok"]
            continue
        said = f"certificate {own} of [store] url (sslcert) {words}"
        assert said in status.stdout and status.returncode == 2, status
        assert len(found) == 1 and said in found[0]["text"] and not found[0]["mend"], found
        assert found[0]["state"] == ("warning" if days > 0 else "fault")


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user")
def test_tls_where_root_starts_it(instances, sink, server, tmp_path, monkeypatch):
    """A program that root starts becomes the user: the library of PostgreSQL does not look into root's directory."""
    both = Authority(tmp_path / "authority").certify("127.0.0.1")
    for name in ("server.crt", "server.key"):
        shutil.copyfile(both, server.data / name)
        shutil.chown(server.data / name, postgresql.OWNER)
        (server.data / name).chmod(0o600)
    server.sql("ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()")
    home = tmp_path / "home"
    (home / ".postgresql").mkdir(parents=True)
    home.chmod(0o700)
    monkeypatch.setenv("HOME", str(home))
    instance = instances(sink.port)
    instance.set({"store": {"path": None, "driver": "postgresql", "url": f"{server.url('site')}&sslmode=require"}})
    instance.create_list("talk", members=[ANNE])
    instance.start()
    send(instance, "over TLS")
    instance.wait_idle()
    assert arrived(sink) == {ANNE: ["over TLS"]}


@pytest.mark.skipif(os.getuid() != 0, reason="only root keeps a file that another user may read")
def test_setup_finds_the_database(instances, sink, server):
    """A second host's setup leaves the database as it is, with a password that root keeps for the user's group."""
    server.sql(f"ALTER ROLE {postgresql.ROLE} PASSWORD 'secret'")
    server.demand_passwords()
    for name in ("a", "b"):
        instance = instances(sink.port)
        password = instance.directory / "password"
        password.write_text("secret\n")
        password.chmod(0o640)
        shutil.chown(password, "root", pwd.getpwnam(instance.user).pw_gid)
        instance.set({"store": {"path": None, "driver": "postgresql", "url": server.url("site"),
                                "password_file": password},
                      "site": {"hostname": f"{name}.example.com", "site_owner": "ops@example.net"}})
        done = instance.run("setup", "--domain", HOST, "--owner", "ops@example.net", "--mta", "none", "--yes",
                            "--no-start")
        assert done.returncode == 0, done.stderr
        assert ("was made" in done.stdout) == (name == "a"), done.stdout


def test_what_is_wrong_is_named(instances, sink, server):
    instance = instances(sink.port)

    def fault(*words, **store):
        instance.set({"store": {"path": None, "password_file": None, "driver": "postgresql", **store}})
        done = instance.run(*words)
        assert done.returncode != 0 and done.stdout == "", done
        assert "Pa55word" not in done.stderr
        return done.stderr

    assert "without url" in fault("config", "check", url=None)
    assert "password_file" in fault("config", "check", url="postgresql://x:Pa55word@127.0.0.1/y")
    assert "password_file" in fault("config", "check", url="host=127.0.0.1 password=Pa55word")
    assert "Connection refused" in fault("store", "create", url="postgresql://x@127.0.0.1:1/y")
    assert '"nowhere" does not exist' in fault("store", "create", url=server.url().replace("/listrunner?", "/nowhere?"))
    assert "sslmod" in fault("store", "create", url=server.url() + "&sslmod=require")
    server.sql("CREATE ROLE locked LOGIN PASSWORD 'right'",
               "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'",
               "CREATE DATABASE wide OWNER listrunner")
    assert "LATIN1" in fault("store", "create", url=server.url().replace("/listrunner?", "/latin?"))
    assert "store create" in fault("list", "ls", url=server.url())
    server.sql("CREATE TABLE invoice (number int)", database="wide")
    assert "invoice" in fault("store", "create", url=server.url().replace("/listrunner?", "/wide?"))
    server.demand_passwords()
    file, url = instance.directory / "password", server.url().replace("user=listrunner", "user=locked")
    write_secret(file, "Pa55word\n")
    assert "password authentication failed" in fault("list", "ls", url=url, password_file=file)
    write_secret(file, "right\n")
    assert "store create" in fault("list", "ls", url=url, password_file=file)  # it may look, and finds nothing
    file.chmod(0o644)
    assert str(file) in fault("config", "check", url=url, password_file=file)

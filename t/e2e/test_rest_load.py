# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Many clients change lists, members and people over REST while its processes are killed: no change is half done, and
no answer is without its effect. LISTRUNNER_LOAD_SECONDS says how long the load lasts."""
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from support import rest
from support.rest import Rest
from support.rest_load import HOME, SHOWN, STYLE, Client, Figures, Line, Shared, read_list, tags_of

pytestmark = pytest.mark.proof

SECONDS = float(os.environ.get("LISTRUNNER_LOAD_SECONDS", "6"))
SEED = os.environ.get("LISTRUNNER_SEED", "1")
CLIENTS, SHARED, HELD = 64, 4, 2
LEAST_KILLS, LEAST_CHANGES = 8, 500  # however slow the machine is
PATIENCE = 180  # seconds behind the end of the load, for these


@pytest.fixture
def sink(sinks):
    return sinks()


@pytest.fixture
def site(instances, sink):
    instance = instances(sink.port, settings={
        "style.load": STYLE, "master": {"restart_delay_min": "20ms", "restart_delay_max": "100ms"}})
    instance.set(rest.serving(instance.directory, requests_per_connection=300))
    instance.set({"runner.rest": {"instances": 2}})  # so that changes meet, too
    return instance.start()


# ---- the load ----

def kill(instance, chance):
    """kill -9 of one process of the runner, or of all; how many."""
    pids = instance.pids("rest")
    killed = 0
    for pid in pids if chance.random() < 0.3 else chance.sample(pids, min(len(pids), 1)):
        try:
            os.kill(pid, signal.SIGKILL)
            killed += 1
        except ProcessLookupError:
            pass
    return killed


def storm(instance, figures, chance):
    """Kill until the time is over, and enough has happened to say something; how many processes died."""
    kills, end = 0, time.monotonic() + SECONDS
    while not figures.faults:
        little = kills < LEAST_KILLS or figures.answered.total() < LEAST_CHANGES
        if time.monotonic() > end + (PATIENCE if little else 0):
            assert not little, f"{kills} kills and {figures.answered.total()} changes, and {PATIENCE} s are over"
            break
        time.sleep(chance.uniform(0.05, 0.4))
        kills += kill(instance, chance)
    return kills


def load(instance, clients, figures, pool):
    stop = threading.Event()
    at_work = [pool.submit(client.work, stop) for client in clients]
    try:
        kills = storm(instance, figures, random.Random(SEED))
    finally:
        stop.set()
    for each in at_work:
        each.result()
    instance.wait_ready()
    return kills


# ---- the account ----

def lines(instance, *words):
    return instance.rows(*words)


def list_by_shell(instance, address):
    config, = lines(instance, "list", "show", address)
    members = {f"{role} {row['address']}": row["delivery_mode"] for role in ("member", "owner", "moderator")
               for row in lines(instance, "member", "ls", address, f"--role={role}")}
    return {"config": {name: config[name] for name in SHOWN}, "members": members,
            "bans": sorted(instance.cli("ban", "ls", address, "--names").split()),
            "matches": [row["pattern"] for row in lines(instance, "header-match", "ls", address)]}


def check_by_shell(instance, clients):
    """The command line reads the same from the database as the models have: all names, and some lists whole."""
    def names(what):
        return sorted(instance.cli(what, "ls", "--names").split())
    domains = [client.host for client in clients if client.parts["domain"]]
    lists = [f"{part}@{client.host}" for client in clients for part in "ab" if client.parts[part]]
    homes = [f"{client.name}@{HOME}" for client in clients] + [f"shared{number}@{HOME}" for number in range(SHARED)]
    alone = [key.split()[1] for client in clients for key in client.parts["home"]["members"]]
    people = [(address, tuple(known["with"])) for client in clients
              for address, known in client.parts["people"].items()]
    assert names("domain") == sorted([HOME, *domains])
    assert names("list") == sorted(lists + homes)
    assert names("address") == sorted(alone + [address for address, _ in people])
    assert len(lines(instance, "user", "ls")) == len(alone) + len({together for _, together in people})
    for client in clients[::4]:
        for part in "ab":
            state = client.parts[part]
            if state:
                wanted = {name: state[name] for name in ("config", "bans", "matches")}
                wanted["members"] = {key: mode for key, (mode, _) in state["members"].items()}
                assert list_by_shell(instance, f"{part}@{client.host}") == wanted
    instance.cli("store", "check")


def check_mail(sink, clients):
    """Each change sent its letter, and each post arrived, once; what was not done sent none."""
    letters = Counter(to for transaction in sink.transactions() for to in transaction.to)
    copies = sink.copies()
    for client in clients:
        wanted = {guest: 1 for guest in client.guests}
        wanted |= {client.stranger(post): 1 for post, action in client.decided.items() if action == "reject"}
        got = {to: count for to, count in letters.items() if to.endswith((f"@guests.{client.host}",
                                                                         f"@strangers.{client.host}"))}
        assert got == wanted
        accepted = {post for post, action in client.decided.items() if action == "accept"}
        taken = {post for post, answered in client.posts.items() if answered}
        unknown = {post for post, answered in client.posts.items() if answered is None}
        arrived = {post.strip("<>"): count for (post, to), count in copies.items() if to == client.reader}
        assert set(arrived.values()) <= {1}
        assert accepted | taken <= set(arrived) <= accepted | taken | unknown


def check_shared(clients):
    for client in clients[:SHARED]:
        tags = tags_of(client.line.read(f"lists/{client.shared.list_id}/config"))
        assert len(tags) == 1 and tags <= client.shared.possible()


def test_load(site, sink):
    figures = Figures()
    shared = [Shared(f"shared{number}") for number in range(SHARED)]
    clients = [Client(site, number, SEED, shared[number % SHARED], figures) for number in range(CLIENTS)]
    site.cli("domain", "create", HOME)
    for each in shared:
        site.cli("list", "create", each.list_id.replace(".", "@", 1), "--style=load")
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda client: client.prepare(HELD), clients))
        site.wait_idle()
        list(pool.map(lambda client: client.begin(HELD), clients))
        sink.purge()
        kills = load(site, clients, figures, pool)
        cut = figures.not_answered()
        list(pool.map(Client.calm, clients))  # nothing hangs, and nothing waits for a lock of the dead
        requests = sum(client.line.requests for client in clients)
        print(f"\nseed {SEED}: {kills} processes killed within {SECONDS} s; {requests} requests, {figures}")
        assert not figures.faults, "\n".join(figures.faults[:5])
        assert figures.not_answered() == cut > 0
        list(pool.map(Client.verify, clients))
        assert not figures.faults, "\n".join(figures.faults[:5])
    check_shared(clients)
    check_by_shell(site, clients)
    site.wait_idle()
    check_mail(sink, clients)
    assert not site.set_aside()
    errors = [line for line in site.log_text().splitlines() if " error: " in line or "CRITICAL" in line]
    assert [line for line in errors if "signal 9 (Killed)" not in line] == [] and 0 < len(errors) <= kills


# ---- what is changed goes meanwhile ----

LIST, DOMAIN = "lists/gone.gone.example", "domains/gone.example"
ASKING = {"list_id": "gone.gone.example", "subscriber": "new@people.example"}
LATE = [  # changes of a list and a domain that both are there when they are asked for, and gone when they get the lock
    ("PATCH", f"{LIST}/config", {"description": "late", "info": "late"}),
    ("DELETE", f"{LIST}/config/acceptable_aliases", None),
    ("PATCH", f"{LIST}/archivers", {"mbox": "no"}),
    ("PATCH", f"{LIST}/uris", {"list:user:notice:welcome": "mailman:///late.txt"}),
    ("PUT", f"{LIST}/uris/list:user:notice:goodbye", {"list:user:notice:goodbye": "mailman:///late.txt"}),
    ("POST", f"{LIST}/bans", {"email": "late@example.net"}),
    ("POST", f"{LIST}/header-matches", {"header": "X-Late", "pattern": "late"}),
    ("PATCH", f"{LIST}/header-matches/0", {"position": 1}),
    ("DELETE", f"{LIST}/header-matches", None),
    ("POST", "members", {**ASKING, "pre_verified": True, "pre_confirmed": True, "pre_approved": True}),
    ("POST", "members", {**ASKING, "role": "owner"}),
    ("POST", "members", ASKING),
    ("PATCH", f"{LIST}/member/m@people.example", {"delivery_mode": "mime_digests", "moderation_action": "hold"}),
    ("DELETE", f"{LIST}/member/m@people.example", None),
    ("DELETE", f"{LIST}/roster/member", {"emails": "m@people.example"}),
    ("POST", f"{LIST}/digest", {"bump": True}),
    ("DELETE", LIST, None),
    ("PATCH", DOMAIN, {"description": "late"}),
    ("PATCH", f"{DOMAIN}/uris", {"list:user:notice:welcome": "mailman:///late.txt"}),
    ("POST", f"{DOMAIN}/owners", {"owner": "new@people.example"}),
    ("POST", "lists", {"fqdn_listname": "other@gone.example"}),
    ("DELETE", DOMAIN, None),
]


@pytest.mark.sqlite
def test_list_goes_while_changes_wait(site):
    """Each change waits for the database, in a process of its own, while list and domain are taken away."""
    site.cli("rescale", "rest", 32)
    site.wait_ready()
    api = Rest(site)

    def make():
        assert api.call("POST", "domains", mail_host="gone.example").status == 201
        assert api.call("POST", "lists", fqdn_listname="gone@gone.example", style_name="load").status == 201
    make()
    new = read_list(Line(site), "gone.gone.example")
    for pattern in ("one", "two"):
        assert api.call("POST", f"{LIST}/header-matches", header="X-Spam", pattern=pattern).status == 201
    assert api.call("POST", "members", ASKING, subscriber="m@people.example", pre_verified=True, pre_confirmed=True,
                    pre_approved=True).status == 201
    site.wait_idle()
    database = sqlite3.connect(site.sections["store"]["path"], isolation_level=None)
    with ThreadPoolExecutor(len(LATE)) as pool:
        for statement in ("PRAGMA foreign_keys = ON", "BEGIN IMMEDIATE"):
            database.execute(statement)
        asked = []
        for request in LATE:
            asked.append(pool.submit(api.call, *request))
            time.sleep(0.02)  # then it waits for the lock, and the next one goes to another process
        assert not any(each.done() for each in asked)
        for statement in ("DELETE FROM list WHERE mail_host = 'gone.example'",
                          "DELETE FROM domain WHERE mail_host = 'gone.example'", "COMMIT"):
            database.execute(statement)
        answers = [(verb, path, each.result()) for (verb, path, _), each in zip(LATE, asked)]
    assert [answer for answer in answers if answer[2].status not in (400, 404)] == []
    make()
    assert read_list(Line(site), "gone.gone.example") == new
    assert api.call("GET", f"{DOMAIN}/uris").json["total_size"] == 0
    assert api.call("GET", f"{DOMAIN}/owners").json["total_size"] == 0
    assert api.call("GET", "addresses/new@people.example").status == 404

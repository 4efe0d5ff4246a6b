# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Web hooks: programs outside hear of what happens, signed, once, and however long they were away."""
import base64
import contextlib
import hashlib
import hmac
import http.client
import http.server
import json
import re
import shutil
import threading
import time
from pathlib import Path

import pytest

from support import rest
from support.instance import wait_until, write_secret
from support.post import post
from support.rest import Rest

pytestmark = pytest.mark.main

SECRET = b"a secret of thirty octets or so"


def memory(site, name):
    """Of the first process of the runner, in KB."""
    child = next(group for group in site.status()["runners"] if group["runner"] == name)["children"][0]
    for line in open(f"/proc/{child['pid']}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])


class Receiver:
    """A program outside, as one writes it: checks the signature and answers."""

    def __init__(self):
        outer = self
        self.got, self.status, self.faults = [], 200, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = outer.status  # of now: a test may change it as soon as it sees the event
                outer.take(self.path, self.headers, body)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(b"said so")

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
        right = "v1," + base64.b64encode(hmac.digest(SECRET, signed, hashlib.sha256)).decode()
        if headers["webhook-signature"] != right or abs(time.time() - int(headers["webhook-timestamp"])) > 60:
            self.faults.append(dict(headers))
        event = json.loads(body)
        assert event["id"] == headers["webhook-id"]
        self.got.append((path, event))

    def events(self, path, kind=None):
        return [event for place, event in self.got if place == path and kind in (None, event["type"])]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory, receiver):
    directory = tmp_path_factory.mktemp("hooks")
    plain, coded = directory / "plain", directory / "coded"
    write_secret(plain, SECRET.decode() + "\n")
    write_secret(coded, "whsec_" + base64.b64encode(SECRET).decode() + "\n")
    with rest.site(directory, {
            "runner.hooks": {"start": "yes"}, "hooks": {"timeout": "60s"},
            "hook.all": {"url": f"{receiver.url}/all", "secret_file": plain},
            "hook.bee": {"url": f"{receiver.url}/bee", "secret_file": coded, "lists": "bee.example.com",
                         "events": "post.held, list.*"},
            "hook.dead": {"url": "http://127.0.0.1:9/", "secret_file": plain, "events": "list.created"},
            "hook.off": {"url": f"{receiver.url}/off", "secret_file": plain, "enabled": "no"}}) as instance:
        yield instance


@pytest.fixture(scope="module")
def api(site):
    api = Rest(site)
    assert api.call("POST", "domains", mail_host="example.com").status == 201
    for name in ("ant", "bee"):
        assert api.call("POST", "lists", fqdn_listname=f"{name}@example.com").status == 201
    return api


def test_what_happens_is_told(site, api, receiver):
    def of_elm(kind=None):
        return [event for event in receiver.events("/all", kind) if event["data"]["list_id"] == "elm.example.com"]
    assert api.call("POST", "lists", fqdn_listname="elm@example.com").status == 201
    wait_until(lambda: of_elm("list.created"), 30, "the list")
    assert api.call("POST", "members", list_id="elm.example.com", subscriber="anne@example.org", pre_verified="yes",
                    pre_confirmed="yes", pre_approved="yes").status == 201
    assert api.call("POST", "members", list_id="elm.example.com", subscriber="own@example.org",
                    role="owner").status == 201
    waiting = api.call("POST", "members", list_id="elm.example.com", subscriber="bart@example.org", pre_verified="yes")
    assert waiting.status == 202
    assert api.call("POST", f"lists/elm.example.com/requests/{waiting.json['token']}", action="discard").status == 204
    for sender in ("anne@example.org", "stranger@example.net"):
        site.lmtp_send(post(to="elm@example.com", sender=sender, subject="Roses", message_id=f"<{sender}>"),
                       "elm@example.com", sender=sender)
    wait_until(lambda: api.call("GET", "lists/elm.example.com/held/count").json["count"] == 1, 30, "the held post")
    held, = api.call("GET", "lists/elm.example.com/held").json["entries"]
    assert api.call("POST", f"lists/elm.example.com/held/{held['request_id']}", action="accept").status == 204
    assert api.call("DELETE", "lists/elm.example.com/member/anne@example.org").status == 204
    wanted = ["list.created", "member.joined", "member.joined", "member.left", "post.accepted", "post.decided",
              "post.held", "request.decided", "request.opened"]

    def types():
        return sorted(event["type"] for event in of_elm())
    wait_until(lambda: len(types()) >= len(wanted), 30, lambda: f"all events, not {types()}")
    assert types() == wanted
    assert not receiver.faults, "all are signed as they should be"
    joined, = [event for event in of_elm("member.joined") if event["data"]["role"] == "member"]
    assert joined["data"]["email"] == "anne@example.org"
    accepted, = of_elm("post.accepted")
    assert accepted["data"]["subject"] == "Roses" and accepted["data"]["post_id"] == 1
    decided, = of_elm("post.decided")
    assert decided["data"]["verdict"] == "accept" and decided["data"]["sender"] == "stranger@example.net"


def test_a_hook_gets_what_it_wants_and_a_dead_one_stops_nobody(site, api, receiver):
    wait_until(lambda: receiver.events("/bee"), 30, "the list that it looks at")
    assert [event["data"]["list_id"] for event in receiver.events("/bee")] == ["bee.example.com"]
    assert not receiver.events("/off")
    assert len(site.files("hooks")["hooks"]) >= 2, "what the dead one did not take waits"
    waiting = {entry["name"]: entry["entries"] for entry in api.call("GET", "listrunner/queues").json["entries"]}
    assert waiting["hooks"] >= 2 and 'listrunner_backlog{runner="hooks"' in api.raw("GET", "/metrics").text
    assert api.call("POST", "lists", fqdn_listname="cat@example.com").status == 201
    wait_until(lambda: any(event["data"]["list_id"] == "cat.example.com" for event in receiver.events("/all")), 30,
               "the next event of the other")


def test_what_was_refused_comes_again_under_its_id(site, api, receiver):
    def removals():
        return [event for event in receiver.events("/all", "list.removed")
                if event["data"]["list_id"] == "dog.example.com"]
    assert api.call("POST", "lists", fqdn_listname="dog@example.com").status == 201
    wait_until(lambda: any(event["data"]["list_id"] == "dog.example.com" for event in receiver.events("/all")), 30,
               "what comes before")
    try:
        receiver.status = 500
        assert api.call("DELETE", "lists/dog.example.com").status == 204
        wait_until(removals, 30, "the first try")
        receiver.status = 204
        wait_until(lambda: len(removals()) >= 2, 40, "the second try")
    finally:
        receiver.status = 200
    assert len({event["id"] for event in removals()}) == 1
    assert "answered 500 said so" in site.log_text()


def test_killed_runners_lose_and_double_nothing(site, api, receiver):
    """Between the answer and its note HTTP allows one more delivery; a receiver that knows ids sees each once."""
    for number in range(12):
        assert api.call("POST", "lists", fqdn_listname=f"k{number}@example.com").status == 201
        if number % 4 == 0:
            site.kill_runner("hooks")
    def told():
        return {(event["id"], event["data"]["list_id"]) for event in receiver.events("/all", "list.created")
                if event["data"]["list_id"].startswith("k")}
    wait_until(lambda: len(told()) >= 12, 60, "all of them")
    assert sorted(name for _, name in told()) == sorted(f"k{number}.example.com" for number in range(12))


# ---- the stream ----

class Reader:
    """Reads server-sent events as a browser does."""

    def __init__(self, api, query="", **headers):
        self.connection = http.client.HTTPConnection(*api.place, timeout=60)
        self.connection.request("GET", f"/3.1/listrunner/events{query}", headers={**api.headers, **headers})
        self.answer = self.connection.getresponse()

    def next(self):
        """The next event, as a dict of its fields."""
        fields, deadline = {}, time.monotonic() + 120  # comments of the time before may be still to be read
        while True:
            line = self.answer.readline().decode()
            assert line, "the stream has ended"
            assert time.monotonic() < deadline, "for two minutes nothing came but comments"
            line = line.rstrip("\n")
            if line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
            elif not line and "data" in fields:
                return fields
            elif not line:
                fields = {}

    def next_of(self, lists):
        """The next one that is about one of these."""
        while True:
            fields = self.next()
            if json.loads(fields["data"])["data"]["list_id"] in lists:
                return fields

    def close(self):
        self.answer.close()
        self.connection.close()


def test_events_are_streamed(site, api):
    reader, other = Reader(api, "?type=list.created"), Reader(api, "?type=list.removed&list_id=s1.example.com")
    ahead = Reader(api, "?type=list.created", **{"Last-Event-ID": "1000000000"})
    assert reader.answer.status == 200 and reader.answer.getheader("Content-Type") == "text/event-stream"
    for number in range(3):
        assert api.call("POST", "lists", fqdn_listname=f"s{number}@example.com").status == 201
    seen = [reader.next_of({f"s{number}.example.com" for number in range(3)}) for _ in range(3)]
    assert [fields["event"] for fields in seen] == ["list.created"] * 3
    assert sorted(json.loads(fields["data"])["data"]["list_id"] for fields in seen) == \
        [f"s{number}.example.com" for number in range(3)]
    for number in range(3):
        assert api.call("DELETE", f"lists/s{number}.example.com").status == 204
    assert json.loads(other.next()["data"])["data"]["list_id"] == "s1.example.com", "only what was asked for"
    assert ahead.next_of({"s0.example.com", "s1.example.com"}), "a database that was restored counts from less"
    back = Reader(api, "?type=list.created", **{"Last-Event-ID": seen[0]["id"]})
    assert [back.next()["id"] for _ in range(2)] == [fields["id"] for fields in seen[1:]], "it goes on where it was"
    for one in (reader, other, ahead, back):
        one.close()


def test_a_token_gets_the_events_of_its_lists(site, api):
    token = site.cli("token", "create", "--list", "ant@example.com").strip()
    scoped = Rest(site)
    scoped.headers = {"Authorization": f"Bearer {token}"}
    reader = Reader(scoped)
    for name in ("bee", "ant"):
        assert api.call("POST", "members", list_id=f"{name}.example.com", subscriber="tok@example.org",
                        role="moderator").status == 201
    seen = []
    while '"role":"moderator"' not in "".join(seen):
        seen.append(reader.next()["data"])
    assert {json.loads(data)["data"]["list_id"] for data in seen} == {"ant.example.com"}
    reader.close()


def test_a_list_made_again_has_not_seen_what_was_before(site, api):
    """Nor has a domain; the site reads all, and other lists and domains nothing of either."""
    def scoped(*words):
        reader = Rest(site)
        reader.headers = {"Authorization": f"Bearer {site.cli('token', 'create', *words).strip()}"}
        return reader

    def seen(reader, until):
        stream, found = Reader(reader, "?last_event_id=0"), []
        while not found or found[-1] != until:
            data = json.loads(stream.next()["data"])["data"]
            found.append(f"{data['list_id']} {data.get('email', '')}")
        stream.close()
        return found

    def make():
        assert api.call("POST", "domains", mail_host="again.example").status == 201
        for name in ("old", "bug"):
            assert api.call("POST", "lists", fqdn_listname=f"{name}@again.example").status == 201

    def add(name, email):
        assert api.call("POST", "members", list_id=f"{name}.again.example", subscriber=email,
                        role="moderator").status == 201

    make()
    add("old", "secret@example.org")
    assert api.call("DELETE", "lists/old.again.example").status == 204
    assert api.call("POST", "lists", fqdn_listname="old@again.example").status == 201
    add("old", "new@example.org")
    assert seen(scoped("--list", "old@again.example"), "old.again.example new@example.org") == \
        ["old.again.example ", "old.again.example new@example.org"]
    assert "old.again.example secret@example.org" in \
        seen(scoped("--domain", "again.example"), "old.again.example new@example.org"), "the domain was there"
    assert api.call("DELETE", "lists/old.again.example").status == 204
    assert api.call("DELETE", "lists/bug.again.example").status == 204
    assert api.call("DELETE", "domains/again.example").status == 204
    make()
    add("bug", "last@example.org")
    assert seen(scoped("--domain", "again.example"), "bug.again.example last@example.org") == \
        ["old.again.example ", "bug.again.example ", "bug.again.example last@example.org"]
    assert "old.again.example secret@example.org" in seen(api, "bug.again.example last@example.org")


def watched_directories(pid):
    """The inodes that a process watches."""
    found = set()
    for descriptor in Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(OSError):
            text = descriptor.read_text()
            found |= {int(inode, 16) for inode in re.findall(r"^inotify .*\bino:([0-9a-f]+)", text, re.M)}
    return found


def test_the_runtime_directory_is_made_again(tmp_path_factory):
    """The stream follows the directory in which events are signed."""
    directory = tmp_path_factory.mktemp("again")
    with rest.site(directory, {"runner.hooks": {"start": "yes"}}) as site:
        own = site.directory / "own"
        own.mkdir()
        site.own(own)
        site.runtime = own / "run"
        site.set({"master": {"runtime_directory": site.runtime}})
        site.stop()
        site.start()
        api = Rest(site)
        assert api.call("POST", "domains", mail_host="example.com").status == 201
        reader = Reader(api)  # the first one, for which the directory is watched
        if "the runtime directory cannot be watched" in site.log_text():
            reader.close()
            pytest.skip("others have all the inotify instances that the system allows a user")
        pid, = site.pids("rest")
        for way in (shutil.rmtree, lambda path: path.rename(own / "away")):
            before = site.runtime.stat().st_ino
            wait_until(lambda inode=before: inode in watched_directories(pid), 60, "the directory to be watched")
            way(site.runtime)
            wait_until(lambda: site.runtime.exists() and site.runtime.stat().st_ino in watched_directories(pid)
                       and (way is shutil.rmtree or before not in watched_directories(pid)), 60,
                       "the new directory to be watched")
        assert api.call("POST", "lists", fqdn_listname="ant@example.com").status == 201
        assert reader.next_of({"ant.example.com"})["event"] == "list.created"
        reader.close()


def test_what_the_stream_refuses(api):
    for query in ("?type=nope", "?last_event_id=x", "?foo=1"):
        assert api.call("GET", f"listrunner/events{query}").status == 400
    head = api.call("HEAD", "listrunner/events")
    assert head.status == 200 and head.text == ""


def test_a_reader_that_reads_nothing_costs_nobody(site, api):
    """It gets its events when it goes on, and the runner ends as it should while it reads none."""
    slow, quick = Reader(api, **{"Last-Event-ID": "0"}), Reader(api)
    before = memory(site, "rest")
    for number in range(200):
        assert api.call("POST", "bans", email=f"b{number}@example.org").status == 201
    assert api.call("POST", "lists", fqdn_listname="slow@example.com").status == 201
    quick.next_of({"slow.example.com"})
    assert memory(site, "rest") < before + 4096
    slow.next_of({"slow.example.com"})
    for reader in (slow, quick):
        reader.close()


def test_memberships_by_the_way_are_told(site, api, receiver):
    """Owners of a new list, members of a copy, and one who goes on by another address."""
    site.cli("list", "create", "fly@example.com", "--owner", "olga@example.org")
    site.cli("member", "add", "fly@example.com", "fritz@example.org")
    site.cli("list", "copy", "fly@example.com", "moth@example.com", "--members")
    assert api.call("POST", "users/fritz@example.org/addresses", email="franz@example.org").status == 201
    assert api.call("POST", "addresses/franz@example.org/verify").status == 204
    member, = api.call("GET", "lists/moth.example.com/roster/member").json["entries"]
    assert api.call("PATCH", f"members/{member['member_id']}", address="franz@example.org").status == 204

    def told(list_id):
        mine = [event for event in receiver.events("/all") if event["data"]["list_id"] == list_id]
        return sorted((event["type"], event["data"]["email"], event["data"]["role"]) for event in mine
                      if event["type"].startswith("member."))
    joined = [("member.joined", "fritz@example.org", "member"), ("member.joined", "olga@example.org", "owner")]
    wanted = sorted([("member.joined", "franz@example.org", "member"), ("member.left", "fritz@example.org", "member"),
                     *joined])
    wait_until(lambda: told("moth.example.com") == wanted, 30, lambda: told("moth.example.com"))
    assert told("fly.example.com") == joined


def test_a_reader_that_writes_costs_nobody(site, api):
    """Nothing that a client sends while it reads the stream is kept."""
    reader, before = Reader(api), memory(site, "rest")
    for _ in range(16):
        reader.connection.sock.sendall(b"x" * 1048576)
    assert api.call("POST", "lists", fqdn_listname="loud@example.com").status == 201
    reader.next_of({"loud.example.com"})
    assert memory(site, "rest") < before + 4096
    reader.close()


def test_wrong_settings_are_refused(site):
    site.set({"hook.wrong": {"url": "ftp://x/", "events": "post.eaten"}})
    said = site.run("config", "check").stderr
    assert "[hook.wrong] url" in said and "[hook.wrong] secret_file" in said and "post.eaten" in said
    site.set({"hook.wrong": None})

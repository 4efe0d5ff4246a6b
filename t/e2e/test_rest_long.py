# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Collections that are too long to be held in memory: they come in parts, whole, to clients fast and slow. And texts
that are longer than a list may have."""
import http.client
import json
import socket
import threading
from pathlib import Path

import pytest

from support import rest
from support.instance import wait_until
from support.rest import Rest

MEMBERS = 20_000
ANT = "lists/ant.example.com"
ROSTER = f"{ANT}/roster/member"


def make_list(site, api, name):
    assert api.call("POST", "lists", fqdn_listname=f"{name}@example.com").status == 201
    site.add_members(f"{name}@example.com", [f"m{number:05}@example.org" for number in range(MEMBERS)])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with rest.site(tmp_path_factory.mktemp("long"), {"master": {"stop_timeout": "50s"}}) as instance:
        api = Rest(instance)
        assert api.call("POST", "domains", mail_host="example.com").status == 201
        make_list(instance, api, "ant")
        yield instance


@pytest.fixture(scope="module")
def api(site):
    return Rest(site)


@pytest.fixture
def own(site, api):
    """The roster of a list with the same members, bee@example.com, which the test may change and remove."""
    make_list(site, api, "bee")
    yield "lists/bee.example.com/roster/member"
    assert api.call("DELETE", "lists/bee.example.com").status in (204, 404)


def names(answer):
    return [entry["email"] for entry in answer["entries"]]


def open_slowly(api, path):
    """A client that has asked, and reads nothing yet."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(120)
    client.connect(api.place)
    fields = "".join(f"{name}: {value}\r\n" for name, value in api.headers.items())
    client.sendall(f"GET /3.1/{path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode())
    client.recv(20, socket.MSG_PEEK)
    return client


def read_all(client):
    answer = http.client.HTTPResponse(client)
    answer.begin()
    assert answer.status == 200
    return json.loads(answer.read())


def memory(site):
    """Return how much memory `rest` has of its own, in KiB."""
    pid, = site.pids("rest")
    return sum(int(line.split()[1]) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
               if line.startswith("RssAnon"))


def test_all_members_in_parts(api):
    answer = api.call("GET", ROSTER)
    whole = answer.json
    assert answer.headers["Transfer-Encoding"] == "chunked" and "ETag" not in answer.headers
    assert whole["start"] == 0 and whole["total_size"] == MEMBERS and whole["http_etag"].startswith('"')
    assert names(whole) == [f"m{number:05}@example.org" for number in range(MEMBERS)]
    page = api.call("GET", f"{ROSTER}?count=300&page=3")
    assert page.headers["Content-Length"] and page.json["entries"] == whole["entries"][600:900]
    long_page = api.call("GET", f"{ROSTER}?count=3000&page=3&fields=email").json
    assert long_page["start"] == 6000 and names(long_page) == names(whole)[6000:9000]
    assert set(long_page["entries"][2999]) == {"email", "http_etag"}
    end = api.call("GET", f"{ROSTER}?count=3000&page=7").json
    assert names(end) == names(whole)[18000:]


def test_old_version_has_numbers_in_each_part(api):
    old = api.call("GET", ROSTER, version="3.0").json
    assert len(old["entries"]) == MEMBERS and all(isinstance(entry["member_id"], int) for entry in old["entries"])


@pytest.mark.parametrize("path,of", [("users", "user_id"), ("addresses", "email"), ("members", "member_id")])
def test_other_collections(api, path, of):
    whole = api.call("GET", path).json
    found = {entry[of] for entry in whole["entries"]}
    assert len(whole["entries"]) == len(found) == whole["total_size"] >= MEMBERS
    page = api.call("GET", f"{path}?count=1100&page=2").json
    assert page["entries"] == whole["entries"][1100:2200]


def test_find_reads_on_with_what_was_asked_for(api):
    found = api.call("GET", "members/find?subscriber=m*5@example.org&list_id=ant.example.com&role=member").json
    assert names(found) == [f"m{number:05}@example.org" for number in range(5, MEMBERS, 10)]
    users = api.call("GET", "users/find?q=7@example.org").json
    assert len(users["entries"]) == MEMBERS / 10


def test_lists(api):
    for number in range(510):
        assert api.call("POST", "lists", fqdn_listname=f"l{number:03}@example.com").status == 201
    for path in "lists", "domains/example.com/lists":
        whole = api.call("GET", path).json
        assert [entry["list_name"] for entry in whole["entries"]] == ["ant"] + [f"l{at:03}" for at in range(510)]


def test_held_posts(site, api):
    for number in range(45):
        site.lmtp_send(f"From: stranger@example.net\r\nTo: ant@example.com\r\nSubject: no. {number}\r\n"
                       f"Message-ID: <held-{number}@example.net>\r\n\r\nHello\r\n".encode(), ["ant@example.com"])
    wait_until(lambda: api.call("GET", "lists/ant.example.com/held/count").json["count"] == 45, 20, "held posts")
    whole = api.call("GET", "lists/ant.example.com/held").json
    assert whole["total_size"] == 45 and len({entry["request_id"] for entry in whole["entries"]}) == 45
    assert {entry["subject"] for entry in whole["entries"]} == {f"no. {number}" for number in range(45)}
    page = api.call("GET", "lists/ant.example.com/held?count=30&page=2").json
    assert page["entries"] == whole["entries"][30:]


def test_head_has_no_body(api):
    answer = api.raw("HEAD", f"/3.1/{ROSTER}")
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/json" and answer.text == ""


def test_slow_clients_cost_no_memory(site, api):
    before = memory(site)
    clients = [open_slowly(api, ROSTER) for _ in range(20)]
    assert api.call("GET", "lists/ant.example.com").status == 200
    assert memory(site) - before < 20 * 1024  # their answers are 9 MB each
    for client in clients[1:]:
        client.close()
    assert len(read_all(clients[0])["entries"]) >= MEMBERS


def test_changes_meanwhile(site, api, own):
    """Members behind the place that the answer has come to are in it as they are then; nobody comes twice."""
    client = open_slowly(api, own)
    site.cli("member", "remove", "bee@example.com", f"m{MEMBERS - 1:05}@example.org")
    site.cli("member", "add", "bee@example.com", "a-new-one@example.com", "zz@example.org")
    found = names(read_all(client))
    assert found == [f"m{number:05}@example.org" for number in range(MEMBERS - 1)] + ["zz@example.org"]


def test_a_stop_waits_for_the_answer(site, api):
    there = api.call("GET", f"{ROSTER}?count=0&page=1").json["total_size"]
    client = open_slowly(api, ROSTER)
    stopping = threading.Thread(target=site.stop)
    stopping.start()
    found = len(read_all(client)["entries"])
    stopping.join()
    site.start()
    assert found == there


def test_an_answer_that_cannot_go_on_is_cut_off(site, api, own):
    client = open_slowly(api, own)
    assert api.call("DELETE", "lists/bee.example.com").status == 204
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        read_all(client)
    wait_until(lambda: "a long answer is cut off" in site.log_text(), 20, "the log to tell")
    assert api.call("GET", own).status == 404


def test_texts_have_a_greatest_length(api):
    """400, with the setting and the length allowed; by every road of texts that a list's token may set."""
    for name, longest in (("info", 65536), ("description", 998), ("autoresponse_owner_text", 65536)):
        answer = api.call("PATCH", f"{ANT}/config", **{name: "x" * (longest + 1)})
        assert answer.status == 400 and name in answer.text and str(longest) in answer.text, answer.text
        assert api.call("PATCH", f"{ANT}/config", **{name: "x" * longest}).status == 204
    for header, pattern in (("x" * 300, "a"), ("x", "a" * 1001)):
        assert api.call("POST", f"{ANT}/header-matches", header=header, pattern=pattern).status == 400
    for method, path, values, told in (
            ("PATCH", f"{ANT}/config", {"accept_these_nonmembers": "^" + "x" * 1000}, "1000"),
            ("POST", "users", {"email": "long@example.org", "display_name": "x" * 999}, "display_name")):
        answer = api.call(method, path, **values)
        assert answer.status == 400 and told in answer.text

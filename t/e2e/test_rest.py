# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The REST interface: who may use it, what it refuses, and each resource once. The tests share one site, and each has
a list of its own there; they may run alone and in any order."""
import contextlib
import email
import json
import re
import socket
import sqlite3
import threading

import jsonschema
import pytest

from support import rest
from support.instance import wait_until
from support.rest import Rest

pytestmark = pytest.mark.main


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    directory = tmp_path_factory.mktemp("rest")
    with rest.site(directory, {
            "chain.strict": {"rules": "loop:discard any:hold"},
            "site": {"pending_request_life": "5d", "template_hosts": "127.0.0.1:1"},
            "pipeline.plain": {"handlers": "member-recipients to-outgoing"},
            "style.newsy": {"about": "News of the house", "base": "announce"},
            "archiver.attic": {"type": "mbox", "path": directory / "attic", "enabled": "no"}},
            attempts_per_minute="1000", max_body_size="128K", max_header_size="8K") as instance:
        yield instance


@pytest.fixture(scope="module")
def api(site):
    return Rest(site)


@pytest.fixture(scope="module")
def domain(api):
    assert api.call("POST", "domains", mail_host="example.com").status == 201


@pytest.fixture
def ant(site, api, domain):
    """A list, ant@example.com, which no other test has changed."""
    assert api.call("POST", "lists", fqdn_listname="ant@example.com").status == 201
    yield "lists/ant.example.com"
    site.wait_idle()  # letters of a list that is gone would wait for a person
    assert api.call("DELETE", "lists/ant.example.com").status == 204


# ---- the door ----

def test_strangers_stay_outside(site, api):
    answer = Rest(site, password="wrong").call("GET", "lists")
    assert answer.status == 401 and answer.headers["WWW-Authenticate"].startswith("Basic realm=\"mailman3-rest\"")
    assert answer.json["title"] == "401 Unauthorized"
    none = Rest(site)
    none.headers = {}
    assert none.call("GET", "lists").status == 401


def test_new_password_counts_at_once(site, api):
    path = site.sections["rest"]["password_file"]
    before = path.read_text()
    path.write_text(before + "other:word\n")
    other = Rest(site, "other", "word")
    assert other.call("GET", "system").status == 200
    path.write_text(before)
    assert other.call("GET", "system").status == 401
    assert api.call("GET", "system").status == 200


@pytest.mark.parametrize("path", ["/", "/3.2/lists", "/3.1/nothing", "/3.1/lists/nope/nope/nope/nope",
                                  "/3.1/system/nope"])
def test_unknown_paths(api, path):
    answer = api.raw("GET", path)
    assert answer.status == 404 and answer.json["title"] == "404 Not Found"


def test_verbs(api):
    answer = api.call("DELETE", "system/versions")
    assert answer.status == 405 and answer.headers["Allow"] == "GET, HEAD, OPTIONS"
    assert api.call("OPTIONS", "domains").headers["Allow"] == "GET, HEAD, OPTIONS, POST"
    head = api.call("HEAD", "system/versions")
    assert head.status == 200 and head.text == ""


def test_conditional_get(api):
    first = api.call("GET", "system/preferences")
    tag = first.headers["ETag"]
    assert first.json["http_etag"] == tag
    again = api.raw("GET", "/3.1/system/preferences", headers={"If-None-Match": tag})
    assert again.status == 304 and again.text == ""
    assert api.raw("GET", "/3.1/system/preferences", headers={"If-None-Match": '"x"'}).status == 200


FORM = "application/x-www-form-urlencoded"
BAD_BODIES = [
    (b"{", "application/json"), (b"[1]", "application/json"), (b"[" * 50000, "application/json"),
    (b'{"mail_host": {"a": 1}}', "application/json"), (b'{"mail_host": "a", "mail_host": "b"}', "application/json"),
    (b"mail_host=%ff%fe", FORM), (b"mail_host=a%00b", FORM), (b"mail_host=\xff", FORM), (b"a=1&b=2", FORM), (b"", ""),
]


@pytest.mark.parametrize("body, kind", BAD_BODIES)
def test_bad_bodies(api, body, kind):
    answer = api.raw("POST", "/3.1/domains", body, {"Content-Type": kind} if kind else {})
    assert answer.status == 400 and answer.json["description"], answer


def test_values_that_are_none(api, ant):
    assert api.json("POST", "domains", {"mail_host": []}).status == 400
    assert api.json("POST", "users", {"email": [], "password": []}).status == 400
    assert api.call("POST", f"{ant}/header-matches", header="X-Empty", pattern="x").location
    assert api.call("PATCH", f"{ant}/header-matches/0", header="").status == 400
    assert api.call("DELETE", f"{ant}/header-matches").status == 204
    assert api.json("PATCH", f"{ant}/uris", {"list:user:notice:welcome": []}).status == 204
    many = {"emails": [f"n{number}@example.com" for number in range(3000)]}
    assert len(api.call("DELETE", f"{ant}/roster/member", many).json) == 3001, "all of them, and http_etag"
    for strange in ("x" * 60000, "it was a secret", '{"password": "', "\x01"):
        said = api.call("PATCH", "domains/example.com", {strange: "1"}).json["description"]
        assert said == "Unexpected parameters: (one that is no name)"


def test_other_types_and_sizes(api):
    assert api.raw("POST", "/3.1/domains", b"<a/>", {"Content-Type": "text/xml"}).status == 415
    assert api.raw("POST", "/3.1/domains", b"a" * 200000, {"Content-Type": "application/json"}).status == 413
    assert api.raw("GET", "/3.1/system", headers={"X-Long": "x" * 20000}).status == 431


def test_a_body_is_no_second_request(api):
    def both(verb, head, body):
        with socket.create_connection(api.place, timeout=60) as client:
            client.sendall(verb + b" /3.1/members/find HTTP/1.1\r\nHost: x\r\nAuthorization: "
                           + api.headers["Authorization"].encode() + b"\r\nConnection: close\r\n" + head + b"\r\n"
                           + body)
            return b"".join(iter(lambda: client.recv(65536), b""))
    body = b"role=king"
    answer = both(b"GET", b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n", body)
    assert b" 400 " in answer and b"Accepted Values are: member" in answer, "it is read as the parameters"
    second = b"DELETE /3.1/domains/example.com HTTP/1.1\r\nHost: x\r\n\r\n"
    for head in (b"Content-Length: 900\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Length: -1\r\n"):
        answer = both(b"HEAD", head, second)
        assert answer.count(b"HTTP/1.1 ") == 1 and b" 400 " in answer


def spoken(api, text, known=True, until=None, piece=100000):
    """Return what comes back when the text is sent piece by piece, to the end of the connection or to what is waited
    for. In it, {key} is the field with the password."""
    field = b"Authorization: " + api.headers["Authorization"].encode() + b"\r\n" if known else b""
    text = text.replace(b"{key}", field)
    answer = b""
    with socket.create_connection(api.place, timeout=60) as client, contextlib.suppress(ConnectionError):
        for at in range(0, len(text), piece):
            client.sendall(text[at:at + piece])
        while not (until and until in answer) and (more := client.recv(65536)):
            answer += more
    return answer


FORM_POST = b"POST /3.1/domains HTTP/1.1\r\nHost: x\r\n{key}Content-Type: application/x-www-form-urlencoded\r\n"
READ = b"GET /3.1/system/versions HTTP/1.1\r\nHost: x\r\n{key}\r\n"
LAST = READ.replace(b"{key}", b"{key}Connection: close\r\n")
LENGTH = b"Content-Length: %d\r\n"
TWO_WAYS = [b"Content-Length: 0\r\n" + LENGTH, b"Transfer-Encoding : chunked\r\n" + LENGTH,
            b"Transfer-Encoding: chunked\r\n" + LENGTH, b"Content-Length: +%d\r\n", b"X: a\0b\r\n" + LENGTH,
            LENGTH + b"X: a\r\n b\r\n", b"Content-Length: %d\nX: a\r\n", b"Host: y\r\n" + LENGTH]


@pytest.mark.parametrize("field", TWO_WAYS)
def test_what_can_be_read_in_two_ways(api, field):
    answer = spoken(api, FORM_POST + field % len(READ) + b"\r\n" + READ)
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1 ") == 1 and b"Connection: close" in answer


def test_chunks_and_requests_in_a_row(api):
    posted = FORM_POST + b"Transfer-Encoding: chunked\r\n\r\n4\r\nmail\r\n10\r\n_host=c1.example\r\n0\r\n\r\n"
    second = FORM_POST + b"Content-Length: 20\r\n\r\nmail_host=c2.example"
    empty = FORM_POST + b"\r\n"
    both = b"\r\n" + posted + READ + second + empty + LAST
    for piece in (7, len(both)):
        answer = spoken(api, both, piece=piece)
        assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"201", b"200", b"201", b"400", b"200"], answer
        for host in ("c1.example", "c2.example"):
            assert api.call("DELETE", f"domains/{host}").status == 204
    answer = spoken(api, FORM_POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nmail_hostile" + READ)
    assert answer.count(b"HTTP/1.1 ") == 1 and b"HTTP/1.1 4" in answer, "nothing behind broken chunks is understood"


def test_a_stranger_sends_no_body(api):
    head = FORM_POST + b"Expect: 100-continue\r\nContent-Length: 100000\r\n\r\n"
    answer = spoken(api, head, known=False)
    assert answer.startswith(b"HTTP/1.1 401 ") and answer.count(b"HTTP/1.1 ") == 1 and b"Connection: close" in answer
    assert spoken(api, head, until=b"\r\n").startswith(b"HTTP/1.1 100 ")
    answer = spoken(api, FORM_POST + b"Content-Length: 20\r\n\r\nmail_host=c3.example" + READ, known=False)
    assert answer.startswith(b"HTTP/1.1 401 ") and answer.count(b"HTTP/1.1 ") == 1
    assert api.call("GET", "domains/c3.example").status == 404
    twice = spoken(api, READ + LAST, known=False)
    assert twice.count(b"HTTP/1.1 401 ") == 2, "without a body the connection stays, as browsers want it"


def test_a_head_without_an_end(api):
    answer = spoken(api, b"GET /3.1/system HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 3000)
    assert answer.startswith(b"HTTP/1.1 431 ") or answer == b"", "a reset may overtake the answer"
    assert api.call("GET", "system").status == 200


def test_half_a_request_holds_nobody_up(api):
    with socket.create_connection(api.place, timeout=60) as slow:
        slow.sendall(b"GET /3.1/system HTTP/1.1\r\nHost: x\r\n")
        assert api.call("GET", "system").status == 200


# ---- paging ----

@pytest.mark.parametrize("query", ["count=1", "page=1", "count=x&page=1", "count=1&page=0", "count=-1&page=1"])
def test_wrong_pages(api, query):
    assert api.call("GET", f"domains?{query}").status == 400


def test_pages(api, ant):
    for number in range(5):
        assert api.call("POST", "domains", mail_host=f"d{number}.example").status == 201
    hosts = [entry["mail_host"] for entry in api.call("GET", "domains").json["entries"]]
    assert hosts == sorted(hosts)
    page = api.call("GET", "domains?count=2&page=2").json
    assert [entry["mail_host"] for entry in page["entries"]] == hosts[2:4]
    assert page["start"] == 2 and page["total_size"] == len(hosts)
    nothing = api.call("GET", "domains?count=0&page=1").json
    assert nothing["total_size"] == len(hosts) and "entries" not in nothing
    assert api.call("GET", "domains?count=9223372036854775807&page=1").json["entries"] == \
        api.call("GET", "domains").json["entries"]
    assert "entries" not in api.call("GET", "domains?count=9223372036854775807&page=9").json


# ---- domains and lists ----

def test_domains(api, ant):
    assert api.call("POST", "domains", mail_host="example.com").json["description"] == \
        "Duplicate email host: example.com"
    assert api.call("POST", "domains").json["description"] == "Missing Parameter: mail_host"
    assert api.call("POST", "domains", mail_host="x.example", foo="1").json["description"] == \
        "Unexpected parameters: foo"
    made = api.json("POST", "domains", {"mail_host": "json.example", "description": "J",
                                        "owner": ["o1@example.com", "o2@example.com"]})
    assert made.status == 201 and made.location == "domains/json.example"
    assert api.call("PATCH", "domains/json.example", alias_domain="a.example").status == 204
    domain = api.call("GET", "domains/json.example").json
    assert (domain["description"], domain["alias_domain"]) == ("J", "a.example")
    owners = api.call("GET", "domains/json.example/owners").json
    assert owners["total_size"] == 2 and all(entry["user_id"] for entry in owners["entries"])
    assert api.call("DELETE", "domains/json.example/owners").status == 204
    assert api.call("GET", "domains/json.example/owners").json["total_size"] == 0
    assert api.call("GET", "domains/nope").status == 404
    assert api.call("POST", "lists", fqdn_listname="gone@json.example").status == 201
    assert api.call("DELETE", "domains/json.example").status == 204
    assert api.call("GET", "lists/gone@json.example").status == 404, "its lists went with it"
    assert api.call("DELETE", "domains/json.example").status == 404


def test_lists(site, api, ant):
    assert api.call("POST", "lists", fqdn_listname="ant@example.com").json["description"] == "Mailing list exists"
    assert api.call("POST", "lists", fqdn_listname="a@nope.example").json["description"] == \
        "Domain does not exist: nope.example"
    for wrong in ("ant", "a b@example.com", "ant-owner@example.com"):
        assert api.call("POST", "lists", fqdn_listname=wrong).status == 400
    both = api.call("GET", ant).json, api.call("GET", "lists/ANT@example.com").json
    assert both[0] == both[1] and both[0]["member_count"] == 0
    assert "ant@example.com" in site.cli("list", "ls", "--names")
    assert api.call("PATCH", f"{ant}/config", advertised="False").status == 204
    assert site.cli("list", "get", "ant@example.com", "advertised").strip() == "no"
    assert "ant.example.com" not in [entry["list_id"] for entry in
                                     api.call("GET", "lists?advertised=true").json.get("entries", [])]
    assert api.call("GET", "domains/example.com/lists").json["total_size"] == 1
    assert api.call("GET", "lists/styles").json["default"] == "legacy-default"


def test_settings(api, ant):
    config = f"{ant}/config"
    assert api.call("PATCH", config, nope="1").json["description"] == "Unknown attribute: nope"
    assert api.call("PATCH", config, fqdn_listname="1").json["description"] == "Read-only attribute: fqdn_listname"
    wrong = api.call("PATCH", config, advertised="maybe", archive_policy="maybe", description="fine").json
    assert wrong["description"] == (
        "Invalid Parameter \"advertised\": Invalid boolean value: maybe. "
        "Invalid Parameter \"archive_policy\": Accepted Values are: never, private, public.")
    assert api.call("GET", config).json["description"] == "", "all or nothing"
    assert api.call("PATCH", config, {"acceptable_aliases": ["a@example.com", "^b,c"]}).status == 204
    assert api.call("GET", f"{config}/acceptable_aliases").json["acceptable_aliases"] == ["a@example.com", "^b,c"]
    assert api.call("DELETE", f"{config}/acceptable_aliases").status == 204
    assert api.call("GET", config).json["acceptable_aliases"] == []
    assert api.call("DELETE", f"{config}/advertised").status == 400
    assert api.json("PATCH", config, {"max_message_size": 7, "administrivia": False}).status == 204
    got = api.call("GET", config).json
    assert got["max_message_size"] == 7 and got["administrivia"] is False
    assert got["bounces_address"] == "ant-bounces@example.com"
    assert api.call("PUT", config, advertised="yes").json["description"].startswith("Missing Parameter: accept_these")
    assert api.call("GET", f"{config}/nope").status == 404
    wanted = api.call("PUT", config).json["description"].removeprefix("Missing Parameter: ").split(", ")
    whole = {name: got[name] for name in wanted}
    assert api.json("PUT", config, {**whole, "description": "all of it"}).status == 204
    assert api.call("GET", config).json["description"] == "all of it"


# ---- people ----

def join(api, address, list_id="ant.example.com", **more):
    return api.call("POST", "members", list_id=list_id, subscriber=address, pre_verified="True",
                    pre_confirmed="True", pre_approved="True", **more)


def test_subscribing(api, ant):
    made = join(api, "Anne@example.com", display_name="Anne")
    assert made.status == 201
    member = api.call("GET", made.location).json
    assert member["email"].lower() == "anne@example.com" and member["role"] == "member"
    assert join(api, "anne@example.com").json["description"] == "Member already subscribed"
    waiting = api.call("POST", "members", list_id="ant.example.com", subscriber="bart@example.com")
    assert waiting.status == 202 and waiting.json["token_owner"] == "subscriber"
    again = api.call("POST", "members", list_id="ant.example.com", subscriber="bart@example.com")
    assert again.status == 409 and again.json["description"] == "Subscription request already pending"
    requests = f"{ant}/requests"
    assert api.call("GET", f"{requests}/count").json["count"] == 1
    entry, = api.call("GET", requests).json["entries"]
    assert entry["token"] == waiting.json["token"] and entry["email"] == "bart@example.com"
    assert api.call("GET", f"{requests}/{entry['token'][:-1]}0").status == 404
    assert api.call("POST", f"{requests}/{entry['token']}", action="discard").status == 204
    # An address that nobody has proved is asked, and so is everybody who is invited, whatever the program vouches for.
    for sure in ({"pre_confirmed": "True", "pre_approved": "True"},
                 {"pre_verified": "True", "pre_confirmed": "True", "pre_approved": "True", "invitation": "True"}):
        asked = api.call("POST", "members", list_id="ant.example.com", subscriber="cris@example.com", **sure)
        assert asked.status == 202 and asked.json["token_owner"] == "subscriber", sure
        assert api.call("POST", f"{requests}/{asked.json['token']}", action="discard").status == 204
    assert api.call("GET", f"{requests}/count").json["count"] == 0
    for wrong in ({"list_id": "nope.example.com"}, {"subscriber": "bad"}, {"role": "king"}, {"delivery_mode": "king"},
                  {"foo": "1"}, {"pre_verified": "king"}):
        answer = api.call("POST", "members", {"list_id": "ant.example.com", "subscriber": "x@example.com", **wrong})
        assert answer.status == 400 and answer.json["description"], wrong
    answer = api.call("POST", "members", list_id="ant.example.com", subscriber="bad")
    assert "bad is neither a mail address nor the id of a user" in answer.json["description"], answer.json


@pytest.mark.sqlite
def test_an_answer_is_about_its_own_change(site, api, ant):
    """Members go as soon as they are made, by somebody who is faster than the answer."""
    stop = threading.Event()

    def remove():
        database = sqlite3.connect(site.sections["store"]["path"], isolation_level=None, timeout=0)
        while not stop.is_set():
            with contextlib.suppress(sqlite3.OperationalError):  # another one is writing
                database.execute("DELETE FROM member WHERE email LIKE 'hasty%'")
        database.close()
    assert api.call("POST", "lists", fqdn_listname="hasty@example.com").status == 201
    rival = threading.Thread(target=remove)
    rival.start()
    try:
        answers = [join(api, f"hasty{number}@example.com", list_id="hasty.example.com") for number in range(10)]
    finally:
        stop.set()
        rival.join()
    assert [answer.status for answer in answers] == [201] * 10
    site.wait_idle()  # letters of a list that is gone would wait for a person
    assert api.call("DELETE", "lists/hasty.example.com").status == 204


def test_roles_and_rosters(api, ant):
    owner = {"list_id": "ant.example.com", "subscriber": "own@example.com", "role": "owner"}
    assert api.call("POST", "members", owner).status == 201
    twice = api.call("POST", "members", owner)
    assert twice.status == 400 and twice.json["description"] == "own@example.com is already an owner of ant@example.com"
    assert [entry["email"] for entry in api.call("GET", f"{ant}/roster/owner").json["entries"]] == ["own@example.com"]
    for number in range(6):
        assert join(api, f"m{number}@example.com").status == 201
    pages = [api.call("GET", f"{ant}/roster/member?count=3&page={page}").json for page in (1, 2, 3)]
    seen = [entry["email"] for page in pages for entry in page.get("entries", [])]
    assert seen == sorted(seen) and len(seen) == pages[0]["total_size"]
    fields = api.call("GET", f"{ant}/roster/member?fields=email&fields=role").json["entries"][0]
    assert sorted(fields) == ["email", "http_etag", "role"]
    assert api.call("GET", f"{ant}/roster/member?fields=foo").status == 400
    gone = api.call("DELETE", f"{ant}/roster/member", {"emails": ["m0@example.com", "nobody@example.com"]})
    assert gone.status == 200 and gone.json["m0@example.com"] is True and gone.json["nobody@example.com"] is False
    assert api.call("GET", f"{ant}/member/m0@example.com").status == 404
    assert api.call("GET", f"{ant}/member/m1%40example.com").status == 200
    assert api.call("GET", f"{ant}/king/m1@example.com").status == 404
    found = api.call("GET", "members/find?subscriber=m*@example.com&list_id=ant.example.com").json
    assert found["total_size"] == 5
    assert api.call("GET", "members/find").json["total_size"] == 0
    assert api.call("POST", "lists/find", subscriber="own@example.com", role="owner").json["total_size"] == 1
    assert api.call("POST", "lists/find", subscriber="own@example.com", count=1, page=2).json["total_size"] == 1
    assert api.call("POST", "lists/find", subscriber="nobody@example.com").status == 404


def test_a_member(api, ant):
    member = join(api, "changes@example.com").location
    assert api.call("PATCH", member, moderation_action="hold", delivery_mode="mime_digests").status == 204
    got = api.call("GET", member).json
    assert (got["moderation_action"], got["delivery_mode"]) == ("hold", "mime_digests")
    assert api.call("PATCH", member, moderation_action="").status == 204
    assert "moderation_action" not in api.call("GET", member).json
    assert api.call("PATCH", member, address="nobody@example.com").json["description"] == "Address not registered"
    assert api.call("PATCH", member, foo="1").status == 400
    preferences = f"{member}/preferences"
    assert api.call("PATCH", preferences, delivery_status="by_user", acknowledge_posts="yes").status == 204
    got = api.call("GET", preferences).json
    assert got["delivery_status"] == "by_user" and got["acknowledge_posts"] is True
    assert api.call("PUT", preferences, hide_address="yes").status == 400
    assert api.call("DELETE", preferences).status == 204
    assert sorted(api.call("GET", preferences).json) == ["http_etag", "self_link"]
    assert api.call("GET", f"{member}/all/preferences").json["delivery_status"] == "enabled"
    answer = api.call("GET", f"{ant}/member/changes@example.com", version="3.0").json
    old = answer["self_link"].split("/3.0/")[1]
    assert answer["member_id"] == int(old.split("/")[1]), "a number, all digits of it"
    assert old.split("/")[1].isdigit() and api.call("GET", old, version="3.0").status == 200
    assert api.call("DELETE", member).status == 204
    assert api.call("GET", member).status == 404


def test_users_and_addresses(api):
    made = api.call("POST", "users", email="Dana.X@example.org", display_name="Dana", password="first")
    assert made.status == 201
    user = made.location
    assert api.call("POST", "users", email="dana.x@example.org").status == 400
    assert api.call("POST", "users", email="bad").status == 400
    got = api.call("GET", "users/dana.x@example.org").json
    assert got["display_name"] == "Dana" and got["password"].startswith("$") and got["self_link"].endswith(user)
    assert api.call("POST", f"{user}/login", cleartext_password="first").status == 204
    assert api.call("POST", f"{user}/login", cleartext_password="second").status == 403
    assert api.call("PATCH", user, cleartext_password="second", display_name="Dana X").status == 204
    assert api.call("POST", f"{user}/login", cleartext_password="second").status == 204
    assert api.call("POST", f"{user}/addresses", email="dana.y@example.org").location == "addresses/dana.y@example.org"
    api.call("POST", "users", email="eve@example.org")
    taken = api.call("POST", f"{user}/addresses", email="eve@example.org")
    assert taken.status == 400 and taken.json["description"] == "Address belongs to other user"
    assert api.call("POST", f"{user}/addresses", email="eve@example.org", absorb_existing="1").status == 201
    emails = [entry["email"] for entry in api.call("GET", f"{user}/addresses").json["entries"]]
    assert sorted(emails) == ["dana.x@example.org", "dana.y@example.org", "eve@example.org"]
    assert api.call("GET", f"{user}/preferred_address").status == 404
    assert api.call("POST", f"{user}/preferred_address", email="dana.y@example.org").status == 400, "not verified"
    assert api.call("POST", "addresses/dana.y@example.org/verify").status == 204
    assert api.call("POST", f"{user}/preferred_address", email="dana.y@example.org").status == 201
    assert api.call("GET", f"{user}/preferred_address").json["email"] == "dana.y@example.org"
    assert api.call("DELETE", f"{user}/preferred_address").status == 204
    assert api.call("GET", "addresses/dana.y@example.org").json["verified_on"]
    assert api.call("POST", "addresses/dana.y@example.org/unverify").status == 204
    assert "verified_on" not in api.call("GET", "addresses/dana.y@example.org").json
    assert api.call("DELETE", "addresses/dana.y@example.org/user").status == 204
    assert api.call("GET", "addresses/dana.y@example.org/user").status == 404
    assert api.call("PUT", "addresses/dana.y@example.org/user", user_id=user.split("/")[1]).status == 200
    assert api.call("DELETE", "addresses/dana.y@example.org").status == 204
    assert [entry["display_name"] for entry in api.call("GET", "users/find?q=dana").json["entries"]] == ["Dana X"]
    assert api.call("PATCH", user, is_server_owner="yes").status == 204
    assert api.call("GET", "owners").json["total_size"] == 1
    assert api.call("DELETE", user).status == 204 and api.call("GET", user).status == 404


# ---- posts ----

def test_bans_and_header_matches(api, ant):
    for base in ("bans", f"{ant}/bans"):
        assert api.call("POST", base, email="evil@example.com").location == f"{base}/evil@example.com"
        assert api.call("POST", base, email="evil@example.com").json["description"] == "Address is already banned"
        assert api.call("POST", base, email="^[bad").status == 400
        assert api.call("GET", f"{base}/evil@example.com").json["email"] == "evil@example.com"
        assert join(api, "evil@example.com").json["description"] == "Membership is banned"
        assert api.call("DELETE", f"{base}/evil@example.com").status == 204
        assert api.call("DELETE", f"{base}/evil@example.com").status == 404
    matches = f"{ant}/header-matches"
    assert api.call("POST", matches, header="X-Spam", pattern="yes").location == f"{matches}/0"
    assert api.call("POST", matches, header="X-Spam", pattern="yes").status == 400
    assert api.call("POST", matches, header="X-Spam", pattern="[bad").status == 400
    assert api.call("POST", matches, header="X-Spam", pattern="no", action="hold", tag="t").status == 201
    assert api.call("PATCH", f"{matches}/0", position="1").status == 204
    got = api.call("GET", matches).json["entries"]
    assert [(entry["pattern"], entry["position"]) for entry in got] == [("no", 0), ("yes", 1)]
    assert api.call("POST", f"{matches}/find", tag="t").json["total_size"] == 1
    assert api.call("GET", f"{matches}/9").status == 404
    assert api.call("DELETE", matches).status == 204 and api.call("GET", matches).json["total_size"] == 0


def test_a_post_is_held_and_decided(site, api, ant):
    text = ("From: stranger@example.net\nTo: ant@example.com\nSubject: hello\nMessage-ID: <rest-1@x>\n"
            "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nGrüße.\n")
    for action in ("discard", "reject", "accept"):
        made = api.call("POST", "queues/in", list_id="ant.example.com", text=text.replace("rest-1", f"rest-{action}"))
        assert made.status == 201 and made.location.startswith("queues/in/")
        wait_until(lambda: api.call("GET", f"{ant}/held/count").json["count"] == 1, 60, "the post to be held")
        held, = api.call("GET", f"{ant}/held").json["entries"]
        assert held["subject"] == "hello" and held["sender"] == "stranger@example.net"
        one = f"{ant}/held/{held['request_id']}"
        shown = email.message_from_string(api.call("GET", one).json["msg"])  # as Postorius does
        assert shown["Message-ID"] == f"<rest-{action}@x>"
        assert shown.get_payload(decode=True).decode("utf-8").strip() == "Grüße."
        assert api.call("POST", one, action="king").status == 400
        for wrong in ("nobody", ["a@example.org", "b@"], [f"a{number}@example.org" for number in range(11)]):
            refused = api.call("POST", one, {"action": action, "forward": wrong})
            assert refused.status == 400 and "forward" in refused.json["description"], wrong
        assert api.call("POST", one, action="defer").status == 204
        assert api.call("POST", one, action=action, comment="because").status == 204
        assert api.call("POST", one, action=action).status == 404, "decided once"
    assert api.call("GET", f"{ant}/held/count").json["count"] == 0
    nonmembers = [entry["email"] for entry in api.call("GET", f"{ant}/roster/nonmember").json["entries"]]
    assert nonmembers == ["stranger@example.net"], "known from the first held post on, once"


def test_held_posts_are_counted_in_each_list(api, ant):
    bee = "lists/bee.example.com/held"
    for name in ("bug", "bee"):
        assert api.call("POST", "lists", fqdn_listname=f"{name}@example.com").status == 201
        post = f"From: stranger@example.net\nTo: {name}@example.com\nSubject: hello\nMessage-ID: <{name}@x>\n\nText.\n"
        assert api.call("POST", "queues/in", list_id=f"{name}.example.com", text=post).status == 201
        wait_until(lambda: api.call("GET", f"lists/{name}.example.com/held/count").json["count"] == 1, 60,
                   "the post to be held")
    assert api.call("GET", f"{bee}/1").json["request_id"] == 1
    number = max(entry["number"] for entry in api.call("GET", "listrunner/held").json["entries"])
    assert number > 1, "people know it by another, which no list has twice"
    assert api.call("DELETE", "lists/bug.example.com").status == 204
    assert api.call("POST", "listrunner/held", {"action": "discard", "number": [number, number + 7]}).status == 404
    assert api.call("GET", f"{bee}/count").json["count"] == 1, "all or none"
    assert api.call("POST", "listrunner/held", action="discard", number=str(number)).status == 204
    assert api.call("GET", f"{bee}/1").status == 404
    assert api.call("DELETE", "lists/bee.example.com").status == 204


def test_queues(api, ant):
    names = [entry["name"] for entry in api.call("GET", "queues").json["entries"]]
    assert names == ["archive", "bad", "bounces", "command", "digest", "in", "nntp", "out", "pipeline", "retry",
                     "shunt", "virgin"]
    made = api.call("POST", "queues/bad", list_id="ant.example.com", text="Subject: x\n\ny\n").location
    assert api.call("GET", "queues/bad").json["files"] == [made.split("/")[-1]]
    assert api.call("DELETE", made).status == 204 and api.call("DELETE", made).status == 404
    assert api.call("POST", "queues/nope", list_id="ant.example.com", text="x").status == 400


def test_templates(api, ant):
    name = "list:user:notice:welcome"
    for base in ("uris", "domains/example.com/uris", f"{ant}/uris"):
        assert api.call("GET", base).json["total_size"] == 0
        assert api.call("PATCH", base, {name: "http://127.0.0.1:1/w", "username": "u", "password": "p"}).status == 204
        entry, = api.call("GET", base).json["entries"]
        assert (entry["name"], entry["uri"], entry["username"]) == (name, "http://127.0.0.1:1/w", "u")
        assert api.call("PATCH", f"{base}/{name}", {name: "http://127.0.0.1:1/x"}).status == 204
        assert api.call("GET", f"{base}/{name}").json["uri"] == "http://127.0.0.1:1/x"
        assert api.call("PATCH", base, nope="http://127.0.0.1:1/").json["description"] == "Unexpected parameters: nope"
        assert api.call("PATCH", base, {name: "http://127.0.0.1:1/", "username": "u"}).status == 400
        assert api.call("PUT", base, {name: "http://127.0.0.1:1/"}).json["description"].startswith("Missing Parameter")
        assert api.call("GET", f"{base}/nope").status == 404
        assert api.call("PATCH", base, {name: ""}).status == 204
        assert api.call("GET", f"{base}/{name}").status == 404
        assert api.call("DELETE", base).status == 204
    assert api.call("PATCH", f"{ant}/uris", {"domain:admin:notice:new-list": "http://127.0.0.1:1/"}).status == 400
    for base in ("domains/example.com/uris", f"{ant}/uris"):
        elsewhere = api.call("PATCH", base, {"list:user:notice:welcome": "http://169.254.169.254/"})
        assert elsewhere.status == 400 and "[site] template_hosts" in elsewhere.text
        refused = api.call("PATCH", base, {"list:user:action:change": "mailman:///en/help.txt"})
        assert refused.status == 400 and "is the site's alone to set" in refused.text
        assert api.call("GET", base).json["total_size"] == 0


def test_digests(api, ant):
    digest = f"{ant}/digest"
    before = api.call("GET", digest).json
    assert (before["volume"], before["next_digest_number"]) == (1, 1)
    assert api.call("POST", digest, send="yes").status == 202
    assert api.call("POST", digest, bump="yes").status == 202
    assert api.call("GET", digest).json["volume"] == 2 == api.call("GET", f"{ant}/config").json["volume"]
    assert api.call("POST", digest).status == 200
    assert api.call("POST", digest, nope="yes").status == 400


def test_preferences_of_the_site(api, ant):
    site = "listrunner/preferences"
    member = join(api, "sited@example.com").location
    assert api.call("GET", f"{member}/all/preferences").json["acknowledge_posts"] is False
    assert api.call("PATCH", site, acknowledge_posts="yes", delivery_mode="mime_digests").status == 204
    got = api.call("GET", "system/preferences").json
    assert got["acknowledge_posts"] is True and got["delivery_status"] == "enabled"
    effective = api.call("GET", f"{member}/all/preferences").json
    assert effective["acknowledge_posts"] is True and effective["delivery_mode"] == "mime_digests"
    assert api.call("GET", member).json["delivery_mode"] == "mime_digests"
    assert api.call("PATCH", f"{member}/preferences", delivery_mode="regular").status == 204
    assert api.call("GET", member).json["delivery_mode"] == "regular", "the member's own goes before the site's"
    assert api.call("PATCH", site, delivery_mode="nope").status == 400
    assert api.call("DELETE", site).status == 204
    assert api.call("GET", f"{member}/all/preferences").json["acknowledge_posts"] is False
    assert api.call("PATCH", "system/preferences", acknowledge_posts="yes").status == 405, "as Mailman"


def test_pipelines_and_chains_are_chosen(site, api, ant):
    config = f"{ant}/config"
    assert api.call("GET", config).json["posting_pipeline"] == "default-posting-pipeline"
    assert "plain" in api.call("GET", "system/pipelines").json["pipelines"]
    refused = api.call("PATCH", config, posting_pipeline="default-owner-pipeline")  # a choice that Postorius offers
    assert refused.status == 400 and refused.json["description"].endswith("allowed: default-posting-pipeline, plain.")
    assert api.call("PATCH", config, posting_pipeline="plain", posting_chain="strict").status == 204
    assert site.cli("list", "get", "ant@example.com", "posting_pipeline").strip() == "plain"
    assert api.call("GET", f"{config}/posting_chain").json["posting_chain"] == "strict"
    assert api.call("PATCH", config, posting_pipeline="default-posting-pipeline",
                    posting_chain="default-posting-chain").status == 204


def test_styles_and_archivers_are_those_of_the_site(site, api, ant):
    styles = api.call("GET", "lists/styles").json
    assert styles["style_names"] == ["legacy-announce", "legacy-default", "newsy", "private-default"]
    assert "News of the house" in [style["description"] for style in styles["styles"]]
    archivers = f"{ant}/archivers"
    assert set(api.call("GET", archivers).json) == {"http_etag", "maildir", "mbox"}
    assert api.call("PATCH", archivers, mhonarc="yes").status == 400
    site.cli("list", "set", "ant@example.com", "archivers=maildir,mbox")
    assert api.call("PATCH", archivers, maildir="no", mbox="no").status == 204
    assert site.cli("list", "get", "ant@example.com", "archivers").strip() == "none"
    assert site.run("list", "set", "ant@example.com", "archivers=none").returncode == 0, "the shell knows the word"
    got = api.call("GET", archivers).json
    assert (got["maildir"], got["mbox"]) == (False, False)
    assert api.call("PUT", archivers, maildir="yes", mbox="yes").status == 204


def test_an_archiver_that_is_off_keeps_its_place_on_a_list(site, api, ant):
    def setting():
        return sorted(site.cli("list", "get", "ant@example.com", "archivers").replace(",", " ").split())
    archivers = f"{ant}/archivers"
    site.cli("list", "set", "ant@example.com", "archivers=maildir,attic")
    assert api.call("PATCH", archivers, mbox="yes").status == 204
    assert setting() == ["attic", "maildir", "mbox"], "only mbox was named"
    assert api.call("PATCH", archivers, mbox="no", maildir="no").status == 204
    assert setting() == ["attic"]
    site.cli("list", "set", "ant@example.com", "archivers=")
    assert api.call("PATCH", archivers, mbox="yes").status == 204
    assert setting() == [], "all there are and will be"
    assert api.call("PATCH", archivers, mbox="no").status == 204
    assert setting() == ["attic", "maildir"]
    assert api.call("PUT", archivers, maildir="yes", mbox="yes").status == 204


def test_configuration_is_that_of_the_site(api):
    def section(name):
        return api.call("GET", f"system/configuration/{name}").json
    assert section("mailman")["pending_request_life"] == "5d" and section("mailman")["cache_life"] == "1d"
    assert section("mta")["smtp_host"] == "127.0.0.1" and section("mta")["max_autoresponses_per_day"] == "10"
    assert section("webservice")["port"] == str(api.place[1])
    assert section("runner.nntp")["start"] == "no" and section("runner.rest")["start"] == "yes"
    assert section("archiver.mhonarc")["enable"] == "no"


def test_what_is_only_there_to_be_asked(api):
    sections = api.call("GET", "system/configuration").json["sections"]
    assert len(sections) == 94
    for section in sections:
        assert api.call("GET", f"system/configuration/{section}").status == 200
    assert api.call("GET", "system/configuration/webservice").json["admin_pass"] == ""
    assert api.call("GET", "plugins").json["total_size"] == 0
    assert len(api.call("GET", "system/chains").json["chains"]) == 10, "Mailman's nine, and the one of this site"


# ---- Listrunner's own ----

def bearer(site, *options):
    """Return a client that uses a token that was made with these options."""
    api = Rest(site)
    token = site.cli("token", "create", *options).strip()
    api.headers = {"Authorization": f"Bearer {token}"}
    return api


def test_tokens(site, api, ant):
    assert bearer(site).call("GET", "users").status == 200
    reads = bearer(site, "--read-only", "--name", "reads")
    assert reads.call("GET", "lists").status == 200 and reads.call("HEAD", "lists").status == 200
    assert reads.call("PATCH", f"{ant}/config", description="x").status == 403
    api.call("POST", "domains", mail_host="other.example")
    api.call("POST", "lists", fqdn_listname="cat@other.example")
    own = bearer(site, "--list", "ant@example.com")
    for verb, path, parameters, status in [
            ("GET", ant, {}, 200), ("PATCH", f"{ant}/config", {"description": "by token"}, 204),
            ("GET", "lists/ant@example.com/roster/member", {}, 200), ("GET", "system/versions", {}, 200),
            ("GET", "members/find?list_id=ant.example.com", {}, 200), ("GET", "members/find?role=member", {}, 403),
            ("GET", "lists/cat.other.example", {}, 403), ("GET", "lists/nope.example.com", {}, 403),
            ("GET", "lists", {}, 403), ("GET", "users", {}, 403), ("GET", "domains/example.com", {}, 403),
            ("GET", "system/configuration", {}, 403), ("GET", "listrunner/queues", {}, 403), ("GET", "queues", {}, 403),
            ("POST", "members", {"list_id": "cat.other.example", "subscriber": "x@example.com"}, 403),
            ("POST", "lists", {"fqdn_listname": "new@example.com"}, 403)]:
        assert own.call(verb, path, **parameters).status == status, (verb, path)
    domain = bearer(site, "--domain", "other.example", "--verbs", "get,post")
    assert domain.call("GET", "lists/cat@other.example/config").status == 200
    assert domain.call("POST", "lists", fqdn_listname="dog@other.example").status == 201
    assert domain.call("DELETE", "lists/dog@other.example").status == 403
    assert domain.call("GET", ant).status == 403
    password = Rest(site, "anybody", own.headers["Authorization"].split()[1])
    assert password.call("GET", ant).status == 200, "as a password, for clients that know no tokens"
    shown = site.cli("token", "ls")
    assert "reads" in shown and "ant.example.com" in shown
    secret = own.headers["Authorization"].split("_")[-1]
    assert secret not in shown and secret not in site.cli("token", "ls", "--json")
    ident = own.headers["Authorization"].split("_")[1]
    site.cli("token", "revoke", ident)
    assert own.call("GET", ant).status == 401 and site.run("token", "revoke", ident).returncode == 66
    short = bearer(site, "--expires", "1s")
    wait_until(lambda: short.call("GET", "lists").status == 401, 60, "the token to have expired")
    for wrong in (("--verbs", "steal"), ("--expires", "soon"), ("--metrics", "--read-only")):
        assert site.run("token", "create", *wrong).returncode == 64
    assert site.run("token", "create", "--list", "nope@example.com").returncode == 66


def test_metrics(site, api, ant):
    metrics = bearer(site, "--metrics")
    answer = metrics.raw("GET", "/metrics")
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "listrunner_held_posts" in answer.text and 'runner="rest"' in answer.text
    assert metrics.call("GET", "lists").status == 403 and api.raw("GET", "/metrics").status == 200
    assert bearer(site, "--domain", "example.com").raw("GET", "/metrics").status == 403


def test_operations(site, api, ant):
    status = api.call("GET", "listrunner/status").json
    assert "rest" in [group["runner"] for group in status["runners"]] and "config" not in status
    depths = {entry["name"]: entry["entries"] for entry in api.call("GET", "listrunner/queues").json["entries"]}
    assert {"in", "out"} <= set(depths)
    suspended = api.call("POST", "listrunner/destinations/relay", action="suspend")
    assert suspended.status == 200, suspended
    states = {entry["name"]: entry["state"] for entry in api.call("GET", "listrunner/destinations").json["entries"]}
    assert states["relay"] == "suspended"
    assert api.call("POST", "listrunner/destinations/relay", action="resume").status == 200
    assert api.call("POST", "listrunner/destinations/relay", action="rate").status == 400
    assert api.call("POST", "queues/shunt", list_id="ant.example.com", text="Subject: x\n\ny\n").status == 201
    entry, = api.call("GET", "listrunner/shunt").json["entries"]
    assert entry["list_id"] == "ant.example.com"
    assert api.call("POST", "listrunner/shunt", action="delete").status == 400
    done = api.call("POST", "listrunner/shunt", action="delete", entry=entry["entry"]).json
    assert (done["done"], done["left"]) == (1, 0)
    assert api.call("GET", "listrunner/shunt").json["total_size"] == 0
    assert api.call("GET", "listrunner/bounces?list_id=ant.example.com").json["total_size"] == 0


# The rules of OpenAPI 3.1 for the parts that we use; Debian has no validator of the whole.
TEXT = {"type": "string", "minLength": 1}
CONTENT = {"type": "object", "minProperties": 1, "additionalProperties": {
    "type": "object", "required": ["schema"], "additionalProperties": False,
    "properties": {"schema": {"type": "object"}}}}
OPERATION = {
    "type": "object", "required": ["operationId", "responses", "parameters"], "additionalProperties": False,
    "properties": {
        "operationId": TEXT, "summary": TEXT, "tags": {"type": "array", "items": TEXT},
        "parameters": {"type": "array", "items": {
            "type": "object", "required": ["name", "in", "required", "schema"], "additionalProperties": False,
            "properties": {"name": TEXT, "in": {"const": "path"}, "required": {"const": True},
                           "schema": {"type": "object"}}}},
        "requestBody": {"type": "object", "required": ["content"], "additionalProperties": False,
                        "properties": {"content": CONTENT, "required": {"type": "boolean"}}},
        "responses": {"type": "object", "minProperties": 1, "additionalProperties": False, "patternProperties": {
            "^([1-5](XX|[0-9][0-9])|default)$": {
                "type": "object", "required": ["description"], "additionalProperties": False,
                "properties": {"description": TEXT, "content": CONTENT}}}}}}
OPENAPI = {
    "type": "object", "required": ["openapi", "info", "paths"], "additionalProperties": False,
    "properties": {
        "openapi": {"pattern": r"^3\.1\.\d+$"},
        "info": {"type": "object", "required": ["title", "version"], "additionalProperties": False,
                 "properties": {"title": TEXT, "version": TEXT, "description": TEXT}},
        "servers": {"type": "array", "items": {"type": "object", "required": ["url"]}},
        "security": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "array"}}},
        "components": {"type": "object", "additionalProperties": False, "properties": {
            "schemas": {"type": "object"}, "securitySchemes": {"type": "object", "additionalProperties": {
                "type": "object", "required": ["type", "scheme"]}}}},
        "paths": {"type": "object", "additionalProperties": False, "patternProperties": {"^/": {
            "type": "object", "additionalProperties": False, "patternProperties": {
                "^(get|put|post|delete|patch)$": OPERATION}}}}}}


def test_description(api):
    """The description of the interface is an OpenAPI document, and says what is there."""
    document = api.call("GET", "listrunner/openapi").json
    assert document["openapi"] == "3.1.0"
    operations = [(path, verb) for path, item in document["paths"].items() for verb in item]
    assert len(operations) > 150 and ("/lists/{list}/held/{id}", "post") in operations
    names = [item[verb]["operationId"] for item in document["paths"].values() for verb in item]
    assert len(set(names)) == len(names)
    for path, verb in operations:
        operation = document["paths"][path][verb]
        in_path = [parameter["name"] for parameter in operation["parameters"]]
        assert in_path == re.findall(r"{([a-z_]+)\*?}", path)
    jsonschema.Draft202012Validator(OPENAPI).validate(document)
    for reference in re.findall(r'"\$ref": "#/components/schemas/(\w+)"', json.dumps(document)):
        assert reference in document["components"]["schemas"]


def test_own_errors_of_the_http_library_are_json(api):
    for text in (b"NONSENSE\r\n\r\n", b"BREW /3.1/lists HTTP/1.1\r\nHost: x\r\n\r\n"):
        with socket.create_connection(api.place, timeout=60) as client:
            client.sendall(text)
            client.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: client.recv(65536), b""))
        assert b"<HTML" not in answer.upper() and (b"" == answer or b'{"title": "' in answer), answer
    big = api.raw("POST", "/3.1/domains", b"a" * 200000, {"Content-Type": "application/json"})
    assert big.status == 413 and big.json["title"] == "413 Payload Too Large"

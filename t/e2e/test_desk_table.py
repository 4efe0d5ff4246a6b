# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The desk: each address, asked and sent a form by each kind of person. The table says what each gets; forms that are
foreign, too old, or sent twice change nothing, and neither does a store that fails."""
import hashlib
import re
import time

import pytest

from support.corpus import TOP
from support.desk import Person, mark, write_to
from support.instance import HOST, let_through, wait_until
from support.pages import make_site
from support.post import post
from support.rest import Rest, serving
from support.vectors import VECTORS, Tags

OTHER_HOST = "other.example.org"
OWNER, MODERATOR, DOMAIN, OTHER, SITE, MEMBER, STRANGER = PEOPLE = tuple(
    f"{name}@example.org" for name in ("owner", "moderator", "domain", "other", "site", "member", "stranger"))
NOBODY = "nobody"
LIST = f"/desk/list/cats.{HOST}"
SPRING = time.gmtime(time.time() + 100 * 86400)
DUE = time.strftime("%Y-%m-%dT20:30:00Z", SPRING)
WELCOME = f"{LIST}/templates/list:user:notice:welcome"

# The answers to a GET, and to a POST with a good mark. People who may not see the list get the same for both.
RUNS = {OWNER: 200, MODERATOR: 200, DOMAIN: 200, OTHER: 200, SITE: 200, MEMBER: 403, STRANGER: 403, NOBODY: 303}
SEES = {**RUNS, OTHER: 404, MEMBER: 404, STRANGER: 404}
OWNS = {**SEES, MODERATOR: 403}
POSTS = {**RUNS, OTHER: 404}
TABLE = {
    "/desk": RUNS, "/desk/lists": RUNS, "/desk/post/{}": POSTS, "/desk/post/{}/file/{}/{}": POSTS,
    "/desk/list/{}": SEES, "/desk/list/{}/scheduled": SEES, **{f"/desk/list/{{}}/{page}": OWNS for page in (
        "settings", "settings/{}", "log", "members", "members.csv", "members/add", "bans", "header-matches",
        "templates", "templates/{}", "sources", "bounces", "trace")}}


def routes():
    """{path: verbs}, as the tables of the program have them, but for the operator's pages (test_desk_site.py)."""
    found = {}
    for path in (TOP / "runners" / "web").glob("*.c"):
        for verb, route in re.findall(r'\{"(GET|POST)", "(/desk[^"]*)", \w+\}', path.read_text()):
            found.setdefault(route, set()).add(verb)
    return {route: verbs for route, verbs in found.items() if not route.startswith("/desk/site")}


@pytest.fixture
def site(instances, sink, tmp_path):
    """The list cats with a held post; its domain has an owner, and so has the site. OTHER owns another domain, and
    another list of this one."""
    let_through(tmp_path)
    instance = make_site(instances, sink, **serving(tmp_path))
    instance.create_list("cats", [MEMBER], owner=OWNER, settings=["default_nonmember_action=hold", "description=Old"])
    instance.create_list("dogs", [STRANGER])
    instance.cli("domain", "create", OTHER_HOST)
    instance.cli("list", "create", f"birds@{OTHER_HOST}")
    instance.cli("member", "add", f"cats@{HOST}", MODERATOR, "--role", "moderator")
    rest = Rest(instance)
    for address in (DOMAIN, OTHER, SITE):
        assert rest.call("POST", "users", email=address).status == 201
    assert rest.call("PATCH", f"users/{SITE}", is_server_owner="yes").status == 204
    for host, address in ((HOST, DOMAIN), (OTHER_HOST, OTHER)):
        assert rest.call("POST", f"domains/{host}/owners", owner=address).status == 204
    instance.cli("member", "add", f"dogs@{HOST}", OTHER, "--role", "owner")
    write_to(instance, "cats", "author@example.net", "Waits")
    for name, author, subject in (("cats", MEMBER, "In spring"), ("dogs", STRANGER, "Of dogs")):
        text = post(author, subject, to=f"{name}@{HOST}").decode()
        instance.cli("inject", "--at", DUE, f"{name}@{HOST}", input=text)
    wait_until(lambda: len(instance.rows("scheduled", "ls")) == 2, 30, "the posts to wait")
    return instance


def scheduled(person):
    """The numbers of the posts that wait for their time."""
    return re.findall(r'name="post" value="(\d+)"', person.get(f"{LIST}/scheduled").text)


@pytest.fixture
def people(site, sink):
    return {address: Person(site, sink, address) for address in PEOPLE}


def places(people):
    """The addresses of the table: {route: path}."""
    (field,) = [name for name, _ in people[OWNER].waiting()]
    number = field.split("-")[1]
    ends = {"settings/{}": "settings/about", "templates/{}": "templates/list:user:notice:welcome"}
    found = {"/desk/post/{}": f"/desk/post/{number}", "/desk/post/{}/file/{}/{}": f"/desk/post/{number}/file/0/x"}
    for route in TABLE:
        if route.startswith("/desk/list/{}"):
            end = route.removeprefix("/desk/list/{}/") if route != "/desk/list/{}" else ""
            found[route] = f"{LIST}/{ends.get(end, end)}".rstrip("/")
    return {route: found.get(route, route) for route in TABLE}


def harm(people):
    """{route: fields of a form that changes something, without its mark}."""
    owner = people[OWNER]
    (post,) = [name for name, _ in owner.waiting()]
    (member,) = re.findall(r'name="(member-\w+)"', owner.get(f"{LIST}/members").text)
    undo = re.findall(r'name="undo" value="(\d+)"', owner.get(f"{LIST}/log").text)
    return {
        "/desk": {post: "yes", "do": "discard"},
        "/desk/list/{}/settings/{}": {"set-description": "New", "confirm": "yes",
                                      "seen-description": hashlib.sha256(b"Old").hexdigest()[:32]},
        "/desk/list/{}/log": {"undo": undo[-1]},
        "/desk/list/{}/members": {member: "yes", "role": "member", "confirm": "yes"},
        "/desk/list/{}/members/add": {"people": "new@example.net", "how": "owner", "confirm": "yes"},
        "/desk/list/{}/scheduled": {"post": scheduled(owner)[0], "do": "cancel", "confirm": "yes"},
        "/desk/list/{}/bans": {"add": "banned@example.net"},
        "/desk/list/{}/header-matches": {"header": "X-Spam", "pattern": "yes", "target": "hold"},
        "/desk/list/{}/templates/{}": {"text": "Welcome", "do": "save"}}


def state(instance):
    """All that the forms could change."""
    name = f"cats@{HOST}"
    held = re.sub(r'"age":\d+', "", instance.cli("held", "ls", name, "--json"))
    return [instance.cli("list", "show", name, "--json"), held, instance.cli("scheduled", "ls", "--json"),
            instance.cli("ban", "ls", name, "--json"), instance.cli("header-match", "ls", name, "--json"),
            instance.cli("template", "ls", "--list", name, "--json"),
            *[instance.cli("member", "ls", name, "--names", "--role", role)
              for role in ("member", "owner", "moderator")]]


def ask(site, people, address, path):
    return people[address].get(path) if address in people else site.pages.get(path)


def test_every_route_is_in_the_table():
    assert set(routes()) == set(TABLE)


def test_each_address_by_each_person(site, people):
    where = places(people)
    for route, expected in TABLE.items():
        assert set(expected) == {*PEOPLE, NOBODY}
        for address, status in expected.items():
            answer = ask(site, people, address, where[route])
            wanted = 404 if status == 200 and "file" in route else status  # the post has no file
            assert answer.status == wanted, f"{address} {where[route]}: {answer.status}"
            assert "no-store" in answer.headers["Cache-Control"]
            if status != 200:
                assert "Waits" not in answer.text and MEMBER not in answer.text.replace(address, "")
            if status == 303:
                assert answer.headers["Location"] == "/sign-in"


def test_each_form_by_each_person(site, people):
    """A person who may not gets what the table says; one who may, but with a mark of somebody else or none, gets 400.
    All stays."""
    where, fields = places(people), harm(people)
    assert set(fields) == {route for route, verbs in routes().items() if "POST" in verbs}
    before = state(site)
    for route, form in fields.items():
        for address, status in TABLE[route].items():
            foreign = people[SITE if address == OWNER else OWNER].mark
            for wrong in ("", "1.2", foreign):
                sent = ({"mark": wrong, **form}, {"Cookie": people[address].cookie} if address in people else {})
                answer = site.pages.send(where[route], sent[0], **sent[1])
                assert answer.status == (400 if status == 200 else status), f"{address} {route}: {answer.status}"
            if status != 200 and address in people:
                assert people[address].send(where[route], form).status == status
    # One who may decide, and not about this list.
    people[OTHER].send("/desk", fields["/desk"]).says("did not wait any more")
    assert state(site) == before


def test_each_form_once_and_twice(site, people):
    """The owner of the domain may do each; the second of the same form does nothing more."""
    where, fields, person = places(people), harm(people), people[DOMAIN]
    for route, form in fields.items():
        before = state(site)
        answer = person.send(where[route], form)
        assert answer.status in (200, 303), f"{route}: {answer.text}"
        after = state(site)
        assert after != before, route
        again = person.send(where[route], form)
        assert again.status in (200, 303, 400, 409) and state(site) == after, route


def test_marks_grow_old(clock, site, people):
    """After a day a form is refused, and the session goes on."""
    where, fields, owner = places(people), harm(people), people[OWNER]
    before = state(site)
    clock.seconds(25 * 3600)
    for route, form in fields.items():
        answer = owner.send(where[route], form)
        assert answer.status == 400, route
        answer.says("open for too long")
    assert state(site) == before
    owner.mark = mark(owner.get("/my").text)
    assert owner.send(where["/desk/list/{}/bans"], fields["/desk/list/{}/bans"]).status == 303


def test_roles_that_end(site, people):
    """A person who has lost the role has lost the pages, in the same session."""
    where, fields = places(people), harm(people)
    rest = Rest(site)
    assert rest.call("DELETE", f"domains/{HOST}/owners").status == 204
    assert rest.call("PATCH", f"users/{SITE}", is_server_owner="no").status == 204
    site.cli("member", "remove", f"cats@{HOST}", MODERATOR, "--role", "moderator")
    before = state(site)
    for address in (DOMAIN, SITE, MODERATOR):
        for route, path in where.items():
            status = 403 if not route.startswith("/desk/list/") else 404
            assert people[address].get(path).status == status, f"{address} {path}"
        for route, form in fields.items():
            assert people[address].send(where[route], form).status in (403, 404)
    assert state(site) == before


def test_what_people_write_is_text(site, people):
    """Vectors in Subjects, names of senders and members, settings, bans, header fields, letters, and what is sent."""
    owner = people[OWNER]
    for number, vector in enumerate(VECTORS):
        name = vector.replace('"', "")
        site.lmtp_send(f'From: "{name}" <author{number}@example.net>\r\nTo: cats@{HOST}\r\nSubject: {vector}\r\n'
                       f"Message-ID: <x{number}@example.net>\r\nDate: Fri, 20 Nov 2026 13:20:00 +0000\r\n"
                       f'Content-Type: text/html; name="{name}.html"\r\n\r\n{vector}\r\n'.encode(), f"cats@{HOST}",
                       sender=f"author{number}@example.net")
        site.cli("list", "set", f"cats@{HOST}", f"description={vector}", f"display_name={vector}", f"info={vector}\nx",
                 f"accept_these_nonmembers=^{re.escape(vector)}".replace(",", "\\,"))
        site.cli("member", "add", f"cats@{HOST}", f"m{number}@example.net", "--display-name", vector)
        for path, fields in ((f"{LIST}/bans", {"add": f"^{re.escape(vector)}"}),
                             (WELCOME, {"text": vector, "do": "save"}),
                             (f"{LIST}/header-matches", {"header": "X-Spam", "pattern": re.escape(vector)})):
            assert owner.send(path, fields).status in (303, 400)
    site.wait_idle()
    numbers = [name.split("-")[1] for name, _ in owner.waiting()]
    assert len(numbers) == len(VECTORS) + 1
    pages = ["/desk", "/desk/lists", *[f"/desk/post/{number}" for number in numbers], LIST,
             *[f"{LIST}/{page}" for page in ("settings", "settings/about", "settings/moderation", "log", "members",
                                             "members/add", "bans", "header-matches", "templates", "bounces",
                                             "sources", "scheduled")], WELCOME]
    answers = [owner.get(page, Accept_Language=language) for page in pages for language in ("en", "de")]
    for vector in VECTORS:
        for end, fields in (("bans", {"add": f"^(({vector}"}),
                            ("header-matches", {"header": vector, "pattern": vector}),
                            ("members/add", {"people": f"{vector}\n{vector} <x@example.net>", "how": vector}),
                            ("templates/list:user:notice:welcome", {"text": vector, "in": vector, "do": "preview"}),
                            ("settings/about", {"set-description": f"{vector}!", "set-preferred_language": vector}),
                            ("settings/about", {"set-description": f"{vector}!"}), ("log", {"undo": vector})):
            answers.append(owner.send(f"{LIST}/{end}", fields))
    for answer in answers:
        assert answer.status in (200, 303, 400, 404)
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        Tags().check(answer.text)


def test_posts_that_wait_for_their_time(site, people, sink):
    """Shown and moved in the zone of the page, sent and cancelled after a question, and no post of another list."""
    owner, moderator, path = people[OWNER], people[MODERATOR], f"{LIST}/scheduled"
    day = time.strftime("%Y-%m-%d", SPRING)
    next_day = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 101 * 86400))
    (number,) = scheduled(owner)
    (other,) = [row["number"] for row in site.rows("scheduled", "ls") if row["subject"] == "Of dogs"]
    assert f'<a href="{path}">1</a>' in moderator.get(LIST).text
    page = moderator.get(path)
    for text in ("In spring", MEMBER, f"{day} 20:30 UTC<"):
        page.says(text)
    assert "Of dogs" not in page.text and "<script" not in page.text
    for zone, shown in (("+05:45", f"{next_day} 02:15 UTC+05:45"), ("-03:30", f"{day} 17:00 UTC-03:30"),
                        ("x", f"{day} 20:30 UTC<")):
        moderator.get(f"{path}?zone={zone.replace('+', '%2B')}").says(shown)
    assert "Cancel it?" not in page.text and "wartet" not in page.text
    owner.get(path, Accept_Language="de").says("Zeitzone dieser Seite")
    due = lambda: {str(row["number"]): row["due_at"] for row in site.rows("scheduled", "ls")}
    before = due()
    move = {"do": "move", "day": next_day, "minute": "08:05", "zone": "+05:45"}
    for changed, status, text in (({"day": "2020-01-01"}, 400, "that time is over"),
                                  ({"minute": "soon"}, 400, "no time"),
                                  ({"day": "9999-01-01"}, 400, "a year ahead"), ({"do": "what"}, 400, "In spring"),
                                  ({"do": "cancel"}, 200, "Cancel it?"), ({"do": "send"}, 200, "Send it now?")):
        answer = owner.send(path, {**move, "post": number, **changed})
        assert answer.status == status, changed
        answer.says(text)
    for foreign in (str(other), "999", ""):
        for fields in (move, {"do": "send", "confirm": "yes"}, {"do": "cancel", "confirm": "yes"}):
            assert owner.send(path, {**fields, "post": foreign}).headers["Location"].startswith(f"{path}?done=gone")
    owner.get(f"{path}?done=gone").says("does not wait any more")
    assert due() == before
    answer = moderator.send(path, {**move, "post": number})
    assert answer.headers["Location"] == f"{path}?done=move&zone=%2B05%3A45"
    moderator.get(answer.headers["Location"]).says(f"{next_day} 08:05 UTC+05:45")
    assert due() == {**before, number: f"{next_day}T02:20:00Z"}
    log = site.cli("list", "log", f"cats@{HOST}")
    assert MODERATOR in [line for line in log.splitlines() if "In spring" in line and "02:20" in line][-1]
    assert sink.take_mail().get(MEMBER, []) == []
    assert owner.send(path, {"do": "send", "confirm": "yes", "post": number}).status == 303
    site.wait_idle()
    assert [mail["Subject"].split("] ")[-1] for mail in sink.take_mail()[MEMBER]] == ["In spring"]
    assert due() == {str(other): before[str(other)]}
    owner.get(path).says("No post waits")


@pytest.mark.sqlite
def test_a_store_that_fails(site, people):
    """Each form is answered 503 and nothing is half done; later it works."""
    where, fields, owner = places(people), harm(people), people[OWNER]
    before = state(site)
    with site.database() as database:
        database.execute("CREATE TRIGGER bad BEFORE INSERT ON list_log BEGIN SELECT RAISE(ABORT, 'bad'); END")
    for route, form in fields.items():
        answer = owner.send(where[route], form)
        assert answer.status == 503 and answer.headers["Retry-After"], f"{route}: {answer.status}"
        answer.says("Nothing was changed")
        assert state(site) == before, route
    assert not site.under_way()
    with site.database() as database:
        database.execute("DROP TRIGGER bad")
    for route, form in fields.items():
        assert owner.send(where[route], form).status in (200, 303), route
    assert state(site) != before


@pytest.mark.sqlite
def test_the_database_is_away(site, people):
    where, fields, owner = places(people), harm(people), people[OWNER]
    before = state(site)
    path = site.directory / "lib" / "listrunner.db"
    path.rename(path.with_suffix(".away"))
    try:
        for route, page in where.items():
            assert owner.get(page).status == 503, route
        for route, form in fields.items():
            assert owner.send(where[route], form).status == 503, route
    finally:
        path.with_suffix(".away").rename(path)
    assert state(site) == before

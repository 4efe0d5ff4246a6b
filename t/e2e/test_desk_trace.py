# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The desk and REST show what became of a post: to the owner of its list, to the operator, and to nobody else."""
import html
import re

from support.desk import Person, operator
from support.instance import HOST, let_through, wait_until
from support.pages import make_site
from support.post import post
from support.rest import Rest, serving

OPAL, OLGA, OTTO, ANNE, BART = (f"{name}@example.org" for name in ("opal", "olga", "otto", "anne", "bart"))
VECTOR = "<img src=x onerror=alert(1)>"
PAGE = f"/desk/list/cats.{HOST}/trace"


def told(person, path, *words):
    """The page, once it has the words: each process holds back for some seconds what it has to tell."""
    pages = [None]

    def all_there():
        pages[0] = person.get(path)
        return all(word in pages[0].text for word in words)
    wait_until(all_there, 60, lambda: f"{words} in {pages[0].text}")
    return pages[0]


def test_who_sees_what_became_of_it(instances, sinks, tmp_path):
    let_through(tmp_path)
    sink = sinks(faults=[f"rcpt match=^{BART} do 550 5.1.1 {VECTOR}"])
    site = make_site(instances, sink, **serving(tmp_path))
    for name, owner in (("cats", OLGA), ("dogs", OTTO)):
        site.create_list(name, [ANNE, BART], owner=owner)
    operator(site, OPAL)
    people = {name: Person(site, sink, name) for name in (OPAL, OLGA, OTTO, ANNE)}
    for name in ("cats", "dogs"):
        site.lmtp_send(post(to=f"{name}@{HOST}", message_id="<both@example.net>"), f"{name}@{HOST}")
    asked = f"{PAGE}?of=both@example.net"
    page = told(people[OLGA], asked, html.escape(VECTOR), "sent ·", ANNE, BART, "refused")
    assert "<img" not in page.text and f"dogs.{HOST}" not in page.text
    told(people[OLGA], f"{PAGE}?of=1&address={BART}", html.escape(VECTOR))
    assert f"{ANNE}</bdi>" not in people[OLGA].get(f"{PAGE}?of=1&address={BART}").text
    assert BART not in people[OLGA].get(f"{PAGE}?of=dogs@{HOST}%231").text
    assert people[OTTO].get(asked).status == people[ANNE].get(asked).status == 404
    for address, status in ((OPAL, 200), (OLGA, 403), (ANNE, 403)):
        assert people[address].get("/desk/site/trace?of=both@example.net").status == status
    told(people[OPAL], "/desk/site/trace?of=both@example.net", f"dogs.{HOST}", f"cats.{HOST}")

    rest, where = Rest(site), "listrunner/trace?message_id=both@example.net"
    assert {row["list"] for row in rest.call("GET", where).json["entries"]} == {f"cats.{HOST}", f"dogs.{HOST}"}
    scoped = Rest(site)
    token = site.cli("token", "create", "--list", f"cats@{HOST}").split()
    scoped.headers = {"Authorization": "Bearer " + next(word for word in token if word.startswith("lrt_"))}
    answer = scoped.call("GET", f"{where}&list_id=cats.{HOST}&email={BART}").json
    assert {row["list"] for row in answer["entries"]} == {f"cats.{HOST}"} and answer["next"] is None
    (refused,) = [row for row in answer["entries"] if row.get("status") == "bounced"]
    assert refused["email"] == BART and VECTOR in refused["reply"]
    assert scoped.call("GET", where).status == scoped.call("GET", f"{where}&list_id=dogs.{HOST}").status == 403
    assert rest.call("GET", f"{where}&after=x").status == 400

    for file in (site.directory / "trail").glob("*.trail"):
        file.write_bytes(b"LRT1" + file.read_bytes()[4:60] + b"x" * 100)
    people[OLGA].get(asked).says("Nothing was found", "damaged")
    for file in (site.directory / "trail").iterdir():
        file.unlink()
    people[OLGA].get(asked).says("Nothing was found")


def test_it_comes_in_parts(instances, sinks, tmp_path):
    """Each of 230 recipients stands on one page of a list, and once in REST's answers, in the order of time."""
    let_through(tmp_path)
    people = [f"m{number}@example.org" for number in range(230)]
    sink = sinks()
    site = make_site(instances, sink, **serving(tmp_path))
    address = site.create_list("cats", people, owner=OLGA)
    site.lmtp_send(post(to=address, message_id="<long@example.net>"), address)
    site.wait_idle()
    olga, rest = Person(site, sink, OLGA), Rest(site)

    def by_rest():
        found, after = [], ""
        while after is not None:
            answer = rest.call("GET", f"listrunner/trace?message_id=long@example.net{after}").json
            assert len(answer["entries"]) <= 200
            found += [row for row in answer["entries"] if row.get("email")]
            after = answer["next"] and f"&after={answer['next']}"
        return found
    wait_until(lambda: len(by_rest()) >= len(people), 60, lambda: len(by_rest()))
    rows = by_rest()
    assert sorted(row["email"] for row in rows) == sorted(people)
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)

    seen, path, pages = [], f"{PAGE}?of=long@example.net", 0
    while path:
        page = olga.get(path).text
        seen += [one for one in people if f"{one}</bdi>" in page]
        further = re.search(r'href="([^"]+)" rel="next"', page)
        path, pages = further and html.unescape(further.group(1)), pages + 1
    assert sorted(seen) == sorted(people) and pages >= 3

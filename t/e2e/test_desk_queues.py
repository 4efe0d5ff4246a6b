# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""How old what waits is, by destination and by list: the same on the operator's page, by REST and in the shell."""
import html
import json
import re
import sys
import time
from pathlib import Path

import pytest

from support.desk import Person, operator
from support.instance import HOST, let_through, wait_until
from support.pages import make_site
from support.rest import Rest, serving

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from spool import write_entry  # noqa: E402

OPAL = "opal@example.org"
PAGE = "/desk/site"
VECTOR = "<img/src=x>"
COLUMNS = ["5", "10", "20", "40", "80", "160", "320", "640", "1280", "1280+"]
LATER = 3600


@pytest.fixture
def site(instances, sink, tmp_path):
    let_through(tmp_path)
    instance = make_site(instances, sink, **serving(tmp_path))
    instance.create_list("cats", ["anne@example.org"])
    operator(instance, OPAL)
    return instance


def put(site, queue, minutes, recipients=b"", **more):
    """An entry that came so long ago, and is not due for an hour."""
    name = write_entry(site, queue, arrival=time.time() - 60 * minutes, due=time.time() + LATER,
                       recipients=recipients, **more)
    site.own(site.spool / queue / f"{name}.msg")
    return name


def by_page(person):
    """(name, queue) -> {column: number}, of both tables."""
    rows, text = {}, person.get(PAGE).text
    for name, queue, cells in re.findall(
            r'<tr><th scope="row"><bdi>([^<]*)</bdi>(?: <span class="facts">([^<]*)</span>)?</th>'
            r'((?:<td class="number">\d*</td>){11})</tr>', text):
        numbers = re.findall(r'number">(\d*)<', cells)
        rows[html.unescape(name), queue] = {column: int(number)
                                            for column, number in zip(COLUMNS, numbers[1:]) if number}
    return rows


def by_rest(rest):
    answer, rows = rest.call("GET", "listrunner/queues/shape").json, {}
    for shape in (answer["out"], answer["others"]):
        for row in shape["rows"]:
            rows[row["name"], row.get("queue", "")] = {column: count for column, count in zip(COLUMNS, row["counts"])
                                                       if count}
    return rows


def by_shell(site):
    rows = {}
    for words, key in ((["--json"], "domain"), (["--list", "--json"], "list")):
        for line in site.cli("queue", "shape", *words).splitlines():
            row = json.loads(line)
            if row[key] != "TOTAL":
                rows[row[key], row.get("queue") or ""] = {column: row[column] for column in COLUMNS if row[column]}
    return rows


def test_how_old_what_waits_is(site, sink):
    opal, rest = Person(site, sink, OPAL), Rest(site)
    site.wait_idle()
    opal.get(PAGE).says("What waits in queues", "Nothing waits.")
    put(site, "retry", 30, b" a@one.example\n b@One.Example\nDc@one.example\n d@two.example\n")
    gone = put(site, "retry", 100, b" a@one.example\n")
    put(site, "out", 5000, f" x@{VECTOR}.example\n".encode())
    put(site, "in", 1, list_id=f"cats.{HOST}", posted_by="poster@example.net")
    wanted = {("one.example", ""): {"40": 2, "160": 1}, ("two.example", ""): {"40": 1},
              (f"{VECTOR}.example", ""): {"1280+": 1}, (f"cats.{HOST}", "in"): {"5": 1}}
    for ask in (lambda: by_page(opal), lambda: by_rest(rest), lambda: by_shell(site)):
        wait_until(lambda: ask() == wanted, 30, ask)
    assert VECTOR not in opal.get(PAGE).text
    # One leaves.
    site.cli("queue", "delete", gone)
    wanted["one.example", ""] = {"40": 2}
    for ask in (lambda: by_page(opal), lambda: by_rest(rest), lambda: by_shell(site)):
        wait_until(lambda: ask() == wanted, 30, ask)


def test_of_many_a_part_is_read(site, sink):
    """Of 3000 entries a third has each domain, more or less, as far as the page can know; all of them are counted. The
    domains that are not among the largest are summed up."""
    opal = Person(site, sink, OPAL)
    site.wait_idle()
    for number in range(3000):
        put(site, "retry", 30, b" a@%s.example\n" % (b"one", b"two", b"d%d" % number)[number % 3])
    shape = Rest(site).call("GET", "listrunner/queues/shape").json["out"]
    assert shape["entries"] == 3000 and shape["read"] == 1000 and shape["total"]["total"] == 3000
    (first, second), others = shape["rows"][:2], shape["others"]
    assert {first["name"], second["name"]} == {"one.example", "two.example"} and len(shape["rows"]) == 20
    assert all(700 < row["total"] < 1300 for row in (first, second)) and others["names"] > 100
    assert sum(shape["others"]["counts"]) == shape["others"]["total"] > 500
    opal.get(PAGE).says("Estimated: of 3000 mails 1000 were looked at.", f"{others['names']} others")


def test_a_damaged_entry_is_left_out_and_told(site, sink):
    opal = Person(site, sink, OPAL)
    site.wait_idle()
    name = put(site, "retry", 30, b" a@one.example\n")
    put(site, "retry", 30, b" a@two.example\n")
    path = site.spool / "retry" / f"{name}.msg"
    path.write_bytes(path.read_bytes().replace(b"a@one", b"b@one"))
    wait_until(lambda: by_page(opal) == {("two.example", ""): {"40": 1}}, 30, lambda: by_page(opal))
    opal.get(PAGE).says("Some entries are damaged")

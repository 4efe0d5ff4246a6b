# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The REST interface beside answers of Mailman's, recorded request by request (t/data/rest-exchanges.txt)."""
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import rest
from support import clients
from support.instance import wait_until
from support.rest import Rest

pytestmark = pytest.mark.main

RECORDED = Path(__file__).parent.parent / "data" / "rest-exchanges.txt"
IDENTIFIER = r"(?:\d+\.\d+\+)?[0-9a-f]{32,40}"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?")
TYPES = {"form": "application/x-www-form-urlencoded", "json": "application/json", "text": "text/plain"}


@dataclass
class Exchange:
    line: int
    verb: str
    path: str
    kind: str = None
    body: str = ""
    status: int = 0
    answer: str = ""


def recorded():
    found = []
    for number, line in enumerate(RECORDED.read_text().splitlines(), 1):
        if not line or line.lstrip().startswith("#"):
            continue
        word, _, rest = line.strip().partition(" ")
        if not line.startswith(" "):
            found.append(Exchange(number, word, rest))
        elif word.isdigit() or word == "ours":
            status, _, found[-1].answer = line.strip().removeprefix("ours ").partition(" ")
            found[-1].status = int(status)
        else:
            found[-1].kind, found[-1].body = word, rest
    return found


class Comparison:
    """Holds answers of ours against the recorded ones. Ids differ: which of ours stands for which is learnt on the way.
    A user and a member may have the same one in the recording."""

    def __init__(self, base):
        self.base, self.ours = base, {}

    def translate(self, text):
        """A request as we know its ids. A subscriber is a user."""
        pieces = re.split(r"(members/|requests/|queues/\w+/|users/|subscriber=|user_id=)", text)
        for at in range(2, len(pieces), 2):
            kind = self.kind(pieces[at - 1])
            pieces[at] = re.sub(f"^{IDENTIFIER}", lambda found: self.ours.get((kind, found[0]), found[0]), pieces[at])
        return "".join(pieces)

    @staticmethod
    def kind(where):
        words = {"queue": "file", "file": "file", "request": "token", "token": "token", "member": "member"}
        return next((kind for word, kind in words.items() if word in where), "user")

    def differences(self, theirs, ours, where=""):
        if isinstance(theirs, dict) and isinstance(ours, dict):
            return [what for key, value in theirs.items() for what in (
                self.differences(value, ours[key], f"{where}.{key}") if key in ours else [f"{where}.{key} is missing"])]
        if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
            return [what for at, pair in enumerate(zip(theirs, ours))
                    for what in self.differences(*pair, f"{where}[{at}]")]
        if isinstance(theirs, str) and isinstance(ours, str) and self.alike(theirs, ours.replace(self.base, ""), where):
            return []
        return [] if theirs == ours and type(theirs) is type(ours) else [f"{where}: {theirs!r}, ours {ours!r}"]

    def alike(self, theirs, ours, where):
        if TIME.fullmatch(theirs):
            return TIME.fullmatch(ours)
        if theirs.startswith("$"):  # the hash of a password
            return ours.startswith("$")
        known, new = re.search(IDENTIFIER, theirs), re.search(IDENTIFIER, ours)
        if not known or not new or theirs.replace(known[0], "") != ours.replace(new[0], ""):
            return theirs == ours
        return self.ours.setdefault((self.kind(where.rpartition(".")[2] + theirs), known[0]), new[0]) == new[0]


def ask(api, exchange, comparison):
    body = comparison.translate(exchange.body)
    return api.raw(exchange.verb, comparison.translate(exchange.path), body.encode() or None,
                   {"Content-Type": TYPES[exchange.kind]} if exchange.kind else {})


def judge(exchange, answer, comparison):
    if answer.status != exchange.status:
        return [f"status {exchange.status}, ours {answer.status} {answer.text[:200]}"]
    kind, _, value = exchange.answer.partition(" ")
    if kind == "location":
        return comparison.differences(value, answer.headers.get("Location"))
    if kind == "allow":
        ours = set(answer.headers.get("Allow", "").split(", ")) - {"HEAD", "OPTIONS"}
        return [] if set(value.split(", ")) == ours else [f"allowed {value}, ours {answer.headers.get('Allow')}"]
    if not exchange.answer or exchange.answer == "...":
        return []
    return comparison.differences(json.loads(exchange.answer), answer.json)


@pytest.fixture
def site(tmp_path, until_end):
    return until_end(clients.EmptySite(tmp_path))


def test_recorded_exchanges(site):
    api, comparison = Rest(site.instance), Comparison(site.url)
    faults = []
    for exchange in recorded():
        found = judge(exchange, ask(api, exchange, comparison), comparison)
        if exchange.path == "/3.1/queues/in" and exchange.verb == "POST":
            wait_until(lambda: not site.instance.files("in")["in"], 30, "the post to be judged")
        faults += [f"line {exchange.line}: {exchange.verb} {exchange.path} {exchange.body}: {what}" for what in found]
    assert not faults, f"{len(faults)} differences\n" + "\n".join(faults)


def test_guessing_is_slowed_down(tmp_path):
    """On a site of its own, since all tests come from one address."""
    with rest.site(tmp_path, attempts_per_minute="2") as site:
        api = Rest(site)
        assert api.call("GET", "lists").status == 200
        program = Rest(site)
        program.headers = {"Authorization": f"Bearer {site.cli('token', 'create').strip()}"}
        for _ in range(10):
            last = Rest(site, password="guess").call("GET", "lists")
        assert last.status == 429 and "Retry-After" in last.headers
        assert api.call("GET", "lists").status == 200, "who is known stays inside"
        assert program.call("GET", "lists").status == 200, "a token that is right is let in at its first use, too"
        program.headers["Authorization"] += "0"
        assert program.call("GET", "lists").status == 429

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Clients of the REST interface, each with names of its own and a model of what must be there.

A model is made of parts: a list, a domain, the people of a client. A change says which parts it makes new. When it is
answered 2xx, it has made all of them. When the connection is cut, the parts are read at once, and they must be all as
before or all new; behind a 503 they must be as before."""
import copy
import http.client
import random
import re
import threading
import time
import urllib.parse
from collections import Counter

from support.rest import Answer, Rest

STYLE = {  # of the lists here: many rows at the making of each
    "default_member_action": "accept", "default_nonmember_action": "hold", "send_welcome_message": "no",
    "send_goodbye_message": "no", "archive_policy": "private", "subject_prefix": "[load]", "max_message_size": "77",
    "info": "of the style", "require_explicit_destination": "no", "administrivia": "no"}
SHOWN = {"default_member_action": "accept", "default_nonmember_action": "hold", "send_welcome_message": False,
         "send_goodbye_message": False, "archive_policy": "private", "subject_prefix": "[load]",
         "max_message_size": 77, "info": "of the style", "description": "", "acceptable_aliases": []}
ARCHIVERS = ("maildir", "mbox")
TEMPLATES = ("list:user:notice:welcome", "list:user:notice:goodbye", "list:admin:action:post")
HOME = "home.example"  # the domain of lists that stay
MODES = ("regular", "mime_digests", "plaintext_digests")
PATIENCE = 60  # seconds in which a server that is killed again and again must have answered a question


class Cut(Exception):
    """The connection ended before the answer was whole."""


class Line:
    """One connection, kept alive, and opened again after it was cut."""

    def __init__(self, instance):
        rest = Rest(instance)
        self.headers = rest.headers
        self.connection = http.client.HTTPConnection(*rest.place, timeout=PATIENCE)
        self.requests = 0

    def attempt(self, verb, path, form=None):
        self.requests += 1
        body = urllib.parse.urlencode(form, doseq=True) if form else None
        kind = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        try:
            self.connection.request(verb, f"/3.1/{path}", body, {**self.headers, **kind})
            answer = self.connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
        except TimeoutError:  # nobody killed it: it hangs
            raise
        except (http.client.HTTPException, OSError) as why:
            self.connection.close()
            raise Cut(f"{type(why).__name__}: {why}") from None

    def read(self, path):
        """Return what is there, None where nothing is; asked again until it is answered."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self.attempt("GET", path)
            except Cut:
                answer = None
            if answer and answer.status != 503:
                assert answer.status in (200, 404), f"GET {path}: {answer}"
                return answer.json if answer.status == 200 else None
            assert time.monotonic() < deadline, f"GET {path} was not answered for {PATIENCE} s: {answer}"
            time.sleep(0.01)

    def entries(self, path):
        return (self.read(path) or {}).get("entries", [])


# ---- what REST shows, as the models have it ----

def read_list(line, list_id):
    """None: it is not there, and nothing is left of it."""
    base = f"lists/{list_id}"
    config = line.read(f"{base}/config")
    members = {f"{entry['role']} {entry['email']}": [entry["delivery_mode"], entry.get("moderation_action")]
               for entry in line.entries(f"members/find?list_id={list_id}")}
    if config is None:
        return {"left behind": members} if members else None
    archivers = line.read(f"{base}/archivers")
    found = {"config": {name: config[name] for name in SHOWN}, "members": members,
             "archivers": {name: archivers[name] for name in ARCHIVERS},
             "bans": sorted(entry["email"] for entry in line.entries(f"{base}/bans")),
             "matches": [entry["pattern"] for entry in line.entries(f"{base}/header-matches")],
             "uris": {entry["name"]: entry["uri"] for entry in line.entries(f"{base}/uris")}}
    counted = line.read(base)["member_count"]
    roster = sum(key.startswith("member ") for key in members)
    return found if counted == roster else {"member_count": counted, "roster": roster}


def read_people(line, pool):
    """{address: with which others it belongs to a user, and what is known of both}"""
    found = {}
    for address in pool:
        known = line.read(f"addresses/{address}") if address not in found else None
        if not known:
            continue
        path = known["user"].split("/3.1/")[1] if "user" in known else None
        user = line.read(path) if path else None
        theirs = line.entries(f"{path}/addresses") if user else []
        emails = sorted(entry["email"] for entry in theirs)
        found[address] = {"with": "a user that is not there"}
        for entry in theirs:
            found[entry["email"]] = {"with": emails, "name": user.get("display_name", ""),
                                     "server_owner": user["is_server_owner"], "verified": "verified_on" in entry}
    return found


def read_domain(line, host):
    domain = line.read(f"domains/{host}")
    if not domain:
        return None
    users = [entry["user_id"] for entry in line.entries(f"domains/{host}/owners")]
    return {"description": domain["description"], "alias": domain["alias_domain"],
            "owners": sorted(entry["email"] for user in users for entry in line.entries(f"users/{user}/addresses"))}


def tagged(number):
    """Settings that say which PATCH set them."""
    return {"description": f"as {number}", "info": f"more of\nas {number}", "subject_prefix": f"[as {number}]",
            "max_message_size": 1000 + number, "acceptable_aliases": [f"as-{number}@alias.example"]}


def tags_of(config):
    """Of which PATCH each of these settings is; None: of none."""
    tags = set()
    for name in tagged(0):
        value = config[name]
        digits = re.search(r"as.(\d+)", value[0] if isinstance(value, list) and value else str(value))
        tags.add(value - 1000 if name == "max_message_size" and value >= 1000 else digits and int(digits[1]))
    return tags


def new_list():
    return {"config": dict(SHOWN), "archivers": dict.fromkeys(ARCHIVERS, True), "members": {}, "bans": [],
            "matches": [], "uris": {}}


def differences(seen, wanted, where=""):
    """Where two states differ, in words."""
    if isinstance(seen, dict) and isinstance(wanted, dict):
        return [what for key in sorted({*seen, *wanted})
                for what in differences(seen.get(key), wanted.get(key), f"{where} {key}")]
    return [] if seen == wanted else [f"{where}: {seen}, wanted {wanted}"]


class Shared:
    """A list whose settings many change at a time."""

    def __init__(self, name):
        self.list_id = f"{name}.{HOME}"
        self.patches = []  # (number, begun, ended, answered)

    def possible(self):
        """Numbers of the PATCHes that may have been the last: none that was answered began behind their end."""
        last = max((begun for _, begun, _, answered in self.patches if answered), default=0)
        return {number for number, _, ended, _ in self.patches if ended >= last}


class Figures:
    """Holds what all clients together saw; and what was wrong."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answered = Counter()  # 2xx, by the kind of change
        self.done, self.undone = Counter(), Counter()  # the connection was cut, and what became of it was seen
        self.cut = Counter()  # and that was not looked at
        self.refused = Counter()  # 503
        self.faults = []

    def count(self, counter, kind):
        with self.lock:
            counter[kind] += 1

    def not_answered(self):
        return sum(counter.total() for counter in (self.done, self.undone, self.cut, self.refused))

    def __str__(self):
        columns = (self.answered, self.done, self.undone, self.cut, self.refused)
        rows = [("all", *(column.total() for column in columns))]
        rows += [(kind, *(column[kind] for column in columns)) for kind in sorted(set().union(*columns))]
        return "changes:\n" + "\n".join(
            f"{kind:20}" + "".join(f"{count:>12}" for count in row)
            for kind, *row in [("", "2xx", "cut, done", "cut, not", "cut", "503"), *rows])


class Client:
    """One of many. What it makes is named after it."""

    def __init__(self, instance, number, seed, shared, figures):
        self.name, self.chance = f"c{number:02}", random.Random(f"{seed}.{number}")
        self.line, self.shared, self.figures = Line(instance), shared, figures
        self.number, self.serial = number, 0
        self.host, self.home = f"{self.name}.example", f"{self.name}.{HOME}"
        self.addresses = [f"{who}@people.{self.host}" for who in ("p1", "p2", "p3", "p4", "p5")]
        self.owners = [f"{who}@people.{self.host}" for who in ("o1", "o2")]
        self.parts = {"domain": None, "people": {}, "a": None, "b": None, "home": None, "held": {}}
        self.reader = f"reader@people.{self.host}"  # of the list at home
        self.guests, self.decided = set(), {}  # decided: {post: how}
        self.posts = {}  # {post: was it taken?} None: the connection was cut

    def next(self):
        self.serial += 1
        return self.serial

    # ---- asking ----

    def read(self, part):
        if part == "domain":
            return read_domain(self.line, self.host)
        if part == "people":
            return read_people(self.line, self.addresses + self.owners)
        if part == "held":
            return {str(entry["request_id"]): entry["message_id"].strip("<>")
                    for entry in self.line.entries(f"lists/{self.home}/held")}
        if part.startswith("guest "):
            return read_people(self.line, [part.split()[1]])
        return read_list(self.line, self.home if part == "home" else f"{part}.{self.host}")

    def compare(self, wanted, what):
        """Is all as wanted? A difference is a fault, and what is there is believed from then on."""
        for part, state in wanted.items():
            seen = self.read(part)
            if seen != state:
                self.figures.faults.append(f"{self.name}: {what}: {part}: {differences(seen, state)}")
                self.parts[part] = seen

    def change(self, kind, request, **new):
        """Ask for a change that makes these parts new; True: it was made."""
        verb, path, form = request
        try:
            answer = self.line.attempt(verb, path, form)
        except Cut:
            answer = None
        if answer and answer.status < 300:
            self.figures.count(self.figures.answered, kind)
            self.parts.update(new)
            if self.chance.random() < 0.05:
                self.compare(new, f"after {kind}, answered {answer.status}")
            return True
        if answer and answer.status != 503:
            self.figures.faults.append(f"{self.name}: {kind}: {verb} {path} {form}: {answer}")
            self.parts.update({part: self.read(part) for part in new})
            return False
        old = {part: self.parts.get(part) for part in new}
        seen = {part: self.read(part) for part in new}
        if seen not in ([old] if answer else [old, new]):
            self.figures.faults.append(f"{self.name}: {kind}, {'503' if answer else 'cut'}: {verb} {path} {form}:"
                                       f"\n  of what was before: {differences(seen, old)}"
                                       f"\n  of what was wanted: {differences(seen, new)}")
        counter = self.figures.refused if answer else self.figures.done if seen == new else self.figures.undone
        self.figures.count(counter, kind)
        self.parts.update(seen)
        return seen == new

    def tally(self, kind, answer):
        """For a change of which nobody looks at once what became of it."""
        self.figures.count(self.figures.cut if not answer else self.figures.refused if answer.status == 503
                           else self.figures.answered, kind)

    # ---- the domain and its lists ----

    def make_domain(self):
        tag = f"of {self.next()}"
        people = copy.deepcopy(self.parts["people"])
        for owner in self.owners:
            people.setdefault(owner, {"with": [owner], "name": "", "server_owner": False, "verified": False})
        self.change("domain-create", ("POST", "domains", {
            "mail_host": self.host, "description": tag, "alias_domain": f"alias.{self.host}", "owner": self.owners}),
            domain={"description": tag, "alias": f"alias.{self.host}", "owners": self.owners}, people=people)

    def domain(self):
        if not self.parts["domain"]:
            return self.make_domain()
        number = self.next()
        if self.chance.random() < 0.15:
            return self.change("domain-delete", ("DELETE", f"domains/{self.host}", None), domain=None, a=None, b=None)
        owners = self.chance.choice((self.owners, self.owners[:1]))
        wanted = {"description": f"of {number}", "alias": f"alias{number}.{self.host}", "owners": owners}
        return self.change("domain-patch", ("PATCH", f"domains/{self.host}", {
            "description": wanted["description"], "alias_domain": wanted["alias"], "owner": owners}), domain=wanted)

    def some_list(self):
        """A list that is there, and a copy of its state to work on; (None, None): there was none."""
        part = self.chance.choice("ab")
        if self.parts[part]:
            return part, copy.deepcopy(self.parts[part])
        if self.parts["domain"]:
            form = {"fqdn_listname": f"{part}@{self.host}", "style_name": "load"}
            self.change("list-create", ("POST", "lists", form), **{part: new_list()})
        else:
            self.make_domain()
        return None, None

    def list_delete(self):
        part, state = self.some_list()
        if state:
            self.change("list-delete", ("DELETE", f"lists/{part}.{self.host}", None), **{part: None})

    def settings(self):
        part, state = self.some_list()
        if state:
            wanted = tagged(self.next())
            state["config"].update(wanted)
            self.change("settings", ("PATCH", f"lists/{part}.{self.host}/config", wanted), **{part: state})

    def archivers(self):
        part, state = self.some_list()
        if state:
            state["archivers"] = {name: self.chance.random() < 0.5 for name in ARCHIVERS}
            self.change("archivers", ("PATCH", f"lists/{part}.{self.host}/archivers", state["archivers"]),
                        **{part: state})

    def uris(self):
        part, state = self.some_list()
        if not state:
            return
        verb, form = "DELETE", None
        if self.chance.random() < 0.7:
            number = self.next()
            verb, form = "PATCH", {name: f"mailman:///as{number}/{name}.txt" for name in TEMPLATES}
        state["uris"] = form or {}
        self.change(f"uris-{verb.lower()}", (verb, f"lists/{part}.{self.host}/uris", form), **{part: state})

    def ban(self):
        part, state = self.some_list()
        if not state:
            return
        path = f"lists/{part}.{self.host}/bans"
        if state["bans"] and self.chance.random() < 0.5:
            gone = state["bans"].pop()
            self.change("ban-lift", ("DELETE", f"{path}/{gone}", None), **{part: state})
        else:
            email = f"evil{self.next():05}@example.net"
            state["bans"].append(email)
            self.change("ban", ("POST", path, {"email": email}), **{part: state})

    def match(self):
        part, state = self.some_list()
        if not state:
            return
        path, matches = f"lists/{part}.{self.host}/header-matches", state["matches"]
        if len(matches) > 4 and self.chance.random() < 0.5:
            matches.clear()
            self.change("matches-clear", ("DELETE", path, None), **{part: state})
        elif len(matches) > 1 and self.chance.random() < 0.7:  # the others make room
            at, to = self.chance.sample(range(len(matches)), 2)
            matches.insert(to, matches.pop(at))
            self.change("match-move", ("PATCH", f"{path}/{at}", {"position": to}), **{part: state})
        else:
            pattern = f"as {self.next()}"
            matches.append(pattern)
            self.change("match-add", ("POST", path, {"header": "X-Spam", "pattern": pattern, "action": "hold",
                                                     "tag": "load"}), **{part: state})

    # ---- members ----

    def subscribe(self):
        part, state = self.some_list()
        role = self.chance.choice(("member", "member", "member", "owner", "moderator"))
        address = self.chance.choice(self.addresses)
        if not state or f"{role} {address}" in state["members"]:
            return
        mode, people = self.chance.choice(MODES), copy.deepcopy(self.parts["people"])
        state["members"][f"{role} {address}"] = [mode, None if role == "member" else "accept"]
        name = f"Name {self.next()}"
        people.setdefault(address, {"with": [address], "name": name, "server_owner": False, "verified": False})
        people[address]["verified"] |= role == "member"
        self.change(f"subscribe-{role}", ("POST", "members", {
            "list_id": f"{part}.{self.host}", "subscriber": address, "display_name": name, "role": role,
            "delivery_mode": mode, "pre_verified": True, "pre_confirmed": True, "pre_approved": True}),
            **{part: state}, people=people)

    def some_member(self):
        part, state = self.some_list()
        there = sorted(key.split()[1] for key in (state or new_list())["members"] if key.startswith("member "))
        return (part, state, self.chance.choice(there)) if there else (None, None, None)

    def member(self):
        """Two preferences at once, and the address where the user has another one that is verified."""
        part, state, address = self.some_member()
        if not state:
            return
        people = self.parts["people"]
        others = [other for other in people[address]["with"]
                  if people[other]["verified"] and f"member {other}" not in state["members"]]
        form = {"delivery_mode": self.chance.choice(MODES), "moderation_action": self.chance.choice(("hold", "reject"))}
        del state["members"][f"member {address}"]
        kind, now = "member-patch", address
        if others:
            kind, now = "member-address", self.chance.choice(others)
            form["address"] = now
        state["members"][f"member {now}"] = [form["delivery_mode"], form["moderation_action"]]
        self.change(kind, ("PATCH", f"lists/{part}.{self.host}/member/{address}", form), **{part: state})

    def unsubscribe(self):
        part, state, address = self.some_member()
        if not state:
            return
        base = f"lists/{part}.{self.host}"
        if self.chance.random() < 0.5:
            del state["members"][f"member {address}"]
            self.change("unsubscribe", ("DELETE", f"{base}/member/{address}", None), **{part: state})
        else:
            emails = [key.split()[1] for key in state["members"] if key.startswith("member ")]
            state["members"] = {key: value for key, value in state["members"].items() if not key.startswith("member ")}
            self.change("unsubscribe-all", ("DELETE", f"{base}/roster/member", {"emails": emails}), **{part: state})

    # ---- people ----

    def person(self):
        people = copy.deepcopy(self.parts["people"])
        address = self.chance.choice(self.addresses)
        if address not in people:
            name = f"Name {self.next()}"
            people[address] = {"with": [address], "name": name, "server_owner": False, "verified": False}
            self.change("user-create", ("POST", "users", {"email": address, "display_name": name}), people=people)
        elif not people[address]["verified"]:
            people[address]["verified"] = True
            self.change("verify", ("POST", f"addresses/{address}/verify", None), people=people)
        else:
            wanted = {"display_name": f"Name {self.next()}", "is_server_owner": self.chance.random() < 0.5}
            for other in people[address]["with"]:
                people[other].update(name=wanted["display_name"], server_owner=wanted["is_server_owner"])
            self.change("user-patch", ("PATCH", f"users/{address}", wanted), people=people)

    def link(self):
        """Give a user an address that is new, or another user with all that it has."""
        people = copy.deepcopy(self.parts["people"])
        first, second = self.chance.sample(self.addresses, 2)
        if first not in people or second in people[first]["with"]:
            return
        known = people.setdefault(second, {"with": [second], "server_owner": False, "verified": False})
        owner = people[first]["server_owner"] or known["server_owner"]
        together = sorted({*people[first]["with"], *known["with"]})
        for other in together:
            people[other].update({"with": together, "name": people[first]["name"], "server_owner": owner})
        self.change("merge" if second in self.parts["people"] else "link", (
            "POST", f"users/{first}/addresses", {"email": second, "absorb_existing": True}), people=people)

    def user_delete(self):
        """The memberships go, too."""
        there = [address for address in self.addresses if address in self.parts["people"]]
        if not there or self.chance.random() < 0.5:
            return
        address = self.chance.choice(there)
        gone, new = self.parts["people"][address]["with"], copy.deepcopy(self.parts)
        for part in ("a", "b"):
            if new[part]:
                new[part]["members"] = {key: value for key, value in new[part]["members"].items()
                                        if key.split()[1] not in gone}
        self.change("user-delete", ("DELETE", f"users/{address}", None), a=new["a"], b=new["b"],
                    people={other: what for other, what in new["people"].items() if other not in gone})

    # ---- the list that stays: letters and posts ----

    def guest(self):
        """A new person joins, and is welcomed by one letter."""
        address = f"g{self.next()}@guests.{self.host}"
        home = copy.deepcopy(self.parts["home"])
        home["members"][f"member {address}"] = ["regular", None]
        known = {address: {"with": [address], "name": "Guest", "server_owner": False, "verified": True}}
        part = f"guest {address}"
        self.parts[part] = {}
        if self.change("guest", ("POST", "members", {
                "list_id": self.home, "subscriber": address, "display_name": "Guest", "pre_verified": True,
                "pre_confirmed": True, "pre_approved": True, "send_welcome_message": True,
                "delivery_status": "by_user"}),
                **{"home": home, part: known}):
            self.guests.add(address)
        del self.parts[part]

    def text(self, name, sender):
        return (f"From: {sender}\nTo: {self.home.replace('.', '@', 1)}\nSubject: {name}\nMessage-ID: <{name}>\n\n"
                f"A post of {self.name}.\n")

    def post(self):
        """Hand in a post. No part shows it: whether it was taken is seen when all mail has arrived."""
        name = f"post{self.next()}.{self.name}@example.net"
        try:
            answer = self.line.attempt("POST", "queues/in", {
                "list_id": self.home, "text": self.text(name, self.reader)})
        except Cut:
            answer = None
        if answer and answer.status not in (201, 503):
            self.figures.faults.append(f"{self.name}: post: {answer}")
        self.posts[name] = answer and answer.status == 201
        self.tally("post", answer)

    def decide(self):
        held = dict(self.parts["held"])
        if not held:
            return
        number = self.chance.choice(sorted(held))
        name, action = held.pop(number), self.chance.choice(("accept", "reject", "discard"))
        if self.change(f"held-{action}", ("POST", f"lists/{self.home}/held/{number}", {"action": action}), held=held):
            self.decided[name] = action

    # ---- settings that many change at a time ----

    def shared_patch(self):
        number, begun = self.number * 100000 + self.next(), time.monotonic()
        try:
            answer = self.line.attempt("PATCH", f"lists/{self.shared.list_id}/config", tagged(number))
        except Cut:
            answer = None
        if answer and answer.status not in (204, 503):
            self.figures.faults.append(f"{self.name}: shared-patch: {answer}")
        elif not answer or answer.status == 204:
            self.shared.patches.append((number, begun, time.monotonic(), answer is not None))
        self.tally("shared-patch", answer)

    def shared_look(self):
        config = self.line.read(f"lists/{self.shared.list_id}/config")
        tags = tags_of(config)
        if len(tags) != 1:
            self.figures.faults.append(f"{self.name}: {self.shared.list_id} has settings of {tags}")
        return tags

    # ---- all of it ----

    WHAT = {domain: 2, list_delete: 2, settings: 6, archivers: 1, uris: 2, ban: 1, match: 3, subscribe: 10, member: 4,
            unsubscribe: 3, person: 3, link: 2, user_delete: 2, guest: 6, post: 1, decide: 1, shared_patch: 5,
            shared_look: 1}

    def prepare(self, held):
        """The list that stays, with a member who reads it and so many held posts."""
        def must(verb, path, form):
            answer = self.line.attempt(verb, path, form)
            assert answer.status == 201, answer
        must("POST", "lists", {"fqdn_listname": f"{self.name}@{HOME}", "style_name": "load"})
        must("POST", "members", {"list_id": self.home, "subscriber": self.reader, "pre_verified": True,
                                 "pre_confirmed": True, "pre_approved": True})
        for number in range(held):
            name = f"held{number}.{self.name}@example.net"
            must("POST", "queues/in", {"list_id": self.home, "text": self.text(name, self.stranger(name))})

    def begin(self, held):
        """Take what is there now, where the posts are held and their senders known, for the model."""
        self.parts.update(home=self.read("home"), held=self.read("held"))
        assert len(self.parts["held"]) == held and len(self.parts["home"]["members"]) == held + 1, self.parts

    def stranger(self, post):
        """Return who sent a post that is held."""
        return f"{post.partition('.')[0]}@strangers.{self.host}"

    def calm(self):
        """Some changes on a new connection, now that nobody is killed."""
        self.line.connection.close()
        for what in (Client.guest, Client.domain, Client.shared_patch):
            what(self)

    def work(self, stop):
        while not stop.is_set() and len(self.figures.faults) < 20:
            self.chance.choices(list(self.WHAT), self.WHAT.values())[0](self)

    def verify(self):
        """Is all there that was answered, and nothing else?"""
        self.compare({part: copy.deepcopy(state) for part, state in self.parts.items()}, "at the end")

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""DMARC as RFC 9989 describes it, written for the tests from its text alone, on a DNS that is a dictionary. It follows
the steps of the RFC one after the other, and leaves no question out where the answer is known already."""
import re

POLICIES = ("none", "quarantine", "reject")


class World:
    """All names of a DNS: {owner: [(type, value)]}, without the dots at their ends. A name above an owner exists, too,
    and so does a wildcard's name below which nothing nearer exists (RFC 4592)."""

    def __init__(self, records):
        self.records = records
        self.names = {".".join(owner.split(".")[at:]) for owner in records for at in range(owner.count(".") + 1)}

    def node(self, name):
        """The records at a name; None when it does not exist."""
        if name in self.names:
            return self.records.get(name, [])
        above = name
        while "." in above:
            above = above.split(".", 1)[1]
            if above in self.names:
                return self.records.get(f"*.{above}")
        return None

    def texts(self, name):
        for _ in range(8):
            node = self.node(name) or []
            aliases = [value for kind, value in node if kind == "CNAME"]
            if not aliases:
                return [value for kind, value in node if kind == "TXT"]
            name = aliases[0]
        raise AssertionError("aliases without end")

    def exists(self, name):
        return self.node(name) is not None


def tags_of(text):
    """{tag: value} of a record; None: it is none of DMARC. A tag that stands there twice makes {}."""
    if not re.match(r"\s*[vV]\s*=\s*DMARC1\s*(;|$)", text):
        return None
    tags = {}
    for part in text.split(";"):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if sign and name.lower() in tags:
            return {}
        if sign:
            tags[name.lower()] = value
    return tags


def retrieve(world, domain):
    """4.10, steps 2 and 6: the single record at a domain, or None."""
    found = [tags for tags in map(tags_of, world.texts(f"_dmarc.{domain}")) if tags is not None]
    return found[0] if len(found) == 1 else None


def targets(domain):
    """4.10, steps 3, 4 and 7: which names are asked for, in their order."""
    labels = domain.split(".")
    names = [domain]
    labels = labels[1:] if len(labels) < 8 else labels[-7:]
    while labels:
        names.append(".".join(labels))
        labels = labels[1:]
    return names


def walk(world, names):
    """4.10: [(domain, tags)] of all records up to the one that says psd=n or psd=y."""
    found = []
    for name in names:
        tags = retrieve(world, name)
        if tags is not None:
            found.append((name, tags))
            if tags.get("psd", "u").lower() in ("y", "n"):
                break
    return found


def choose(found, start):
    """4.10.2: the organizational domain from what a walk found."""
    for domain, tags in found:
        if tags.get("psd", "u").lower() == "n":
            return domain
        if tags.get("psd", "u").lower() == "y" and domain != start:
            below = start[:-len(domain) - 1].split(".")[-1]
            return f"{below}.{domain}"
    return min((domain for domain, _ in found), key=lambda domain: domain.count("."), default=start)


def organization(world, domain):
    return choose(walk(world, targets(domain)), domain)


def discover(world, author):
    """4.10.1: the record that applies and its domain, or None."""
    own = retrieve(world, author)
    if own is not None:
        return author, own
    above = targets(author)[1:]
    found = walk(world, above)
    places = dict(found)
    if not found:
        return None
    start = above[0]
    owner = choose(found, start)
    suffix = found[-1][0]
    domain = owner if owner in places else suffix
    return domain, places[domain]


def policies(tags):
    """(p, sp, np) of a record; None: no DMARC processing."""
    values = [tags.get(name, "").lower() if name in tags else None for name in ("p", "sp", "np")]
    good = values[0] in POLICIES and all(value is None or value in POLICIES for value in values[1:])
    if not good:
        uris = [uri.split("!")[0].strip() for uri in tags.get("rua", "").split(",")]
        wanted = any(re.fullmatch(r"[a-z][a-z0-9+.-]*:[^\s]+", uri, re.I) for uri in uris)
        return ("none", "none", "none") if wanted else None
    p, sp, np = values
    return p, sp or p, np or sp or p


def evaluate(world, author, envelope):
    """Return what becomes of mail from author whose envelope sender is of a domain for which SPF passes: ("none", None,
    None), or "pass" or "fail", the policy that is published, and the one that receivers apply."""
    applies = discover(world, author)
    chosen = policies(applies[1]) if applies else None
    if chosen is None:
        return "none", None, None
    domain, tags = applies
    policy = chosen[0] if domain == author else chosen[1] if world.exists(author) else chosen[2]
    strict = tags.get("aspf", "r").lower() == "s"
    aligned = author == envelope if strict else organization(world, author) == organization(world, envelope)
    testing = tags.get("t", "n").lower() == "y" and policy != "none"
    return "pass" if aligned else "fail", policy, POLICIES[POLICIES.index(policy) - 1] if testing else policy

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The site's own relay refuses us, and not a recipient: that costs no member, the operator is told, and the mail waits
and goes out when the relay is mended."""
import email
import email.policy
import re
import time

import pytest

from support.instance import HOST, let_through, wait_until
from support.limits import LimitedServer, Limits
from support.post import post

OTHER = "lists.other.example"
SOON = {"minimal_backoff_time": "1s", "maximal_backoff_time": "2s", "backoff_jitter": "0"}
ANNE, OLGA, PAUL = "anne@members.example", "olga@owners.example", "paul@owners.example"
MEMBERS = [f"m{number}@d{number % 4}.example" for number in range(12)]
DEAD = "dead@d0.example"

EVERYBODY = {
    "relay": ("rcpt", "554 5.7.1 <{to}>: Relay access denied"),
    "sender": ("mail", "550 5.1.8 Domain of sender address lists.example.com does not exist"),
    "owned": ("mail", "553 5.7.1 Sender address rejected: not owned by user lists"),
    "authentication": ("mail", "530 5.7.0 Authentication required"),
    "starttls": ("mail", "530 5.7.0 Must issue a STARTTLS command first"),
    "size": ("mail", "552 5.3.4 Message size exceeds fixed limit"),
    "size at the end": ("end", "552 5.3.4 Error: message file too big"),
    "prohibited": ("end", "550 Administrative prohibition"),
    "lines": ("end", "550 maximum allowed line length is 998 octets, got 1206"),
    "suspended": ("end", "550 5.7.1 This account is suspended for sending too much"),
    "connection": ("connect", "554 5.7.1 No SMTP service for you here"),
}
# Of this one domain: mail of the other's goes on.
BY_MAIL = [name for name, (stage, _) in EVERYBODY.items() if stage in ("mail", "end")]


class Relay(LimitedServer):
    """Refuses all of one kind while it is broken; domain: of this sender's domain alone; word: if the mail has it."""

    def __init__(self):
        super().__init__(Limits(refuse=self.answer))
        self.stage = self.reply = self.domain = self.word = None

    def break_down(self, kind, domain=None, word=None):
        (self.stage, self.reply), self.domain, self.word = EVERYBODY.get(kind, kind), domain, word

        if self.stage == "connect":
            self.hang_up()  # connections that are open would be used again

    def mend(self):
        self.stage = None

    def answer(self, stage, sender, recipient):
        if stage != self.stage or (self.domain and not sender.endswith(f"@{self.domain}")):
            return None
        if self.word and self.word.encode() not in recipient:
            return None
        return self.reply.replace("{to}", recipient if isinstance(recipient, str) else "")

    def refusals_of(self, domain):
        """How often the relay has refused something of a domain."""
        return sum(times for (_, of, refused), times in self.asked.items() if of == domain and refused)

    def posts(self):
        """{subject: {recipient: times}}"""
        found = {}
        for _, to, octets in list(self.mails):
            subject = str(email.message_from_bytes(octets, policy=email.policy.default)["Subject"])
            copies = found.setdefault(subject, {})
            copies[to] = copies.get(to, 0) + 1
        return found


@pytest.fixture
def relay(until_end):
    return until_end(Relay())


@pytest.fixture
def site(instances, relay, tmp_path):
    tmp_path.chmod(0o777)
    script = tmp_path / "told"
    script.write_text(f'#!/bin/sh\n{{ echo "$1 $2"; cat; }} >>{tmp_path}/letters\n')
    script.chmod(0o755)
    let_through(tmp_path)
    made = instances(relay.port, settings={"out": SOON, "runner.watch": {"start": "yes"},
                                           "watch": {"look": "1s", "after": "0s", "command": script}}).start()
    made.letters = tmp_path / "letters"
    made.cats = made.create_list("cats", [*MEMBERS, DEAD], owner=OLGA, settings=["subject_prefix="])
    made.dogs = f"dogs@{OTHER}"
    made.cli("list", "create", made.dogs, f"--owner={PAUL}")
    made.cli("list", "set", made.dogs, "subject_prefix=", "default_nonmember_action=accept")
    made.add_members(made.dogs, [*MEMBERS, DEAD])
    made.cli("list", "set", made.cats, "default_nonmember_action=accept")
    made.wait_idle()
    return made


def send(site, list_address, subject):
    site.lmtp_send(post(sender=ANNE, subject=subject, to=list_address), list_address, sender=ANNE)


def refusals(site):
    """The lines of status about the relay, and its exit code."""
    done = site.run("status")
    return [line for line in done.stdout.splitlines() if "transport relay" in line], done.returncode


def operator(site):
    """The first lines of what the operator was told of the relay."""
    lines = site.letters.read_text().splitlines() if site.letters.exists() else []
    return sorted(line for line in lines if line.startswith(("fault refused", "gone refused", "fault destination",
                                                             "gone destination")))


def charged(site, list_address):
    return {row["address"] for row in site.rows("bounce", "ls", list_address)}


@pytest.mark.parametrize("kind", EVERYBODY)
def test_a_relay_that_refuses_us(site, relay, kind):
    """Of either list nobody is charged but the dead member; all get both posts, each once, when the relay is mended."""
    relay.break_down(kind)
    send(site, site.cats, "One")
    send(site, site.dogs, "Two")
    stage, reply = EVERYBODY[kind]
    words = reply.partition("{to}")[2] or reply
    def told():
        texts, code = refusals(site)
        return code and any(words.strip("<>: ") in text for text in texts)
    wait_until(told, 20, lambda: f"status to tell of it, not {site.run('status').stdout}")
    if stage != "connect":
        wait_until(lambda: all(any(f"from {domain}" in text and "1 message waits" in text for text in refusals(site)[0])
                               for domain in (HOST, OTHER)), 20, lambda: site.run("status").stdout)
        assert 'destination_refused_messages{' in site.cli("metrics")
    assert charged(site, site.cats) == charged(site, site.dogs) == ({DEAD} if stage == "end" else set())
    relay.mend()
    everybody = dict.fromkeys(MEMBERS, 1)
    wait_until(lambda: relay.posts() == {"One": everybody, "Two": everybody}, 60, lambda: relay.posts())
    wait_until(lambda: not refusals(site)[0], 30, lambda: f"status to be well, not {site.run('status').stdout}")
    wait_until(lambda: len(operator(site)) == (2 if stage == "connect" else 4), 20, lambda: operator(site))
    site.wait_idle()
    assert charged(site, site.cats) == charged(site, site.dogs) == {DEAD}


FOR_A_TIME = {
    "relay": ("rcpt", "454 4.7.1 <{to}>: Relay access denied"),
    "sender": ("rcpt", "450 4.1.8 <x>: Sender address rejected: Domain not found"),
    "mail": ("mail", "450 4.1.8 Domain of sender address lists.example.com does not resolve"),
    "end": ("end", "451 4.7.1 Service unavailable - try again later"),
}


@pytest.mark.parametrize("kind", FOR_A_TIME)
def test_a_relay_that_puts_us_off(clock, site, relay, kind):
    """It is no news at first; the operator is told, once, when it has gone on for an hour; a restart forgets nothing;
    a member whose own mailbox is put off is another matter."""
    full = "452 4.2.2 <m5@d1.example> mailbox is full"
    relay.break_down(FOR_A_TIME[kind], domain=HOST)
    answer = relay.limits.refuse
    relay.limits.refuse = lambda stage, sender, to: (
        full if stage == "rcpt" and to == "m5@d1.example" else answer(stage, sender, to))
    send(site, site.cats, "One")
    send(site, site.cats, "Two")
    send(site, site.dogs, "Three")
    wait_until(lambda: relay.refusals_of(HOST) >= 4 and relay.posts().get("Three") and
               len(site.files("retry").get("retry", [])) >= 3, 30, relay.posts)
    assert refusals(site) == ([], 0), site.run("status").stdout
    for _ in range(3):  # both are tried now and then, as it is when hours pass by themselves
        before, attempts = relay.refusals_of(HOST), 48 if FOR_A_TIME[kind][0] == "rcpt" else 4
        clock.seconds(clock.offset + 1300)
        wait_until(lambda: relay.refusals_of(HOST) >= before + attempts, 60, "further attempts")
    def told():
        lines, code = refusals(site)
        return code and len(lines) == 1 and f"from {HOST}" in lines[0] and "2 messages wait" in lines[0]
    wait_until(told, 30, lambda: site.run("status").stdout)
    assert FOR_A_TIME[kind][1].replace("{to}", "")[:9] in refusals(site)[0][0]
    assert 'destination_refused_messages{' in site.cli("metrics")
    wait_until(lambda: len(operator(site)) == 1, 20, lambda: operator(site))
    site.stop()
    site.start()
    wait_until(told, 20, lambda: site.run("status").stdout)
    relay.mend()
    relay.limits.refuse = None
    everybody = dict.fromkeys(MEMBERS, 1)
    wait_until(lambda: relay.posts() == {name: everybody for name in ("One", "Two", "Three")}, 60, relay.posts)
    wait_until(lambda: not refusals(site)[0], 30, lambda: site.run("status").stdout)
    wait_until(lambda: len(set(operator(site))) == 2, 20, lambda: operator(site))
    assert charged(site, site.cats) <= {DEAD}


def test_parts_of_a_post_are_one_message(instances, relay):
    """Four instances of out have a part each of one post, which is one message that waits."""
    site = instances(relay.port, settings={"out": {**SOON, "recipients_per_entry": "3"},
                                           "runner.out": {"instances": 4}}).start()
    cats = site.create_list("cats", [f"m{number}@d.example" for number in range(40)])
    relay.break_down("sender")
    send(site, cats, "One")
    send(site, cats, "Two")
    wait_until(lambda: any("2 messages wait" in line for line in refusals(site)[0]), 30,
               lambda: site.run("status").stdout)
    wait_until(lambda: site.queue_stat()["out"]["ready"] == 0, 30, "all to be tried")
    assert any("2 messages wait" in line for line in refusals(site)[0]), site.run("status").stdout


@pytest.mark.parametrize("kind", BY_MAIL)
def test_the_other_domain_goes_on(site, relay, kind):
    """The relay refuses one domain: three posts of the other are there at once, and a restart forgets nothing."""
    relay.break_down(kind, domain=HOST)
    for number in range(3):
        send(site, site.cats, f"Cats {number}")
        send(site, site.dogs, f"Dogs {number}")
    everybody = dict.fromkeys(MEMBERS, 1)
    wait_until(lambda: relay.posts() == {f"Dogs {number}": everybody for number in range(3)}, 20, relay.posts)
    def told():
        return [line for line in refusals(site)[0] if f"from {HOST}" in line and "3 messages wait" in line]
    wait_until(told, 20, lambda: site.run("status").stdout)
    site.stop()
    site.start()
    assert told(), site.run("status").stdout
    site.cli("dest", "resume", "relay")
    relay.mend()
    wait_until(lambda: relay.posts() == {f"{name} {number}": everybody for number in range(3)
                                         for name in ("Cats", "Dogs")}, 60, relay.posts)
    wait_until(lambda: not refusals(site)[0], 30, lambda: site.run("status").stdout)


@pytest.mark.main
def test_one_message_stops_no_other(site, relay):
    """A virus of a list: the next posts of the same list go out, and what the relay refuses it is asked rarely."""
    relay.break_down(("end", "550 5.7.1 virus found"), word="Virus")
    send(site, site.cats, "Virus")
    for number in range(5):
        send(site, site.cats, f"Post {number}")
    everybody = dict.fromkeys(MEMBERS, 1)
    wait_until(lambda: relay.posts() == {f"Post {number}": everybody for number in range(5)}, 20, relay.posts)
    wait_until(lambda: any("1 message waits" in line for line in refusals(site)[0]), 20,
               lambda: site.run("status").stdout)
    assert charged(site, site.cats) == {DEAD}
    relay.mend()
    wait_until(lambda: relay.posts().get("Virus") == everybody, 30, relay.posts)
    wait_until(lambda: not refusals(site)[0], 30, lambda: site.run("status").stdout)


@pytest.mark.main
def test_one_copy_stops_no_other(instances, relay):
    """Of copies that differ the relay refuses one: all other members get theirs before the next attempt."""
    site = instances(relay.port, settings={"out": {"minimal_backoff_time": "1h", "maximal_backoff_time": "1h"},
                                           "transport.relay": {"concurrency": 1,
                                                               "initial_destination_concurrency": 1}}).start()
    members = [f"m{number:02}@d.example" for number in range(60)]
    cats = site.create_list("cats", members,
                            settings=["subject_prefix=", "personalize=individual", "msg_footer=To $user_address"])
    relay.break_down("prohibited", word=f"To {members[0]}")
    send(site, cats, "Copies")
    wait_until(lambda: relay.posts() == {"Copies": dict.fromkeys(members[1:], 1)}, 30, relay.posts)
    assert relay.refusals_of(HOST) == 1
    assert not charged(site, cats)


@pytest.mark.parametrize("kind", ["relay", "unclear", "sender", "prohibited"])
def test_copies_do_not_hammer_the_relay(instances, relay, kind):
    """A list of 400 members who get a copy each: the relay is asked for some of them, and for one at a time later."""
    site = instances(relay.port, settings={"out": SOON}).start()
    members = [f"m{number}@d{number % 40}.example" for number in range(400)]
    cats = site.create_list("cats", members,
                            settings=["subject_prefix=", "personalize=individual", "msg_footer=To $user_address"])
    relay.break_down(("rcpt", "550 <{to}> Come back never") if kind == "unclear" else kind)
    send(site, cats, "Copies")
    wait_until(lambda: any("1 message waits" in line for line in refusals(site)[0]), 30,
               lambda: site.run("status").stdout)
    wait_until(lambda: site.queue_stat()["out"]["ready"] == 0, 30, "all to be put off")
    assert relay.refusals_of(HOST) <= 60, relay.asked
    wait_until(lambda: relay.refusals_of(HOST) >= 12 or kind != "unclear", 10, relay.asked)
    relay.mend()
    lost = lambda: set(re.findall(r"to=<([^>]*)>.* status=bounced", site.log_text()))
    wait_until(lambda: len(relay.posts().get("Copies", {})) == 400 - len(lost()), 60, lambda: len(relay.mails))
    assert charged(site, cats) <= lost() and len(lost()) < (20 if kind == "unclear" else 1)
    assert set(relay.posts()["Copies"].values()) == {1}
    wait_until(lambda: not refusals(site)[0], 30, lambda: site.run("status").stdout)


def letters_to(relay, address):
    return [text.decode() for sender, to, text in list(relay.mails) if to == address and not sender]


@pytest.mark.parametrize("instances_of_out", [1, 4])
def test_a_post_that_reached_nobody(instances, relay, instances_of_out):
    """Its author is told once, whatever it took; of an anonymous list, and of a robot's post, the owners are."""
    site = instances(relay.port, settings={"out": {**SOON, "maximal_queue_lifetime": "4s"},
                                           "transport.relay": {"recipients_per_transaction": 2},
                                           "runner.out": {"instances": instances_of_out}}).start()
    lists = {name: site.create_list(name, [*MEMBERS, DEAD], owner=OLGA, settings=settings) for name, settings in (
        ("cats", ()), ("dogs", ["anonymous_list=yes"]), ("cows", ()), ("pigs", ["subject_prefix="]))}
    relay.break_down("sender")
    relay.answer_before, answer = relay.answer, relay.answer
    relay.limits.refuse = lambda stage, sender, to: answer(stage, sender, to) if sender else None
    for name in ("cats", "dogs"):
        send(site, lists[name], f"Of {name}")
    site.lmtp_send(post(sender=ANNE, subject="Of cows", to=lists["cows"], extra=["Auto-Submitted: auto-generated"]),
                   lists["cows"], sender=ANNE)
    wait_until(lambda: letters_to(relay, ANNE) and len(letters_to(relay, OLGA)) == 2, 60,
               lambda: [(to, text[:300]) for sender, to, text in relay.mails])
    site.wait_idle()
    relay.mend()
    # One member is reached: nobody is told.
    relay.limits.refuse = lambda stage, sender, to: (
        "550 5.1.1 User unknown" if stage == "rcpt" and sender and not to.startswith("m5@") else None)
    send(site, lists["pigs"], "Of pigs")
    wait_until(lambda: relay.posts().get("Of pigs"), 20, relay.posts)
    site.wait_idle()
    # All are refused for themselves.
    relay.limits.refuse = lambda stage, sender, to: (
        f"550 5.1.1 <{to}>: User unknown" if stage == "rcpt" and sender else None)
    send(site, lists["pigs"], "Of dead pigs")
    wait_until(lambda: len(letters_to(relay, ANNE)) == 2, 30, lambda: letters_to(relay, ANNE))
    site.wait_idle()
    first, second = letters_to(relay, ANNE)
    assert "Of cats" in first and "does not exist" in first and "Auto-Submitted: auto-replied" in first
    assert "Of dead pigs" in second and "User unknown" in second
    assert not [address for address in [*MEMBERS, DEAD] if address in second]
    assert sorted("dogs" in text for text in letters_to(relay, OLGA)
                  if "could not be delivered" in text) == [False, True]
    assert len(letters_to(relay, ANNE)) == 2
    assert not charged(site, lists["cats"]) and not charged(site, lists["cows"])


def test_who_waits_for_a_suspended_destination(instances, relay):
    """It takes longer than mail is tried for: nobody is charged, and all get it when the destination is resumed."""
    site = instances(relay.port, settings={"out": {**SOON, "maximal_queue_lifetime": "3s"}}).start()
    cats = site.create_list("cats", MEMBERS, owner=OLGA, settings=["subject_prefix="])
    site.cli("dest", "suspend", "relay")
    send(site, cats, "Late")
    send(site, cats, "Expired")
    time.sleep(6)  # twice as long as mail is tried, and it has come back meanwhile
    assert not charged(site, cats)
    site.cli("dest", "resume", "relay")
    everybody = dict.fromkeys(MEMBERS, 1)
    wait_until(lambda: relay.posts() == {"Late": everybody, "Expired": everybody}, 30, relay.posts)
    site.wait_idle()
    assert not charged(site, cats)


@pytest.mark.proof
def test_a_walk_of_26_days(clock, instances, relay):
    """Seven lists, a post a day in each, eleven kinds of refusal for two days each: nobody is charged but the dead
    member, and all members get what is younger than five days when the relay is mended, and all that comes then."""
    clock.begin_day()
    site = instances(relay.port, settings={"out": SOON}).start()
    lists = []
    for number in range(7):
        address = f"l{number}@{HOST if number % 2 == 0 else OTHER}"
        site.cli("list", "create", address, f"--owner={OLGA}")
        site.cli("list", "set", address, "subject_prefix=", "default_nonmember_action=accept",
                 "send_welcome_message=false")
        site.add_members(address, [*MEMBERS, DEAD])
        lists.append(address)
    site.wait_idle()
    kinds, everybody = list(EVERYBODY), dict.fromkeys(MEMBERS, 1)
    for day in range(22):
        kind = kinds[day // 2]
        clock.days(day)
        relay.break_down(kind)
        for address in lists:
            send(site, address, f"{address} of day {day}")
        wait_until(lambda: site.queue_stat()["out"]["ready"] == 0 and site.queue_stat()["in"]["ready"] == 0, 60,
                   f"the posts of day {day} to be tried")
        site.cli("dest", "resume", "relay")  # else it takes up to a minute until the new answer is known
        wait_until(lambda: refusals(site)[1] and EVERYBODY[kind][1].split()[-1] in site.run("status").stdout, 120,
                   lambda: f"status to tell of {kind} on day {day}, not {site.run('status').stdout}")
        for address in lists:
            assert charged(site, address) <= {DEAD}, f"day {day}, {kind}"
    relay.mend()
    late = [f"{address} of day {day}" for address in lists for day in range(18, 22)]
    wait_until(lambda: all(relay.posts().get(subject) == everybody for subject in late), 120,
               lambda: sorted(set(late) - set(relay.posts())))
    wait_until(lambda: not refusals(site)[0], 60, lambda: site.run("status").stdout)
    for day in range(22, 26):
        clock.days(day)
        for address in lists:
            send(site, address, f"{address} of day {day}")
        wait_until(lambda: all(relay.posts().get(f"{address} of day {day}") == everybody for address in lists), 60,
                   lambda: f"the posts of day {day}")
    site.wait_idle()
    for address in lists:
        assert charged(site, address) <= {DEAD}
        disabled = [row for row in site.rows("member", "ls", address)
                    if row.get("delivery_status", "enabled") != "enabled"]
        assert [row["address"] for row in disabled] in ([], [DEAD]), disabled
    # One letter to the author for each post that was given up, as far as the limit of a day lets them through.
    given_up = [text for text in letters_to(relay, ANNE) if "could not be delivered" in text]
    assert len(given_up) == len(set(text.partition("Subject:")[2] for text in given_up))

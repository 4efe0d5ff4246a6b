# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Signing in on the pages by a mailed link, and what somebody sees and changes then."""
import json
import re
import time

import pytest

from support import desk
from support.clock import DAY, HOUR, let_turn
from support.desk import ask_to_sign_in, mark, sign_in_links
from support.instance import HOST, let_through, wait_until
from support.pages import letter_link, link_in, make_site
from support.rest import Rest, serving

ANNE, BART, OLGA = (f"{name}@example.org" for name in ("anne", "bart", "olga"))


@pytest.fixture
def world(instances, sink):
    """Two lists; Anne is on both, Bart on one and owns the other. The archive of cats is for members."""
    instance = make_site(instances, sink)
    instance.create_list("cats", [ANNE], owner=OLGA, settings=["subject_prefix=", "archive_policy=private"])
    instance.create_list("dogs", [ANNE, BART], owner=BART, settings=["subject_prefix="])
    return instance


class Person(desk.Person):
    """Sends each form with the mark that the page shows."""

    def send(self, path, fields, begin="/my"):
        return super().send(path, {"mark": mark(self.get(begin).text), **fields})


def test_letters_of_the_site(world, sink):
    """They speak for no list and are not bulk, which some systems keep from people; a list's letters say where from."""
    def letter_to(address):
        world.wait_idle()
        (letter,) = sink.take_mail()[address]
        return letter
    ask_to_sign_in(world, ANNE)
    letter = letter_to(ANNE)
    assert letter["Auto-Submitted"] == "auto-generated"
    assert not letter["Precedence"] and not any(name.startswith("List-") for name in letter.keys())
    anne = Person(world, sink, ANNE)
    anne.send("/my/person/address", {"old_address": ANNE, "new_address": "anne@new.example"}, begin="/my/person")
    letter = letter_to("anne@new.example")
    assert letter["Auto-Submitted"] == "auto-generated" and not letter["Precedence"] and not letter["List-Id"]
    world.cli("list", "set", f"dogs@{HOST}", "default_nonmember_action=hold")
    stranger = "stranger@example.net"
    desk.write_to(world, "dogs", stranger)
    letter = letter_to(stranger)
    assert f"<dogs.{HOST}>" in letter["List-Id"] and letter["Precedence"] == "bulk"


@pytest.mark.main
def test_by_a_mailed_link(world, sink):
    """A link is looked at by programs first, works once, and takes older ones with it."""
    answer = world.pages.get("/my")
    assert answer.status == 303 and answer.headers["Location"] == "/sign-in" and "Set-Cookie" not in answer.headers
    came = []
    for _ in range(2):
        assert ask_to_sign_in(world, ANNE).status == 200
        came += sign_in_links(world, sink, ANNE)
    older, link = came
    for _ in range(3):
        looked = world.pages.get(link).says("Sign in?", ANNE)
        assert "Set-Cookie" not in looked.headers
    answer = world.pages.send(link, {}, Cookie="__Host-listrunner=chosen-by-somebody-else")
    cookie = answer.headers["Set-Cookie"]
    assert answer.status == 303 and "Secure" in cookie and cookie.startswith("__Host-listrunner=")
    assert "chosen" not in cookie
    shown = [json.loads(world.cli("address", "show", "--json", address))["verified_on"] for address in (ANNE, BART)]
    assert shown[0] and not shown[1]  # who has the letter has the address
    for used in (link, older):
        for again in (world.pages.get(used), world.pages.send(used, {})):
            assert again.status == 404 and "Set-Cookie" not in again.headers
    mine = world.pages.get("/my", Cookie=cookie.split(";")[0]).says("Cats", "Dogs", ANNE)
    assert "no-store" in mine.headers["Cache-Control"]
    for stranger in ("__Host-listrunner=chosen-by-somebody-else", "__Host-listrunner=", "x=y", "listrunner=" +
                     cookie.split("=")[1].split(";")[0]):
        assert world.pages.get("/my", Cookie=stranger).status == 303


def test_nobody_learns_who_is_known(world, sink):
    """The same answer and the same entry for all; letters go to those alone who are on a list, and only a few."""
    world.cli("member", "add", f"dogs@{HOST}", "nonmember@example.org", "--role", "nonmember")
    let_turn(HOUR)
    same = {ask_to_sign_in(world, address).text.replace(address, "X")
            for address in (ANNE, BART, "nobody@example.org", "nonmember@example.org")}
    assert len(same) == 1
    world.wait_idle()
    assert {to: len(found) for to, found in sink.take_mail().items()} == {ANNE: 1, BART: 1}
    for _ in range(6):
        ask_to_sign_in(world, ANNE)
    assert len(sign_in_links(world, sink, ANNE)) == 2  # three an hour
    assert len(sign_in_links(world, sink, BART)) == 0
    ask_to_sign_in(world, BART)
    assert len(sign_in_links(world, sink, BART)) == 1
    for bad in ("nonsense", '"><script>', ""):
        assert ask_to_sign_in(world, bad).status == 400
    assert world.pages.send("/sign-in", {"mark": "1.2", "address": ANNE}).status == 400


def test_links_and_sessions_expire(clock, instances, sink):
    instance = make_site(instances, sink)
    instance.create_list("cats", [ANNE, BART])
    anne = Person(instance, sink, ANNE)
    ask_to_sign_in(instance, BART)
    (link,) = sign_in_links(instance, sink, BART)
    clock.seconds(31 * 60)
    assert instance.pages.get(link).status == 404 and instance.pages.send(link, {}).status == 404
    assert anne.get("/my").status == 200
    for days in (29, 58):  # what is used lasts
        clock.days(days)
        assert anne.get("/my").status == 200
    clock.days(89)
    assert anne.get("/my").status == 303


@pytest.mark.main
def test_options(world, sink):
    """Each option as by mail; not those of others, and not by a form from elsewhere."""
    anne, bart = Person(world, sink, ANNE), Person(world, sink, BART)
    cats, dogs = anne.membership("Cats"), anne.membership("Dogs")
    assert anne.send(dogs, {"digest": "mime", "ack": "on", "delivery": "off"}).says("Your settings were changed")
    row = world.member("dogs", ANNE)
    assert (row["delivery_mode"], row["delivery_status"]) == ("mime_digests", "by_user")
    assert world.member("cats", ANNE)["delivery_status"] == "enabled"
    assert 'value="mime" selected' in anne.get(dogs).text
    anne.send(dogs, {"delivery": "on", "vacation_from": "2020-01-01", "vacation_until": "2020-01-02"}).says("fault")
    assert world.member("dogs", ANNE)["delivery_status"] == "by_user"
    world.cli("member", "set", f"dogs@{HOST}", ANNE, "--delivery-status", "by_moderator")
    anne.send(dogs, {"delivery": "on", "ack": "off"}).says("have stopped its mail")
    anne.send(dogs, {"delivery": "off", "digest": "plain"}).says("Your settings were changed")
    row = world.member("dogs", ANNE)
    assert (row["delivery_mode"], row["delivery_status"], row["acknowledge_posts"]) == (
        "plaintext_digests", "by_moderator", True)
    assert bart.membership("Cats") is None
    for path in (cats, dogs, "/my/member/00000000000000000000000000000000", "/my/member/x"):
        assert bart.get(path).status == 404
        assert bart.send(path, {"delivery": "off"}).status == 404
        assert bart.send(f"{path}/leave", {}).status == 404
    # A mark of another session, of none, and a page elsewhere.
    foreign = mark(bart.get("/my").text)
    for wrong in ("", "1.2", foreign):
        answer = world.pages.send(cats, {"mark": wrong, "delivery": "off"}, Cookie=anne.cookie)
        assert answer.status == 400
    own = mark(anne.get("/my").text)
    assert world.pages.send(cats, {"mark": own, "delivery": "off"}).status == 303  # without the cookie
    assert world.pages.send(cats, {"mark": own, "delivery": "off"}, Cookie=anne.cookie,
                            Sec_Fetch_Site="cross-site").status == 403
    assert world.member("cats", ANNE)["delivery_status"] == "enabled"


@pytest.mark.main
def test_leave(world, sink):
    anne = Person(world, sink, ANNE)
    anne.send(f"{anne.membership('Dogs')}/leave", {}).says("You have left Dogs", "undo")
    assert world.members("dogs") == [BART]
    assert world.members("cats") == [ANNE]
    assert anne.membership("Dogs") is None and anne.membership("Cats")
    world.wait_idle()
    assert "way=page" in world.log_text() and len(sink.take_mail()[ANNE]) == 1


def test_forms_that_were_open_when_the_secret_changed(world, sink):
    """They are taken, also of strangers; those of another session, or of two secrets ago, are not."""
    anne, bart = Person(world, sink, ANNE), Person(world, sink, BART)
    hers, his = (mark(who.get("/my").text) for who in (anne, bart))
    open_form = {"mark": world.pages.form_mark(f"dogs.{HOST}"), "address": "cora@example.org"}

    def send(form):
        return world.pages.send("/my/all", {"mark": form, "mail": "off"}, Cookie=anne.cookie)
    world.cli("bounce", "rotate")
    send(hers).says("Your settings were changed")
    assert send(his).status == 400 and mark(anne.get("/my").text) != hers
    world.pages.send(f"/list/dogs.{HOST}/join", open_form).says("Please read your mail")
    world.cli("bounce", "rotate")
    assert send(hers).status == 400
    assert world.pages.send(f"/list/dogs.{HOST}/join", open_form).status == 400
    anne.send("/my/all", {"mail": "on"}).says("Your settings were changed")


def test_private_archives(world, sink):
    """Members read them with all addresses; others do not, whether signed in or not."""
    desk.write_to(world, "cats", ANNE, "Secret frost", body=f"write to {OLGA}\n")
    desk.write_to(world, "dogs", BART, "Public frost")
    anne, bart, home = Person(world, sink, ANNE), Person(world, sink, BART), f"/archive/cats.{HOST}"
    first = anne.get(home).says("Secret frost")
    assert "public" not in first.headers["Cache-Control"]
    (link,) = re.findall(rf'href="({home}/\w{{32}})"', first.text)
    anne.get(link).says(OLGA)
    assert f"From: {ANNE}" in anne.get(f"{link}/raw").text
    assert "Secret frost" in anne.get("/search?q=frost").text and "Public frost" in anne.get("/search?q=frost").text
    for other in (bart.get, world.pages.get):
        for path in (home, link, f"{link}/raw", f"{link}/thread", f"{home}/search?q=frost", f"{home}/2026-11.mbox.gz"):
            answer = other(path)
            assert answer.status == 403 and "Secret" not in answer.text
        found = other("/search?q=frost").says("Public frost")
        assert "Secret" not in found.text
    world.pages.get(home).says("/sign-in")
    # An owner who is no member reads it, too; who has left does not.
    Person(world, sink, OLGA).get(home).says("Secret frost")
    world.cli("member", "remove", f"cats@{HOST}", ANNE)
    assert anne.get(link).status == 403


@pytest.mark.main
def test_sessions_end(world, sink):
    one, two, bart = Person(world, sink, ANNE), Person(world, sink, ANNE), Person(world, sink, BART)
    keys = re.findall(r'name="end" value="(\d+)"', one.get("/my").text)
    assert len(keys) == 1
    assert bart.send("/my/sessions", {"end": keys[0]}).status == 303 and two.get("/my").status == 200
    assert one.send("/my/sessions", {"end": keys[0]}).status == 303
    assert two.get("/my").status == 303 and one.get("/my").status == 200
    three = Person(world, sink, ANNE)
    one.send("/my/sessions", {"end": "others"})
    assert three.get("/my").status == 303 and one.get("/my").status == 200 and bart.get("/my").status == 200
    answer = one.send("/my/sign-out", {})
    assert answer.status == 303 and "Max-Age=0" in answer.headers["Set-Cookie"]
    assert one.get("/my").status == 303 and bart.get("/my").status == 200


def test_a_store_that_takes_nothing_is_read(world, sink):
    """That a session was used is noted when there is room again; meanwhile its person reads on."""
    if "url" in world.sections["store"]:
        pytest.skip("the fault is made with SQLite")
    anne = Person(world, sink, ANNE)
    with world.database() as database:
        database.execute("UPDATE session SET seen_at = seen_at - 7200000000")
        database.execute("CREATE TRIGGER full BEFORE UPDATE ON session BEGIN SELECT RAISE(FAIL, 'full'); END")
        (before,) = database.execute("SELECT seen_at FROM session").fetchone()
    anne.get("/my").says("Cats")
    with world.database() as database:
        database.execute("DROP TRIGGER full")
    anne.get("/my").says("Cats")
    with world.database() as database:
        assert database.execute("SELECT seen_at FROM session").fetchone()[0] > before


def test_what_is_stored(world, sink):
    anne = Person(world, sink, ANNE)
    answer = anne.get("/my/data")
    data = json.loads(answer.octets)
    assert ANNE in answer.text and BART not in answer.text and f"cats.{HOST}" in json.dumps(data)
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert world.pages.get("/my/data").status == 303


def test_a_proxy_vouches(instances, sink):
    """The field counts from the site's proxies, and from nobody else."""
    instance = make_site(instances, sink, web={"user_header": "X-Forwarded-Email"})
    instance.create_list("cats", [ANNE], settings=["archive_policy=private"])
    instance.pages.get("/my", X_Forwarded_Email=ANNE).says("Cats", ANNE)
    # Of two fields one may be the client's: they vouch for nobody, in whatever order.
    for first, second in ((ANNE, BART), (BART, ANNE), (ANNE, ANNE)):
        assert instance.pages.get("/my", X_Forwarded_Email=first, x_forwarded_email=second).status == 303
    for address in ("nobody@example.org", "nonsense", ""):
        assert "Cats" not in instance.pages.get("/my", X_Forwarded_Email=address).text
    instance.set({"web": {"user_header": "X-Forwarded-Email", "proxies": "192.0.2.1"}})
    instance.cli("reload")
    wait_until(lambda: instance.pages.get("/my", X_Forwarded_Email=ANNE).status == 303, 60, "the new proxies")
    assert instance.pages.get(f"/archive/cats.{HOST}", X_Forwarded_Email=ANNE).status in (403, 404)


def test_all_lists_at_once(world, sink):
    """Mail stops, stays away for some days, and comes again; what a moderator stopped stays so."""
    anne = Person(world, sink, ANNE)

    def states():
        return [world.member(name, ANNE)["delivery_status"] for name in ("cats", "dogs")]
    anne.send("/my/all", {"mail": "off"}).says("Your settings were changed")
    assert states() == ["by_user", "by_user"] and world.member("dogs", BART)["delivery_status"] == "enabled"
    world.cli("member", "set", f"cats@{HOST}", ANNE, "--delivery-status", "by_moderator")
    for mail in ("on", "off"):
        anne.send("/my/all", {"mail": mail}).says("Your settings were changed")
        assert states() == ["by_moderator", "enabled" if mail == "on" else "by_user"]
    anne.send("/my/all", {"mail": "on"})
    world.cli("member", "set", f"cats@{HOST}", ANNE, "--delivery-status", "enabled")
    let_turn(DAY)
    today, later = (time.strftime("%Y-%m-%d", time.gmtime(time.time() + 86400 * days)) for days in (0, 9))
    for wrong, words in ((("2020-01-01", "2020-01-02"), "over already"), ((later, today), "last not before the first"),
                         (("", later), "last not before the first")):
        anne.send("/my/all", {"mail": "away", "vacation_from": wrong[0], "vacation_until": wrong[1]}).says(words)
    anne.send("/my/all", {"mail": "nonsense"}).says("cannot be chosen")
    assert states() == ["enabled", "enabled"]
    anne.send("/my/all", {"mail": "away", "vacation_from": today, "vacation_until": later})
    assert states() == ["by_user", "by_user"]
    path = anne.membership("Dogs")
    anne.get(path).says(f'value="{today}"', f'value="{later}"')
    # The form of one list, whose days are taken out, ends it there alone.
    anne.send(path, {"vacation_from": "", "vacation_until": ""})
    assert states() == ["by_user", "enabled"]
    assert world.pages.send("/my/all", {"mail": "off", "mark": "1.2"}, Cookie=anne.cookie).status == 400
    anne.send("/my/all", {"mail": "on"})
    assert states() == ["enabled", "enabled"]


def test_faults_in_german(world, sink):
    anne = Person(world, sink, ANNE)
    path = anne.membership("Dogs")
    fields = {"mark": mark(anne.get(path).text), "vacation_from": "2020-01-01", "vacation_until": "2020-01-02"}
    answer = world.pages.send(path, fields, Cookie=anne.cookie, Accept_Language="de")
    answer.says("schon vorbei")
    assert "vacation:" not in answer.text
    fields["vacation_until"] = "2019-01-01"
    assert "vacation:" not in world.pages.send(path, fields, Cookie=anne.cookie, Accept_Language="de").says(
        "nicht vor dem ersten").text


def test_language(world, sink):
    """Of all letters, and of one list before that."""
    anne = Person(world, sink, ANNE)
    about = anne.get("/my/person").says("Deutsch", "日本語")
    assert "Suomi" not in about.text  # no letters are written in it
    anne.send("/my/person/language", {"language": "de"}).says("Your settings were changed")
    anne.send("/my/person/language", {"language": "xx"}).says("cannot be chosen")
    assert world.member("dogs", ANNE)["preferred_language"] == "de"
    anne.send(anne.membership("Dogs"), {"language": "fr"})
    assert world.member("dogs", ANNE)["preferred_language"] == "fr"
    assert 'value="fr" selected' in anne.get(anne.membership("Dogs")).text
    assert 'value="de" selected' in anne.get("/my/person").text
    ask_to_sign_in(world, ANNE)
    world.wait_idle()
    assert "Anmelden" in str(sink.take_mail()[ANNE][0]["Subject"])


def test_another_address(world, sink):
    """Nothing changes until the new address agrees; then it takes the old one's place, which signs in to nothing."""
    new, world_before = "anna@example.net", world.member("dogs", ANNE)
    anne, bart = Person(world, sink, ANNE), Person(world, sink, BART)

    def change(person, old, to):
        return person.send("/my/person/address", {"old_address": old, "new_address": to}, begin="/my/person")
    for bad, words in (("nonsense", "no mail address"), (f"cats@{HOST}", "address of a list"), (ANNE, "nothing to")):
        change(anne, ANNE, bad).says(words)
    assert change(bart, ANNE, "thief@example.net").status == 404
    change(anne, ANNE, new).says("A letter with a link is on its way", new)
    link = letter_link(world, sink, new)
    assert world.pages.get(link).says(ANNE, new).status == 200
    assert world.member("dogs", ANNE) == world_before and new not in anne.get("/my").text
    world.pages.send(link, {}).says("Your address was changed")
    assert world.pages.send(link, {}).status == 404
    assert sorted(world.members("dogs")) == sorted([new, BART])
    assert world.members("cats") == [new]
    assert anne.get("/my").status == 303  # the old address has no session any more
    ask_to_sign_in(world, ANNE)
    world.wait_idle()
    assert ANNE not in sink.take_mail()  # and gets no link
    anna = Person(world, sink, new)
    anna.get("/my").says("Cats", "Dogs")
    about = anna.get("/my/person")
    assert "Shown to be yours on" in about.text and ANNE not in about.text
    assert anna.send("/my/person/address/remove", {"address": BART}).status == 404
    anna.send("/my/person/address/remove", {"address": new}).says("still in use")
    # Among own addresses that were confirmed it changes at once, and both stay.
    world.cli("address", "link", new, "home@example.net")
    world.cli("address", "verify", "home@example.net")
    change(anna, new, "home@example.net").says("goes to", "home@example.net")
    anna.get("/my").says("Cats", "Dogs", "home@example.net")
    change(anna, "home@example.net", new).says("goes to", new)
    anna.send("/my/person/address/remove", {"address": "home@example.net"}).says("no address of yours")


def test_no_accounts_are_joined(world, sink):
    """A change to an address that somebody has changes nothing, and the asker does not learn that somebody has it."""
    anne, bart = Person(world, sink, ANNE), Person(world, sink, BART)
    pages = [anne.send("/my/person/address", {"old_address": ANNE, "new_address": to}, begin="/my/person").text
             for to in (BART, "nobody@example.net")]
    # The token of a form has the second in it.
    first, second = (re.sub(r"\S+@\S+|\d+\.[0-9a-f]{64}", "", page) for page in pages)
    assert first == second
    world.wait_idle()
    mail = sink.take_mail()
    (told,), (asked,) = mail[BART], mail["nobody@example.net"]
    text = told.get_body(("plain",)).get_content()
    assert "Nothing was changed" in told["Subject"] and ANNE in text
    assert "/confirm/" not in text and "confirm" not in told["From"]
    # She asks again, and before the letter is answered the address comes to own a list.
    world.cli("member", "add", "--role", "owner", f"cats@{HOST}", "nobody@example.net")
    world.pages.send(link_in(asked), {}).says("Nothing was changed", "not joined")
    bart.get("/my").says("Dogs", "You own it")
    assert "You own it" not in anne.get("/my").text
    assert ANNE in world.members("dogs")


def test_letters_to_new_addresses_are_few(world, sink):
    """A person who is signed in cannot have a stranger written to again and again, from whatever networks."""
    anne = Person(world, sink, ANNE)
    let_turn(DAY)
    for host in range(6):
        fields = {"mark": mark(anne.get("/my/person").text), "old_address": ANNE, "new_address": "victim@example.net"}
        answer = world.pages.send("/my/person/address", fields, Cookie=anne.cookie, X_Forwarded_For=f"198.51.{host}.1")
        assert answer.status == 200
    assert "several such letters" in answer.text
    world.wait_idle()
    came = [str(letter["Subject"]) for letter in sink.take_mail()["victim@example.net"]]
    assert sum("Please confirm" in subject for subject in came) == 3


def test_an_address_of_an_owner(world, sink):
    """Bart owns a list: that role stays with his old address, and is said."""
    bart = Person(world, sink, BART)
    bart.send("/my/person/address", {"old_address": BART, "new_address": "bert@example.net"}, begin="/my/person")
    link = letter_link(world, sink, "bert@example.net")
    world.pages.send(link, {}).says("Your address was changed")
    assert "bert@example.net" in world.members("dogs")
    assert BART in world.members("dogs", "owner")
    bart.get("/my").says("You own it")
    assert "You own it" not in Person(world, sink, "bert@example.net").get("/my").says("Dogs").text
    world.cli("member", "add", f"cats@{HOST}", BART)
    world.cli("user", "set", BART, "server_owner=yes")
    bart.send("/my/person/address", {"old_address": BART, "new_address": "x@example.net"},
              begin="/my/person").says("You run this site")


def test_forget_me(world, sink):
    """A page says what goes and stays, its button does it; bans stay, others keep all, and a session is nobody's."""
    anne, elsewhere, bart = (Person(world, sink, address) for address in (ANNE, ANNE, BART))
    world.cli("ban", "add", "--list", f"dogs@{HOST}", ANNE)
    ask_to_sign_in(world, ANNE)
    (link,) = sign_in_links(world, sink, ANNE)
    anne.send("/my/person/address", {"old_address": ANNE, "new_address": "anna@example.net"}, begin="/my/person")
    pending = letter_link(world, sink, "anna@example.net")
    kinds = {row["kind"] for row in json.loads(anne.get("/my/data").octets)["others"]}
    assert {"session", "ban"} <= kinds
    anne.get("/my/forget").says("no member of Cats", "no member of Dogs", "stays banned", "quote from them")
    assert world.member("dogs", ANNE)
    for wrong in ("", mark(bart.get("/my").text)):
        assert world.pages.send("/my/forget", {"mark": wrong}, Cookie=anne.cookie).status == 400
    answer = anne.send("/my/forget", {}, begin="/my/forget").says("You are forgotten")
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    assert anne.get("/my").status == 303 and elsewhere.get("/my").status == 303
    assert world.pages.send(link, {}).status == 404 and world.pages.send(pending, {}).status == 404
    assert world.members("dogs") == [BART]
    assert world.members("cats") == []
    assert ANNE not in world.cli("user", "ls") + world.cli("address", "ls")
    assert ANNE in world.cli("ban", "ls", f"dogs@{HOST}")
    bart.get("/my").says("Dogs", "You own it", f'<a href="/desk/list/dogs.{HOST}">Dogs</a>')
    world.cli("user", "set", BART, "server_owner=yes")
    assert "Yes, forget me" not in bart.get("/my/forget").says("You run this site").text
    bart.send("/my/forget", {}, begin="/my").says("You run this site")
    assert world.member("dogs", BART)


def test_many_lists(instances, sink, tmp_path):
    """All are reached, page by page, and each once; a place that is none is no page. The same for the list of lists."""
    let_through(tmp_path)
    world, names = make_site(instances, sink, **serving(tmp_path)), [f"l{number:03d}" for number in range(230)]
    for name in ("cats", "dogs"):
        world.create_list(name, [ANNE])
    rest = Rest(world)
    for number, name in enumerate(names):
        assert rest.call("POST", "lists", fqdn_listname=f"{name}@{HOST}").status == 201
        assert rest.call("POST", "members", list_id=f"{name}.{HOST}", subscriber=ANNE, pre_verified="yes",
                         pre_confirmed="yes", pre_approved="yes", send_welcome_message="no").status == 201
        if number % 2 == 0:
            assert rest.call("PATCH", f"lists/{name}.{HOST}/config", display_name=f"Name of {name}",
                             description=f"About {name}").status == 204
    world.cli("list", "set", f"{names[0]}@{HOST}", "advertised=no")
    anne = Person(world, sink, ANNE)

    def walk(get, path, pattern):
        found, pages = [], 0
        while path:
            text = get(path).text
            found += re.findall(pattern, text)
            path, pages = (re.search(r'href="([^"]+)" rel="next"', text) or [None, None])[1], pages + 1
        return found, pages
    mine, pages = walk(anne.get, "/my", r'href="/my/member/\w+">([^<]+)<')
    assert pages == 3 and len(mine) == len(set(mine)) == 232 and {"Cats", "Dogs", "Name of l000"} <= set(mine)
    assert anne.get("/my?after=nonsense").status == 404
    for get in (anne.get, world.pages.get):
        public, pages = walk(get, "/", r'href="/list/([^"]+)">([^<]+)</a>( <span>[^<]+</span>)?')
        assert pages == 3 and len(public) == len(set(public)) == 231
        shown = dict((path, (name, text)) for path, name, text in public)
        for number, name in list(enumerate(names))[1:]:
            title, text = shown[f"{name}.{HOST}"]
            assert title == (f"Name of {name}" if number % 2 == 0 else name.capitalize()), title
            assert text == (f" <span>About {name}</span>" if number % 2 == 0 else "")

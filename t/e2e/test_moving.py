# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A site of GNU Mailman 3 moves in: from a database that is made here by the names of Mailman's tables, in SQLite,
PostgreSQL and MariaDB."""
import contextlib
import json
import os
import pickle
import re
import shutil
import signal
import subprocess

import pytest

from support import mailman2, mailman3, mariadb, postgresql
from support.certificate import Authority
from support.disk import leased
from support.instance import HOST, prefix, wait_until

OTHER = "other.example.org"
TALK, NEWS, QUIET = f"talk.{HOST}", f"news.{OTHER}", f"renamed.{OTHER}"
HASH = "$6$rounds=1000$abcdefgh$" + "x" * 86
RAW = (b"From: Stranger <stranger@example.net>\nTo: talk@lists.example.com\nSubject: =?utf-8?q?caf=C3=A9?=\n"
       b"Message-ID: <held-1@example.net>\nX-Long: first\n\tsecond\nMIME-Version: 1.0\n"
       b"Content-Type: multipart/mixed; boundary=\"B 1\"\n\nbefore\n--B 1\nContent-Type: text/plain; charset=nonsense\n"
       b"Content-Transfer-Encoding: 8bit\n\ncaf\xe9 \xff\nFrom here\n\n--B 1\nContent-Type: message/rfc822\n\n"
       b"Subject: inner\n\ninside\n--B 1--\nafter\n")
PLAIN = b"From: m@example.net\nMessage-ID: <held-2@example.net>\nSubject: two\n\nplain \xc3\xa9\n"
BIGGEST = 2**31 - 1


def fill(site):
    """Two of everything."""
    site.add("domain", mail_host=HOST, description="Zürich", alias_domain=None)
    site.add("domain", mail_host=OTHER, description="", alias_domain="alias.example.org")
    anne, (first, second) = site.user("Anne Müller 日本", "Anne.M@Example.com", "anne.second@example.net",
                                      password=HASH, server_owner=True, receive_own_postings=False,
                                      preferred_language="de")
    bob, (bobs,) = site.user("x" * 200, "bob@example.com", prefers=None, delivery_mode=4)
    alone = site.address("alone@example.org", name="Alone", verified=False, acknowledge_posts=True)
    away = site.user("Away", "away@example.org")[1][0]
    bounced = site.user("Bounced", "bounced@example.org")[1][0]
    site.add("domain_owner", user_id=anne, domain_id=1)
    owner, (owners,) = site.user("Olga", "olga@example.com")
    talk = site.list(
        f"talk@{HOST}", description="Über dies & das\nund mehr", info="Zeile 1\nZeile 2", advertised=False,
        accept_these_nonmembers=mailman3.pickled_list(["friend@example.org", "^.*@good\\.example,net$", "nonsense"]),
        discard_these_nonmembers=mailman3.pickled_list(["@news@other.example.org"]),
        topics=pickle.dumps([("cats", "cat|kitten", "about cats", False)], protocol=5), topics_enabled=True,
        subscription_policy=3, unsubscription_policy=0, dmarc_mitigate_action=2, filter_content=True, filter_action=6,
        digest_size_threshold=30.25, reply_goes_to_list=2, reply_to_address="office@example.org", archive_policy=1,
        preferred_language="fr", autorespond_owner=2, autoresponse_owner_text="Merci, $listname",
        bounce_info_stale_after="1970-01-15 00:00:00.000000", member_roster_visibility=0, post_id=1234,
        volume=7, next_digest_number=3, digest_last_sent_at="2026-03-01 12:00:00.000000",
        last_post_at="2026-03-02 12:00:00.000000", moderator_password=HASH.encode(), encode_ascii_prefixes=True,
        member_moderation_notice="Wait.", archive_rendering_mode=2, personalize=1, default_nonmember_action=1,
        linked_newsgroup="local.talk", usenet_watermark=77)
    news = site.list(f"news@{OTHER}", preferred_language="xx", digest_size_threshold=0.0,
                     autoresponse_owner_text="$what", bounce_score_threshold=9, max_message_size=0)
    site.list(f"quiet@{OTHER}", list_id=QUIET, default_member_action=99)
    for table, rows in {
            "contentfilter": [(0, "image/png"), (1, "multipart"), (1, "text/plain"), (2, "exe"), (3, "txt")]}.items():
        for kind, pattern in rows:
            site.add(table, mailing_list_id=talk, filter_type=kind, filter_pattern=pattern)
    site.add("acceptablealias", mailing_list_id=talk, alias="talk@old.example.com")
    site.add("acceptablealias", mailing_list_id=talk, alias="^talk-.*@old\\.example\\.com")
    site.add("listarchiver", mailing_list_id=talk, name="hyperkitty", _is_enabled=True)
    site.add("listarchiver", mailing_list_id=news, name="hyperkitty", _is_enabled=False)
    site.add("listarchiver", mailing_list_id=talk, name="prototype", _is_enabled=False)
    # Members: by user and by address, preferences at each level, each role.
    site.member(TALK, user=anne)
    site.member(TALK, address=second, delivery_mode=3)
    site.member(TALK, address=bobs, action=0)
    site.member(TALK, address=alone, hide_address=False, receive_list_copy=False)
    site.member(TALK, address=away, delivery_status=2)
    site.member(TALK, address=bounced, delivery_status=3, score=5, bounced="2026-03-03 00:00:00.000000",
                warned="2026-03-04 00:00:00.000000", warnings=2)
    site.member(NEWS, address=bounced, score=3, bounced="2026-03-03 00:00:00.000000")
    site.member(TALK, role=2, address=owners)
    site.member(TALK, role=3, user=anne)
    site.member(NEWS, role=2, user=anne)
    site.member(NEWS, address=first)
    stranger = site.address("stranger@example.net", verified=False)
    site.member(TALK, role=4, address=stranger)
    site.member(TALK, role=4, address=site.address("known@example.net", verified=False), action=3)
    site.member(NEWS, user=bob)               # prefers no address
    site.member(NEWS, address=BIGGEST)        # is not there
    site.member(NEWS, address=site.address("no address"))
    site.member(NEWS, address=site.address(f"talk-owner@{HOST}"))
    for place, email in ((TALK, "evil@example.com"), (TALK, "^.*@evil\\.example$"), (NEWS, "^(unclosed"),
                         (None, "site-evil@example.com")):
        site.add("ban", email=email, list_id=place)
    for position, row in enumerate((("X-Spam-Flag", "^yes", "discard", "spam"), ("subject", "buy", "hold", None),
                                    ("x-a", "(", None, None), ("x-b", ".*", None, None))):
        site.add("headermatch", mailing_list_id=talk, position=position,
                 **dict(zip(("header", "pattern", "chain", "tag"), row)))
    site.add("template", name="list:user:notice:welcome", context=TALK, uri="mailman:///talk/en/welcome.txt")
    site.add("template", name="list:user:notice:goodbye", context=OTHER, uri="https://texts.example.com/goodbye")
    site.add("template", name="list:user:notice:hold", context=None, uri="mailman:///hold.txt")
    site.add("template", name="list:nobody:knows", context=None, uri="https://texts.example.com/x")
    for path, text in {f"lists/{TALK}/fr/welcome.txt": "Bienvenue $user_name",
                       f"domains/{OTHER}/en/list:member:regular:footer.txt": "-- \n$display_name\n",
                       f"site/de/list:user:notice:post.txt": "Danke: $subject $hyperkitty_url"}.items():
        file = site.var / "templates" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    made = {"held": site.hold(talk, TALK, RAW, "stranger@example.net"),
            "held2": site.hold(talk, TALK, PLAIN, "m@example.net", protocol=2)}
    lost = site.hold(news, NEWS, PLAIN.replace(b"held-2", b"held-3"), "m@example.net")[0]
    shutil.rmtree(site.var / "messages" / site.db.execute(
        "SELECT substr(path, 1, 2) FROM message WHERE id = ?", (lost,)).fetchone()[0])
    made["join"] = site.request("subscription", TALK, "joiner@example.com", delivery_mode="mime_digests")
    made["ask"] = site.request("subscription", TALK, "asks@example.com", owner="moderator", pre_verified=True,
                               pre_confirmed=True)
    made["invite"] = site.request("subscription", NEWS, "invited@example.com", invitation=True, pre_approved=True,
                                  pre_confirmed=True, pre_verified=True)
    made["leave"] = site.request("unsubscription", TALK, "bob@example.com")
    site.request("subscription", TALK, "late@example.com", until="2020-01-01 00:00:00.000000")
    site.request("subscription", "gone.example.com", "gone@example.com")
    site.digest(TALK, b"From: a@example.net\nSubject: one\n\nfirst\n>From here\n", b"Subject: two\n\ncaf\xe9\n")
    site.add("onelastdigest", mailing_list_id=talk, address_id=bobs, delivery_mode=2)
    site.add("autoresponserecord", address_id=alone, mailing_list_id=talk, response_type=3, date_sent="2026-11-01")
    site.add("bounceevent", list_id=TALK, email="bob@example.com", context=1, processed=False)
    queue = site.var / "queue" / "retry"
    queue.mkdir(parents=True)
    (queue / "1.0+aa.pck").write_bytes(b"x")
    return made


@pytest.fixture
def site(tmp_path):
    return mailman3.Site(tmp_path / "mailman")


def source(site):
    """The words that name it, when all is written."""
    site.done()
    return ["--db", site.path, "--var", site.var]


def bring(instance, words, *more, code=0):
    done = instance.run("import", "mailman3", "--site", *words, *more, timeout=300)
    assert done.returncode == code, f"{done.returncode}: {done.stderr}{done.stdout}"
    return done.stdout


def tables(instance):
    """All rows of the store."""
    with instance.database() as database:
        names = [row[0] for row in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
        return {name: sorted(map(repr, database.execute(f'SELECT * FROM "{name}"').fetchall())) for name in names}


def test_single_lists(empty, site):
    """Without the site's word a list comes with its members, and nobody comes to own anything or to be known by it."""
    fill(site)
    words = source(site)
    assert empty.run("import", "mailman3", *words).returncode == 64
    assert "--site" in empty.run("import", "mailman3", *words).stderr
    assert empty.run("import", "mailman3", "--site", *words, TALK).returncode == 64
    missing = empty.run("import", "mailman3", *words, TALK, "nobody.example.com")
    assert missing.returncode == 66 and "nobody.example.com" in missing.stderr
    others = [row[0] for row in site.db.execute("SELECT list_id FROM mailinglist WHERE list_id <> ?", (TALK,))]
    members = site.db.execute("SELECT count(*) FROM member WHERE list_id = ? AND role < 4", (TALK,)).fetchone()[0]
    assert others and members
    refused = empty.run("import", "mailman3", *words, TALK, timeout=300)
    assert f"there is no domain {HOST}" in refused.stdout and not empty.cli("domain", "ls", "--names").strip()
    empty.cli("domain", "create", HOST)
    done = empty.run("import", "mailman3", *words, TALK, timeout=300)
    with empty.database() as ours:
        def count(sql):
            return ours.execute(f"SELECT count(*) FROM {sql}").fetchone()[0]
        assert [row[0] for row in ours.execute("SELECT list_id FROM list").fetchall()] == [TALK], done.stdout
        assert count("member WHERE role < 3") == members - done.stdout.count("left out: " + TALK + ": member")
        for sql in ("person WHERE server_owner = 1 OR password IS NOT NULL", "domain_owner", "ban WHERE list IS NULL",
                    "address WHERE verified_at > 0", "domain WHERE alias_domain IS NOT NULL", "person_preference",
                    "template WHERE place NOT IN (SELECT list_id FROM list)", "member WHERE by_person = 1",
                    "list_setting WHERE name = 'linked_newsgroup'"):
            assert count(sql) == 0, sql
        assert count("member WHERE delivery_status IS NOT NULL OR preferred_language IS NOT NULL") > 0
    bring(empty, words, code=1)
    with empty.database() as ours:
        assert len(ours.execute("SELECT list_id FROM list").fetchall()) == 1 + len(others)


def settings(instance, address):
    return json.loads(instance.cli("list", "show", address, "--json"))


def test_all_of_a_site(empty, site):
    made = fill(site)
    check_all(empty, source(site), made)


def test_all_of_a_site_in_postgresql(empty, site, server):
    made = fill(site)
    words = source(site)
    with contextlib.closing(postgresql.connect(server.url("public"))) as connection:
        site.copy_to(connection)
    check_all(empty, ["--db", server.url("public"), *words[2:]], made)


def test_all_of_a_site_in_mysql(instances, sink, site, mysql, monkeypatch):
    """As it comes from SQLite; a connection that is refused or cut writes nothing wrong."""
    made = fill(site)
    words = source(site)
    with contextlib.closing(mysql.emptied("mailman")) as connection:
        site.copy_to(connection, mailman3.MYSQL)
    theirs, ours, cut = (instances(sink.port) for _ in range(3))
    for instance in (theirs, ours, cut):
        instance.create_store()
    refuse_mysql(theirs, mysql, words[2:])
    secure = mysql.url("mailman", user=mariadb.SECRET, more=f"?charset=utf8mb4&ssl_ca={mysql.authority.file}")
    told = check_all(theirs, ["--db", secure, *words[2:]], made)
    assert bring(ours, words, code=1) == told
    assert comparable(ours) == comparable(theirs)
    cut_mysql(cut, mysql, words[2:], monkeypatch)
    assert comparable(cut) == comparable(theirs)


def comparable(instance):
    """The rows of the store without what differs between two imports of the same."""
    with instance.database() as database:
        def ask(sql):
            return sorted(repr(tuple(row)) for row in database.execute(sql).fetchall())
        return {
            "lists": ask("SELECT list_id, list_name, mail_host, created_at, last_post_at, post_id FROM list"),
            "settings": ask("SELECT l.list_id, s.name, s.value FROM list_setting s JOIN list l ON l.key = s.list"),
            "people": ask("SELECT a.email, CASE WHEN verified_at > 0 THEN registered_at END, a.verified_at, "
                          "a.preferred, p.display_name, p.password FROM address a "
                          "LEFT JOIN person p ON p.key = a.person"),
            "members": ask("SELECT l.list_id, m.role, m.email, m.by_person, m.moderation_action, m.delivery_mode, "
                           "m.delivery_status, m.hide_address, m.receive_list_copy, m.preferred_language "
                           "FROM member m JOIN list l ON l.key = m.list"),
            "texts": ask("SELECT place, name, language, text FROM template"),
            "held": ask("SELECT sender, subject, reason, message, held_at FROM held"),
            "digests": ask("SELECT message FROM digest_post"),
            "answers": ask("SELECT kind, address FROM autoresponse"),
        }


def refuse_mysql(instance, mysql, var):
    """A sentence, without the password, and nothing written."""
    before, stranger = tables(instance), Authority(mysql.directory / "stranger").file
    for url, code, said in (
            (mysql.url("mailman", password="wr0ng"), 78, "MySQL database mailman at 127.0.0.1 port "
             f"{mysql.port} as {mariadb.USER}: Access denied for user"),
            (mysql.url("elsewhere"), 78, "elsewhere"),
            (mysql.url("core"), 78, "it has no table alembic_version"),
            (mysql.url(""), 78, "names no database"),
            (mysql.url("mailman", more="?ssl=yes"), 78, 'the parameter "ssl" is not known'),
            (mysql.url("mailman", user=mariadb.SECRET, more=f"?ssl_ca={stranger}"), 78, "as secret: TLS"),
            (mysql.url("mailman", port=1), 75, "port 1"),
            ("mariadb://x@[::1/mailman", 78, "this is no URL of MySQL")):
        done = instance.run("import", "mailman3", "--site", "--db", url, *var)
        assert done.returncode == code and said in done.stderr and not done.stdout, (url, done.stderr, done.stdout)
        assert "wr0ng" not in done.stderr and mariadb.PASSWORD not in done.stderr
    assert tables(instance) == before


def cut_mysql(instance, mysql, var, monkeypatch):
    """A connection that ends: at once, while it is looked at, and amid the rows; then the import goes on."""
    before = tables(instance)
    for after, written in ((20, False), (6000, False), (60000, True)):
        with contextlib.closing(mariadb.Cut(mysql.port, after)) as way:
            done = instance.run("import", "mailman3", "--site", "--db", mysql.url("mailman", port=way.port), *var)
        assert done.returncode == 75 and "MySQL database mailman at 127.0.0.1" in done.stderr, (after, done.stderr)
        assert written or tables(instance) == before, after
        assert not written or "the connection was lost" in done.stderr, done.stderr
    bring(instance, ["--db", f"mysql://root@/mailman?unix_socket={mysql.socket}", *var, "--dry-run"], code=1)
    monkeypatch.setenv("MYSQL_PWD", mariadb.PASSWORD)
    bring(instance, ["--db", f"mariadb://{mariadb.USER}@127.0.0.1:{mysql.port}/mailman", *var], code=1)


def check_all(instance, words, made):
    expected = bring(instance, words, "--dry-run", code=1)
    assert not instance.cli("list", "ls", "--names").strip(), "a dry run writes nothing"
    told = bring(instance, words, code=1)
    assert told.replace("brought in", "would come") == expected.replace("brought in", "would come"), \
        "a dry run tells all that becomes of it"
    check_lists(instance, told)
    check_people(instance)
    check_refused_people(told)
    check_waiting(instance, told, made)
    return told


def check_lists(instance, told):
    talk = settings(instance, f"talk@{HOST}")
    for name, value in {
            "list_id": TALK, "subject_prefix": "[Talk] ", "created_at": "2020-05-06T07:08:09Z",
            "last_post_at": "2026-03-02T12:00:00Z",
            "description": "Über dies & das und mehr", "info": "Zeile 1\nZeile 2", "advertised": False,
            "accept_these_nonmembers": ["friend@example.org", "^.*@good\\.example,net$"],
            "discard_these_nonmembers": [f"@{NEWS}"], "topics": ["cats: cat|kitten"], "topics_enabled": True,
            "subscription_policy": "confirm_then_moderate", "unsubscription_policy": "open",
            "dmarc_mitigate_action": "wrap_message", "filter_content": True, "filter_action": "preserve",
            "filter_types": ["image/png"], "pass_types": ["multipart", "text/plain"], "filter_extensions": ["exe"],
            "pass_extensions": ["txt"], "digest_size_threshold": 31, "reply_goes_to_list": "explicit_header",
            "reply_to_address": "office@example.org", "archive_policy": "private", "preferred_language": "fr",
            "autorespond_owner": "respond_and_continue", "autoresponse_owner_text": "Merci, $listname",
            "bounce_info_stale_after": "14d", "member_roster_visibility": "public",
            "archive_rendering_mode": "markdown",
            "acceptable_aliases": ["talk@old.example.com", "^talk-.*@old\\.example\\.com"], "personalize": "individual",
            "default_nonmember_action": "reject", "archivers": [], "linked_newsgroup": "local.talk",
            "msg_footer": "_______________________________________________\n"
                          "Liste de diffusion $display_name -- $listname\n"
                          "Pour vous désinscrire, envoyez un courriel à ${short_listname}-leave@${domain}\n"}.items():
        assert talk[name] == value, name
    news = settings(instance, f"news@{OTHER}")
    assert (news["archivers"], news["digest_size_threshold"], news["preferred_language"], news["msg_footer"]) == \
        (["none"], 1, "en", ""), "the domain has a footer"
    assert settings(instance, f"quiet@{OTHER}")["list_id"] == QUIET
    with instance.database() as database:
        posts = dict(database.execute("SELECT list_id, post_id FROM list").fetchall())
        password, = database.execute("SELECT value FROM list_setting WHERE name = 'moderator_password'").fetchone()
        watermark, = database.execute("SELECT watermark FROM news").fetchone()
        texts = database.execute(
            "SELECT place, name, language, uri, text FROM template ORDER BY place, name").fetchall()
    assert (posts[TALK], posts[NEWS], password, watermark) == (1234, 1, HASH, 77)
    assert list(map(tuple, texts)) == [
        ("", "list:user:notice:post", "de", "", "Danke: $subject $$hyperkitty_url"),
        (f"@{OTHER}", "list:member:regular:footer", "en", "", "-- \n$display_name\n"),
        (TALK, "list:user:notice:welcome", "", "", "Bienvenue $user_name")]
    for line in (f"left out: {TALK}: accept_these_nonmembers: \"nonsense\" is not allowed",
                 f"no equal here: {TALK}: encode_ascii_prefixes: yes",
                 f"no equal here: {TALK}: member_moderation_notice: Wait.",
                 f"changed: {TALK}: description: its lines were joined to one",
                 f"left out: {NEWS}: preferred_language: \"xx\"",
                 f"changed: {NEWS}: digest_size_threshold: 0 sends",
                 f"changed: {NEWS}: autoresponse_owner_text: $what: nothing here has this meaning",
                 f"left out: {QUIET}: default_member_action: \"99\"",
                 f"left out: {NEWS}: ban ^(unclosed: ", f"left out: {TALK}: header match x-a: (: ",
                 "no equal here: list:nobody:knows: ", "changed: site: list:user:notice:hold: Mailman's text",
                 f"left out: @{OTHER}: list:user:notice:goodbye: ",
                 "changed: site: list:user:notice:post: $hyperkitty_url: nothing here"):
        assert "\n" + line in "\n" + told, line
    assert [(row["address"], row["list"]) for row in instance.rows("ban", "ls", f"talk@{HOST}")] == \
        [("^.*@evil\\.example$", TALK), ("evil@example.com", TALK)]
    assert [row["address"] for row in instance.rows("ban", "ls")] == ["site-evil@example.com"]
    assert [(row["header"], row["action"], row["tag"]) for row in
            instance.rows("header-match", "ls", f"talk@{HOST}")] == \
        [("x-spam-flag", "discard", "spam"), ("subject", "hold", None), ("x-b", None, None)]
    domains = {row["mail_host"]: row for row in instance.rows("domain", "ls")}
    assert (domains[HOST]["description"], domains[OTHER]["alias_domain"]) == ("Zürich", "alias.example.org")


def check_people(instance):
    # The log has people who came at once as numbers.
    came = instance.rows("list", "log", f"talk@{HOST}", "--kind=import")
    members = instance.cli("member", "ls", f"talk@{HOST}", "--names").split()
    assert members and sum(int(row["after"]) for row in came if row["name"] == "member") == len(members), came
    anne = json.loads(instance.cli("user", "show", "anne.second@example.net", "--json"))
    assert (anne["display_name"], anne["preferred_address"], anne["server_owner"], anne["has_password"]) == \
        ("Anne Müller 日本", "Anne.M@Example.com", True, True)
    assert anne["created_on"] == "2020-12-31T12:00:00Z"
    assert sorted(anne["addresses"]) == ["Anne.M@Example.com", "anne.second@example.net"]
    assert (anne["preferences"]["receive_own_postings"], anne["preferences"]["preferred_language"]) == (False, "de")
    with instance.database() as database:
        passwords = [row[0] for row in database.execute("SELECT password FROM person WHERE password IS NOT NULL")]
        owners = database.execute("SELECT count(*) FROM domain_owner").fetchone()[0]
        emails = {row[0]: row for row in database.execute(
            "SELECT email, preferred, registered_at, verified_at FROM address").fetchall()}
        members = [tuple(row) for row in database.execute(
            "SELECT l.list_id, m.role, m.email, m.by_person, m.moderation_action, m.delivery_mode, m.delivery_status, "
            "m.hide_address, m.receive_list_copy FROM member m JOIN list l ON l.key = m.list "
            "ORDER BY l.list_id, m.role, m.folded, m.by_person").fetchall()]
        scores = [tuple(row) for row in database.execute(
            "SELECT l.list_id, s.score, s.last_bounce_at, s.warnings, s.disabled_at > 0 FROM bounce_score s "
            "JOIN member m ON m.key = s.member JOIN list l ON l.key = m.list ORDER BY l.list_id").fetchall()]
        strangers = database.execute("SELECT count(*) FROM stranger").fetchone()[0]
    assert (passwords, owners, strangers) == ([HASH], 1, 1)
    assert emails["Anne.M@Example.com"][1:] == (1, 1609459199500000, 1609459200000000), emails
    assert emails["alone@example.org"][3] == 0
    assert members == [
        (NEWS, 0, "Anne.M@Example.com", 0, None, None, None, None, None),
        (NEWS, 0, "bounced@example.org", 0, None, None, None, None, None),
        (NEWS, 1, "Anne.M@Example.com", 1, None, None, None, None, None),
        (TALK, 0, "Anne.M@Example.com", 1, None, None, None, None, None),
        (TALK, 0, "bob@example.com", 0, 0, None, None, None, None),
        (TALK, 0, "anne.second@example.net", 0, None, 2, None, None, None),
        (TALK, 0, "alone@example.org", 0, None, None, None, 0, 0),
        (TALK, 0, "away@example.org", 0, None, None, 1, None, None),
        (TALK, 0, "bounced@example.org", 0, None, None, 2, None, None),
        (TALK, 1, "olga@example.com", 0, None, None, None, None, None),
        (TALK, 2, "Anne.M@Example.com", 1, None, None, None, None, None),
        (TALK, 3, "known@example.net", 0, 3, None, None, None, None),
        (TALK, 3, "stranger@example.net", 0, None, None, None, None, None)]
    assert scores == [(NEWS, 300, 1772496000000000, 0, False), (TALK, 0, 1772496000000000, 2, True)]


def check_refused_people(told):
    for line in (f"left out: {NEWS}: member 14: its user is not there, or prefers no address",
                 f"left out: {NEWS}: member 15: its address is not there", f"left out: {NEWS}: member no address: ",
                 "left out: no address: address: \"no address\" is no e-mail address",
                 f"left out: {NEWS}: member talk-owner@{HOST}: "):
        assert line in told, line


def check_waiting(instance, told, made):
    held = instance.rows("held", "ls")
    assert [(row["list"], row["sender"], row["subject"], row["reason"]) for row in held] == [
        (TALK, "stranger@example.net", "café", "the reason"), (TALK, "m@example.net", "two", "the reason")]
    with instance.database() as database:
        messages = [bytes(row[0]) for row in database.execute("SELECT message FROM held ORDER BY number").fetchall()]
        kept = [tuple(row) for row in database.execute(
            "SELECT volume, next_number, sent_at, waiting FROM digest d JOIN list l ON l.key = d.list "
            "WHERE l.list_id = ?", (TALK,)).fetchall()]
        posts = [bytes(row[0]) for row in database.execute("SELECT message FROM digest_post ORDER BY key").fetchall()]
        last = database.execute("SELECT count(*) FROM digest_last WHERE mode = 1").fetchone()[0]
        answered = [tuple(row) for row in database.execute("SELECT kind, address FROM autoresponse").fetchall()]
        held_at = [row[0] for row in database.execute("SELECT held_at FROM held").fetchall()]
    assert messages == [RAW, PLAIN], "the bytes are the sender's"
    assert held_at[0] == 1770091506789000
    assert kept == [(7, 3, 1772366400000000, 2)]
    assert posts == [b"From: a@example.net\nSubject: one\n\nfirst\nFrom here\n", b"Subject: two\n\ncaf\xe9\n"]
    assert (last, answered) == (1, [("owner", "alone@example.org")])
    pending = {row["address"]: row for row in instance.rows("pending", "ls")}
    assert {address: (row["kind"], row["waits_for"]) for address, row in pending.items()} == {
        "joiner@example.com": ("join", "person"), "asks@example.com": ("join", "moderator"),
        "invited@example.com": ("join", "person"), "bob@example.com": ("leave", "person")}
    for line in (f"left out: {NEWS}: held post 3 <held-3@example.net>: ",
                 "left out: gone.example.com: request to join of gone@example.com: ",
                 "queue/retry: queue: 1 mails wait",
                 "no equal here: bounces that were not counted yet: 1 of them"):
        assert line in told, line


@pytest.mark.sqlite
def test_run_again_changes_nothing(empty, site):
    fill(site)
    words = source(site)
    bring(empty, words, code=1)
    before = tables(empty)
    told = bring(empty, words, code=1)  # what waits in the queue of Mailman is told each time
    assert tables(empty) == before
    assert "lists                             0              3" in told
    # A person who left since does not come back, and a list that was removed can be brought again.
    empty.cli("member", "remove", f"talk@{HOST}", "bob@example.com")
    empty.cli("list", "remove", f"news@{OTHER}", "--yes")
    bring(empty, words, code=1)
    assert "bob@example.com" not in empty.cli("member", "ls", f"talk@{HOST}", "--names")
    assert "anne.m@example.com" in empty.cli("member", "ls", f"news@{OTHER}", "--names").lower()


def test_a_list_that_was_removed_comes_with_what_was_new_there(empty, site):
    """People, bans of the site and requests belong to no list, and come, too. A list that stayed has its requests, and
    one that was answered here does not wait anew."""
    fill(site)
    site.request("subscription", NEWS, "early@example.net")
    words = source(site)
    bring(empty, words, code=1)
    with empty.database() as database:
        first = {tuple(row) for row in waiting(database)}
        database.execute("DELETE FROM pending WHERE list = (SELECT key FROM list WHERE list_id = ?)", (TALK,))
        database.commit()
    assert {place for place, _ in first} == {TALK, NEWS}
    site.user("New", "new@example.org", password=HASH)
    site.add("ban", email="late@example.com", list_id=None)
    site.request("subscription", NEWS, "late@example.net")
    site.db.commit()
    empty.cli("list", "remove", f"quiet@{OTHER}", "--yes")
    bring(empty, words, code=1)
    assert {row["address"] for row in empty.rows("ban", "ls")} == {"site-evil@example.com", "late@example.com"}
    empty.cli("list", "remove", f"news@{OTHER}", "--yes")
    bring(empty, words, code=1)
    with empty.database() as database:
        now = {tuple(row) for row in waiting(database)}
        password = database.execute("SELECT password FROM person u JOIN address a ON a.person = u.key "
                                    "WHERE a.email = 'new@example.org'").fetchall()
    assert now == {row for row in first if row[0] == NEWS} | {(NEWS, "late@example.net")}
    assert [row[0] for row in password] == [HASH]


def waiting(database):
    return database.execute("SELECT list_id, p.address FROM pending p JOIN list l ON l.key = p.list").fetchall()


def post(sender, to, subject="", text="", **fields):
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return (f"From: {sender}\r\nTo: {to}\r\nSubject: {subject}\r\n"
            f"Message-ID: <{os.urandom(8).hex()}@example.org>\r\n{more}\r\n{text}\r\n").encode()


def report(address):
    """Return what comes back of a mail that Mailman sent before the move."""
    return (f"From: MAILER-DAEMON@example.org\r\nSubject: failed\r\nMIME-Version: 1.0\r\n"
            f"Message-ID: <{os.urandom(8).hex()}@example.org>\r\n"
            "Content-Type: multipart/report; report-type=delivery-status; boundary=B\r\n\r\n--B\r\n\r\nx\r\n--B\r\n"
            "Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.org\r\n\r\n"
            f"Final-Recipient: rfc822; {address}\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--B--\r\n").encode()


def test_letters_of_mailman_are_good(empty, site, sink):
    """A person who answers a letter that Mailman wrote gets what it promised, and its addresses are those of the
    list."""
    made = fill(site)
    bring(empty, source(site), code=1)
    empty.start()

    def send(octets, to, sender):
        empty.lmtp_send(octets, to, sender=sender)
        empty.wait_idle()

    def members():
        return empty.cli("member", "ls", f"talk@{HOST}", "--names").split()

    # The answer to the letter that asks whether somebody wants to join; then a moderator decides.
    send(post("joiner@example.com", f"talk-confirm+{made['join']}@{HOST}", "Re: Your confirmation is needed"),
         f"talk-confirm+{made['join']}@{HOST}", "joiner@example.com")
    waits = {row["address"]: row for row in empty.rows("pending", "ls")}
    assert waits["joiner@example.com"]["waits_for"] == "moderator"
    empty.cli("pending", "accept", waits["joiner@example.com"]["number"])
    assert "joiner@example.com" in members()
    joined, = [row for row in empty.rows("member", "ls", f"talk@{HOST}") if row["address"] == "joiner@example.com"]
    assert joined["delivery_mode"] == "mime_digests"
    empty.cli("pending", "accept", waits["asks@example.com"]["number"])
    assert "asks@example.com" in members()
    # By the Subject, to -request, as people do who write anew.
    send(post("bob@example.com", f"talk-request@{HOST}", f"confirm {made['leave']}"), f"talk-request@{HOST}",
         "bob@example.com")
    assert "bob@example.com" not in members()
    # An invitation; the token is good once.
    send(post("invited@example.com", f"news-confirm+{made['invite']}@{OTHER}", "Re: invitation"),
         f"news-confirm+{made['invite']}@{OTHER}", "invited@example.com")
    assert "invited@example.com" in empty.cli("member", "ls", f"news@{OTHER}", "--names")
    # The letter to the moderators about a held post.
    send(post("olga@example.com", f"talk-request@{HOST}", f"Re: confirm {made['held'][1]}", "accept"),
         f"talk-request@{HOST}", "olga@example.com")
    assert [row["subject"] for row in empty.rows("held", "ls")] == ["two"]
    sink.take_mail()
    # Bounces of copies that Mailman sent: with VERP, without, and of a letter that tried an address.
    for number, detail in enumerate(("", "+alone=example.org", f"+{'0a' * 20}")):
        send(report("alone@example.org"), f"talk-bounces{detail}@{HOST}", "")
        days = empty.rows("bounce", "show", "alone@example.org", f"talk@{HOST}")
        assert sum(day["bounces"] for day in days) == number + 1, (detail, days)
    # List-Unsubscribe of old copies, which names nobody: the list's policy decides about whoever wrote.
    sink.take_mail()
    send(post("anne.second@example.net", f"talk-leave@{HOST}"), f"talk-leave@{HOST}", "anne.second@example.net")
    assert "anne.second@example.net" not in members() or "anne.second@example.net" in sink.take_mail()


@pytest.mark.sqlite
def test_a_store_that_fails_is_gone_on_with(empty, site):
    """Whatever row the database refuses: the import ends and says so, and the next one brings the rest, once."""
    fill(site)
    words = source(site)
    for table in ("address", "list_setting", "member", "held", "pending", "digest_post", "moved"):
        with empty.database() as database:
            there, = database.execute(f"SELECT count(*) FROM {table}").fetchone()
            database.execute(f"CREATE TRIGGER broken AFTER INSERT ON {table} WHEN (SELECT count(*) FROM {table}) > "
                             f"{there + 1} BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END")
        done = empty.run("import", "mailman3", "--site", *words)
        assert done.returncode == 75 and "the disk is on fire" in done.stderr, (table, done.stderr, done.stdout)
        assert "run it again to go on" in done.stdout
        with empty.database() as database:
            database.execute("DROP TRIGGER broken")
    bring(empty, words, code=1)
    check_people(empty)
    assert len(empty.rows("held", "ls")) == 2 and len(empty.rows("pending", "ls")) == 4
    with empty.database() as database:
        assert database.execute("SELECT count(*) FROM digest_post").fetchone() == (2,)


class Evil:
    """Would make a file if the pickle were executed."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def test_a_pickle_is_not_executed(empty, site, tmp_path):
    fill(site)
    touched = tmp_path / "touched"
    site.db.execute("UPDATE mailinglist SET accept_these_nonmembers = ?, topics = ? WHERE list_name = 'talk'",
                    (pickle.dumps(Evil(touched)), pickle.dumps([Evil(touched)], protocol=0)))
    for path in (site.var / "messages").rglob("*"):
        if path.is_file():
            path.write_bytes(pickle.dumps(Evil(touched), protocol=2))
    told = bring(empty, source(site), code=1)
    assert not touched.exists()
    for key in ("accept_these_nonmembers", "topics"):
        assert f"left out: {TALK}: {key}: byte " in told and "it has a posix.system, which is not taken" in told
    assert told.count("left out: " + TALK + ": held post") == 2


def test_a_refused_database_changes_nothing(empty, site, tmp_path):
    fill(site)
    source(site)
    before = empty.rows("domain", "ls")

    def refused(path, code, *words):
        done = empty.run("import", "mailman3", "--site", "--db", path, "--var", site.var)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        for word in (str(path), *words):
            assert word in done.stderr, (word, done.stderr)
        assert not done.stdout and empty.rows("domain", "ls") == before

    refused(tmp_path / "nowhere.db", 66, "there is no file")
    done = empty.run("import", "mailman3", "--site", "--db", "oracle://mailman:secret@127.0.0.1/mailman", "--var",
                     site.var)
    assert done.returncode == 78 and 'databases of "oracle://" cannot be read' in done.stderr, done
    assert "secret" not in done.stderr
    done = empty.run("import", "mailman3", "--site", "--db", site.path, "--var", tmp_path / "nowhere")
    assert done.returncode == 66 and f"{tmp_path / 'nowhere'}, Mailman's var_dir (--var): " in done.stderr
    text = tmp_path / "text"
    text.write_text("no database " * 1000)
    refused(text, 78, "file is not a database")
    nothing = tmp_path / "empty"
    nothing.write_bytes(b"")
    refused(nothing, 78, "no table alembic_version")
    damaged = tmp_path / "damaged.db"
    octets = bytearray(site.path.read_bytes())
    octets[8192:12288] = b"\xff" * 4096
    damaged.write_bytes(octets)
    refused(damaged, 78, "damaged", ".recover")
    site.db.execute("DROP TABLE pendedkeyvalue")
    site.done()
    refused(site.path, 78, "no table pendedkeyvalue")
    site.db.execute("UPDATE alembic_version SET version_num = 'ffffffffffff'")
    site.done()
    refused(site.path, 78, '"ffffffffffff"', "2156fc3f6f7d (3.3.9)", "8cc1f79f4459 (3.3.10)", "b2e694dfde35 (3.2.0)")


def test_a_list_that_is_there_stays(empty, site):
    """Neither its settings nor its members, also not when the import is run again; all others come."""
    fill(site)
    empty.cli("domain", "create", HOST)
    empty.cli("list", "create", f"talk@{HOST}", "--owner", "mine@example.com")
    empty.cli("user", "create", "bob@example.com", "--display-name", "My Bob")
    for more in ((), ("--dry-run",), ()):
        told = bring(empty, source(site), *more, code=1)
        if not more:
            assert f"left out: {TALK}: a list talk@{HOST} with the List-Id {TALK} is there already" in told
    assert empty.cli("member", "ls", f"talk@{HOST}", "--names") == ""
    assert settings(empty, f"talk@{HOST}")["description"] == ""
    assert json.loads(empty.cli("user", "show", "bob@example.com", "--json"))["display_name"] == "My Bob"
    assert "news@" in empty.cli("list", "ls", "--names")


def test_it_goes_on_where_it_was_killed(instances, sink, tmp_path):
    """kill -9 at several moments; in the end nothing lacks and nothing is there twice."""
    site = mailman3.Site(tmp_path / "mailman")
    site.add("domain", mail_host=HOST, description="", alias_domain=None)
    for name in ("talk", "news"):
        site.list(f"{name}@{HOST}")
    for number in range(12000):
        user, (address,) = site.user(f"M {number}", f"m{number}@d{number % 7}.example.org")
        site.member(TALK, address=address)
        site.member(f"news.{HOST}", user=user, role=1 + number % 4)
    words = source(site)
    killed, whole = (instances(sink.port) for _ in range(2))
    for instance in (killed, whole):
        instance.create_store()
    for addresses, members in ((1, 0), (12000, 1), (12000, 12001)):
        process = subprocess.Popen([prefix() / "bin" / "listrunner", "--config", killed.config, "import", "mailman3",
                                    "--site",
                                    *map(str, words)], stdout=subprocess.DEVNULL)

        def far_enough():
            with killed.database() as database:
                there, = database.execute("SELECT count(*) FROM address").fetchone()
                in_lists, = database.execute("SELECT count(*) FROM member").fetchone()
            return process.poll() is not None or (there >= addresses and in_lists >= members)
        wait_until(far_enough, 60, "rows", step=0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
    bring(killed, words)
    bring(whole, words)

    def people(instance):
        with instance.database() as database:
            return [sorted(map(tuple, database.execute(sql).fetchall())) for sql in (
                "SELECT a.email, p.display_name, a.preferred FROM address a JOIN person p ON p.key = a.person",
                "SELECT l.list_id, m.role, m.email, m.by_person FROM member m JOIN list l ON l.key = m.list",
                "SELECT kind, sum(total) FROM span GROUP BY kind")]
    assert people(killed) == people(whole)
    assert people(whole)[2] == [(0, 15000), (1, 3000), (2, 3000), (3, 3000), (4, 12000), (5, 12000)]


# ---- Mailman 2.1 ----

def test_lists_of_mailman_2(empty, tmp_path):
    old, new = mailman2.make_list(tmp_path / "lists", "old"), mailman2.make_list(
        tmp_path / "lists", "new", default_member_moderation=1, archive=False, preferred_language=b"en")
    broken, hollow = tmp_path / "lists" / "broken", tmp_path / "lists" / "empty"
    broken.mkdir()
    (broken / "config.pck").write_bytes(pickle.dumps(Evil(tmp_path / "touched"), protocol=1))
    hollow.mkdir()
    words = ["import", "mailman2", old, broken, new, hollow, tmp_path / "lists"]
    empty.cli("domain", "create", HOST)
    dry = empty.run(*words, "--dry-run")
    done = empty.run(*words)
    assert (done.returncode, dry.returncode) == (1, 1), done.stderr
    assert not (tmp_path / "touched").exists()
    for told in (dry.stdout, done.stdout):
        assert re.search(r"^domains +0 +2$", told, re.MULTILINE), told
    for line in (f"left out: {broken}: {broken}/config.pck: it is no list of Mailman 2.1: byte ",
                 f"left out: {hollow}: it is no list of Mailman 2.1: the directory of one has the file config.pck\n",
                 f"left out: {tmp_path}/lists: it is no list of Mailman 2.1: the directory of one has the file "
                 f"config.pck; lists are in it, so name these: {broken} {new} {old}\n",
                 f"no equal here: old.{HOST}: welcome_msg: Hello.",
                 f"left out: old.{HOST}: member no address: ",
                 f"changed: old.{HOST}: msg_footer: lines with the address",
                 f"left out: old.{HOST}: header_filter_rules: \"no field\"",
                 f"no equal here: old.{HOST}: request.pck: 1 held posts and requests"):
        assert line in done.stdout and line in dry.stdout, (line, done.stdout)
    here = settings(empty, f"old@{HOST}")
    for name, value in {
            "description": "für alle", "display_name": "Old", "subject_prefix": "[old] ",
            "created_at": "2004-11-09T11:33:20Z",
            "accept_these_nonmembers": ["friend@example.org", "^.*@good\\.example$"], "advertised": False,
            "archive_policy": "private", "subscription_policy": "confirm_then_moderate", "posts": 320,
            "unsubscription_policy": "confirm", "member_roster_visibility": "public", "filter_action": "preserve",
            "reply_goes_to_list": "point_to_list", "filter_types": ["image/png"], "digest_size_threshold": 40,
            "bounce_info_stale_after": "7d", "default_nonmember_action": "reject", "default_member_action": "defer",
            "dmarc_mitigate_action": "munge_from", "dmarc_mitigate_unconditionally": True,
            "topics": ["cats: cat|kitten"],
            "acceptable_aliases": ["old@example.com", "^old-.*@example\\.com"], "autoresponse_grace_period": "30d",
            "msg_footer": "-- \n$display_name costs $$5, 100%"}.items():
        assert here[name] == value, (name, here[name])
    there = settings(empty, f"new@{HOST}")
    assert (there["default_member_action"], there["archive_policy"]) == ("reject", "never")
    members = {row["address"]: row for row in empty.rows("member", "ls", f"old@{HOST}")}
    assert list(members) == ["anne@example.com", "Bob@Example.com", "cate@example.com", "dora@example.com",
                             "emil@example.com"]
    anne = json.loads(empty.cli("member", "show", f"old@{HOST}", "anne@example.com", "--json"))
    assert members["anne@example.com"]["display_name"] == "Änne", anne
    with empty.database() as database:
        kept = {row[0]: tuple(row[1:]) for row in database.execute(
            "SELECT email, receive_own_postings, acknowledge_posts, receive_list_copy, hide_address, delivery_mode, "
            "delivery_status, moderation_action, preferred_language FROM member m JOIN list l ON l.key = m.list "
            "WHERE l.list_name = 'old' AND role = 0").fetchall()}
        posts = [bytes(row[0]) for row in database.execute("SELECT message FROM digest_post").fetchall()]
    assert kept == {
        "anne@example.com": (0, 1, 0, 0, None, None, None, "fr"), "Bob@Example.com": (None,) * 3 + (0,) + (None,) * 4,
        "cate@example.com": (None, None, None, 0, None, 2, 1, None),
        "dora@example.com": (None, None, None, None, 1, None, None, None),
        "emil@example.com": (None, None, None, 0, 2, 1, None, None)}
    assert posts == [b"Subject: one\n\nFrom here\n"] * 2
    assert empty.cli("member", "ls", f"old@{HOST}", "--role", "owner", "--names").split() == ["olga@example.com"]
    assert [(row["header"], row["action"]) for row in empty.rows("header-match", "ls", f"old@{HOST}")] == \
        [("x-spam-flag", "discard"), ("subject", "hold")]
    assert len(empty.rows("ban", "ls", f"old@{HOST}")) == 2
    again = empty.run(*words)
    assert "lists                             0              2" in again.stdout, again.stdout


def test_files_of_mailman_2_that_cannot_be_read(empty, tmp_path):
    """A digest that cannot be read now comes later, and other lists come meanwhile; what waits is told where nobody can
    count it."""
    first, path, last = (mailman2.make_list(tmp_path / "lists", name) for name in ("first", "old", "last"))
    digest = path / "digest.mbox"
    (path / "request.pck").write_bytes(b"nonsense")
    for option in (["--dry-run"], []):
        with leased(digest):
            done = empty.run("import", "mailman2", *option, first, path, last)
        assert done.returncode == 75 and f"{path} is not whole: {digest}: " in done.stderr, done.stderr
        assert str(first) not in done.stderr and str(last) not in done.stderr
        assert f"left out: old.{HOST}: request.pck: byte " in done.stdout, done.stdout
        assert re.search("^posts for digests +2 +0$", done.stdout, re.MULTILINE), done.stdout
        assert "The import is not complete" in done.stdout
    # Where it took long, the part of the list before its digest may be in.
    names = empty.cli("list", "ls", "--names").split()
    assert {f"first@{HOST}", f"last@{HOST}"} <= set(names)
    assert re.search(f"^lists +{len(names)} +0$", done.stdout, re.MULTILINE), done.stdout
    done = empty.run("import", "mailman2", first, path, last)
    assert done.returncode == 1 and re.search("posts for digests +1 +0", done.stdout), done.stdout
    assert re.search(f"^lists +{3 - len(names)} +{len(names)}$", done.stdout, re.MULTILINE), done.stdout
    # A part that is in is not gone through again, so nothing comes twice.
    assert "posts for digests" not in empty.run("import", "mailman2", path).stdout


@pytest.mark.sqlite
def test_half_a_digest_is_undone_before_the_next_list(empty, tmp_path):
    """Else the next run, which brings the whole of it, would bring the first half a second time."""
    path, last = (mailman2.make_list(tmp_path / "lists", name) for name in ("old", "last"))
    with open(path / "digest.mbox", "ab") as file:
        file.write(b"From a@example.net Fri Nov 20 13:20:00 2026\nSubject: two\n\nrefused\n\n")
    empty.cli("domain", "create", HOST)
    for refused in (True, False):
        with empty.database() as database:
            database.execute("CREATE TRIGGER broken BEFORE INSERT ON digest_post WHEN instr(NEW.message, 'refused') "
                             "BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END" if refused else
                             "DROP TRIGGER broken")
        done = empty.run("import", "mailman2", path, last)
        assert done.returncode == (75 if refused else 1) and (f"{path} is not whole: " in done.stderr) == refused, done
        with empty.database() as database:
            posts = dict(database.execute("SELECT l.list_name, count(*) FROM digest_post d "
                                          "JOIN list l ON l.key = d.list GROUP BY l.key").fetchall())
        assert posts == ({"last": 1} if refused else {"last": 1, "old": 2})

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Lists of Sympa move in: from directories and databases that are made here in the forms of Sympa 6.2."""
import contextlib
import json
import re
import sqlite3

import pytest

from support import postgresql
from support.instance import HOST

OTHER = "other.example.com"
BCRYPT = "$2a$05$abcdefghijklmnopqrstuuMFwEMCuCjDbRcnAOKKIcIGz6NkCQqYe"
TALK = """# made by hand
subject The talk of the town

visibility noconceal

send privateoreditorkey

subscribe auth_owner

unsubscribe open_notify

review private

reply_to_header
value other_email
other_email office@example.org
apply forced

custom_subject talk [%list.sequence%]

max_size 100000

digest 1,2,3,4,5,6,0 7:00

lang pt-BR

archive
web_access public
mail_access owner

process_archive on

dmarc_protection
mode dmarc_reject,dmarc_quarantine
phrase name_via_list

clean_delay_queuemod 12

topics computing

family_name staff

include_sql_query
db_host db.example.com
db_passwd s3cret

creation
date_epoch 1104537600
email olga@example.com

status open
"""
TABLES = """
CREATE TABLE subscriber_table (user_subscriber, list_subscriber, robot_subscriber, reception_subscriber,
  suspend_subscriber, suspend_start_date_subscriber, suspend_end_date_subscriber, bounce_score_subscriber,
  date_epoch_subscriber, inclusion_subscriber, comment_subscriber, visibility_subscriber, topics_subscriber,
  custom_attribute_subscriber);
CREATE TABLE admin_table (user_admin, list_admin, robot_admin, role_admin, profile_admin, comment_admin,
  reception_admin);
CREATE TABLE user_table (email_user, gecos_user, password_user, last_login_date_user, lang_user);
CREATE TABLE exclusion_table (list_exclusion, robot_exclusion, user_exclusion, date_exclusion, family_exclusion);
"""


def make_list(site, place, config):
    (site / place).mkdir(parents=True)
    (site / place / "config").write_bytes(config.encode() if isinstance(config, str) else config)
    return site / place


def make_database(path, members=(), staff=(), users=(), gone=()):
    """members: (list, robot, address, {column: value}); gone: (list, robot, address, time, family)."""
    with sqlite3.connect(path) as database:
        database.executescript(TABLES)
        for name, robot, address, more in members:
            row = {"user": address, "list": name, "robot": robot, **more}
            database.execute(f"INSERT INTO subscriber_table ({', '.join(f'{key}_subscriber' for key in row)}) "
                             f"VALUES ({', '.join('?' * len(row))})", list(row.values()))
        database.executemany("INSERT INTO admin_table VALUES (?, ?, ?, ?, 'normal', NULL, ?)",
                             [(*one[:4], one[4] if len(one) > 4 else "mail") for one in staff])
        database.executemany("INSERT INTO user_table VALUES (?, ?, ?, ?, ?)", users)
        database.executemany("INSERT INTO exclusion_table VALUES (?, ?, ?, ?, ?)", gone)
    database.close()
    return path


def bring(instance, *words, code=0):
    done = instance.run("import", "sympa", *words, timeout=120)
    assert done.returncode == code, f"{done.returncode}: {done.stderr}{done.stdout}"
    return done.stdout + done.stderr


def settings(instance, address):
    return json.loads(instance.cli("list", "show", address, "--json"))


def staff(instance, address, role):
    return instance.cli("member", "ls", "--names", f"--role={role}", address).split()


def make_site(tmp_path):
    site = tmp_path / "expl"
    talk = make_list(site, f"{HOST}/talk", TALK)
    (talk / "stats").write_text("41 2000 30000 4000\n")
    (talk / "message_footer").write_text("-- \n$5 a month\n")
    (talk / "info").write_text("All about talk\nfor $5\n")
    make_list(site, f"{HOST}/old", "subject Closed\n\nstatus closed\n")
    make_list(site, f"{HOST}/news", "subject News\n\nsend newsletter\n\nsubscribe closed\n\nvisibility intranet\n"
              "\nfamily_name staff\n\narchive\nweb_access owner\n\nprocess_archive on\n")
    make_list(site, f"{OTHER}/talk", "subject Another\n\nsend home_made\n\nsubscribe open_quiet\n\n"
              "family_name staff\n\nowner\n"
              "email config@example.com\ngecos Of the config\n")
    make_list(site, f"{OTHER}/broken", b"=\xff nothing\nsend public\n\nsubject caf\xe9\n\nlang xx\n\n"
              b"digest never\n\nremark " + b"x" * 5000 + b"\n\nreview public\nsend closed\n\nfamily_name x' OR ''='\n")
    make_list(site, f"{HOST}/linked", "")
    (site / HOST / "linked" / "config").unlink()
    (tmp_path / "outside").write_text("subject Outside\n\nsend public\n")
    (site / HOST / "linked" / "config").symlink_to(tmp_path / "outside")
    (site / "elsewhere").symlink_to(site / HOST)
    return site


def make_rows(path):
    return make_database(
        path,
        members=[("talk", HOST, "anne@example.com", {"comment": "Anne A", "reception": "mail"}),
                 ("talk", HOST, "Bob@Example.com", {"reception": "digest", "visibility": "conceal"}),
                 ("talk", HOST, "carl@example.org", {"reception": "digestplain", "bounce_score": 30}),
                 ("talk", HOST, "dora@example.org", {"reception": "summary", "topics": "sport"}),
                 ("talk", HOST, "away@example.org", {"reception": "nomail"}),
                 ("talk", HOST, "eve@example.org", {"reception": "not_me"}),
                 ("talk", HOST, "fay@example.org", {"reception": "notice"}),
                 ("talk", HOST, "gus@example.org", {"suspend": 1, "suspend_start_date": 1, "suspend_end_date": 4e9}),
                 ("talk", HOST, "hal@example.org", {"suspend": 1, "suspend_start_date": 1, "suspend_end_date": 2}),
                 ("talk", HOST, "ida@example.org", {"reception": "odd", "inclusion": 5}),
                 ("talk", HOST, "no address", {}),
                 ("talk", HOST, f"news@{HOST}", {}), ("talk", HOST, f"talk@{HOST}", {}),
                 ("news", HOST, "anne@example.com", {}), ("news", HOST, "mod@example.com", {}),
                 ("talk", OTHER, "zoe@example.net", {}), ("old", HOST, "nobody@example.org", {})],
        staff=[("olga@example.com", "talk", HOST, "owner"), ("mod@example.com", "talk", HOST, "editor", "nomail"),
               ("olaf@example.com", "news", HOST, "owner"), ("mod@example.com", "news", HOST, "editor"),
               ("master@example.com", "news", HOST, "listmaster")],
        users=[("anne@example.com", "Anne", BCRYPT, 1600000000, "de"),
               ("eve@example.org", "", "900150983cd24fb0d6963f7d28e17f72", None, "en-US"),
               ("stranger@example.org", "", BCRYPT, 1, "de"), ("fay@example.org", None, None, None, None)],
        gone=[("talk", HOST, "left@example.org", 1700000000, ""), ("talk", OTHER, "elsewhere@example.org", 0, ""),
              ("talk", HOST, "no address", 0, None), ("family:staff", HOST, "left@example.org", 1, "staff"),
              ("family:staff", HOST, "kin@example.org", 1600000000, "staff"),
              ("family:crew", HOST, "fresh@example.org", 1600000000, "crew"),
              ("family:crew", OTHER, "fresh@example.org", 1600000000, "x' OR ''='")])


TOLD = (f"no equal here: old.{HOST}: status: the list is closed", f"changed: news.{HOST}: subscribe: closed: ",
        f'changed: news.{HOST}: visibility: the scenario "intranet" is not known', f"changed: news.{HOST}: archive: ",
        f'changed: talk.{OTHER}: send: the scenario "home_made" is not known here',
        f"left out: broken.{OTHER}: config line 1: ", f"left out: broken.{OTHER}: config line 2: ",
        f"left out: broken.{OTHER}: config line 10: the line is too long",
        f"left out: broken.{OTHER}: config line 13: ",
        f'left out: broken.{OTHER}: digest: "never"', f"left out: broken.{OTHER}: lang: ",
        f"left out: linked.{HOST}: config: it is a symbolic link", f"no equal here: talk.{HOST}: topics: computing",
        f"no equal here: talk.{HOST}: family_name: staff", f"no equal here: broken.{OTHER}: family_name: x' OR ''='",
        f"no equal here: talk.{HOST}: include_sql_query: db_host db.example.com, db_passwd ...",
        f"no equal here: talk.{HOST}: dmarc_protection: phrase name_via_list",
        f"left out: talk.{HOST}: member no address: ", f"left out: talk.{HOST}: member talk@{HOST}: ",
        f"left out: talk.{HOST}: ida@example.org: ", f"changed: talk.{HOST}: reception notice: 1 ",
        f"changed: talk.{HOST}: suspend_end_date: 1 ",
        f"changed: talk.{HOST}: reception nomail: 1 ", f"changed: talk.{HOST}: inclusion: 1 ",
        f"no equal here: talk.{HOST}: topics: 1 ", f"no equal here: talk.{HOST}: bounce_score: 1 ",
        f"no equal here: talk.{HOST}: password: 1 ", f"left out: talk.{HOST}: who left, no address: ")


def test_a_site_of_two_robots(empty, tmp_path):
    site, database = make_site(tmp_path), make_rows(tmp_path / "sympa.sqlite")
    words = (site, "--db", database)
    expected = bring(empty, "--dry-run", *words, code=1)
    assert not empty.cli("list", "ls", "--names").strip(), "a dry run writes nothing"
    told = bring(empty, *words, code=1)
    assert told.replace("brought in", "would come") == expected
    for line in TOLD:
        assert "\n" + line in "\n" + told, (line, told)
    assert "s3cret" not in told and "Outside" not in told
    assert sorted(empty.cli("list", "ls", "--names").split()) == sorted(
        [f"talk@{HOST}", f"news@{HOST}", f"talk@{OTHER}", f"broken@{OTHER}"])
    for address, wanted in {
            f"talk@{HOST}": {
                "description": "The talk of the town", "advertised": True, "default_member_action": "defer",
                "default_nonmember_action": "hold", "accept_these_nonmembers": ["mod@example.com"],
                "subscription_policy": "confirm_then_moderate", "unsubscription_policy": "open",
                "admin_notify_mchanges": True, "member_roster_visibility": "members",
                "reply_goes_to_list": "explicit_header", "reply_to_address": "office@example.org",
                "first_strip_reply_to": True, "subject_prefix": "[talk %d] ", "max_message_size": 98,
                "digests_enabled": True, "digest_period": "daily", "digest_hour": "7", "preferred_language": "pt_BR",
                "archive_policy": "public", "dmarc_mitigate_action": "munge_from", "max_days_to_hold": 12,
                "dmarc_mitigate_unconditionally": False, "msg_footer": "-- \n$$5 a month\n",
                "info": "All about talk\nfor $5\n", "send_welcome_message": True},
            f"news@{HOST}": {
                "default_member_action": "reject", "default_nonmember_action": "reject", "advertised": False,
                "accept_these_nonmembers": ["mod@example.com"], "subscription_policy": "moderate",
                "archive_policy": "never", "subject_prefix": "", "digests_enabled": False, "max_message_size": 5120,
                "reply_goes_to_list": "no_munging", "dmarc_mitigate_action": "no_mitigation"},
            f"talk@{OTHER}": {"description": "Another", "default_member_action": "hold",
                              "default_nonmember_action": "hold", "subscription_policy": "open",
                              "send_welcome_message": False, "archive_policy": "never"},
            f"broken@{OTHER}": {"description": "caf�", "default_nonmember_action": "reject",
                                "member_roster_visibility": "public", "preferred_language": "en"}}.items():
        here = settings(empty, address)
        for key, value in wanted.items():
            assert here[key] == value, (address, key, here[key])
    members = {row["address"].lower(): row for row in empty.rows("member", "ls", f"talk@{HOST}")}
    assert set(members) == {"anne@example.com", "bob@example.com", "carl@example.org", "dora@example.org",
                            "away@example.org", "eve@example.org", "fay@example.org", "gus@example.org",
                            "hal@example.org", "ida@example.org", f"news@{HOST}"}
    for name, mode in (("bob@example.com", "mime_digests"), ("carl@example.org", "plaintext_digests"),
                       ("dora@example.org", "summary_digests"), ("fay@example.org", "regular")):
        assert members[name]["delivery_mode"] == mode, name
    for name, status in (("away@example.org", "by_user"), ("gus@example.org", "by_user"),
                         ("hal@example.org", "enabled")):
        assert members[name]["delivery_status"] == status, name
    assert staff(empty, f"talk@{HOST}", "owner") == ["olga@example.com"]
    assert staff(empty, f"news@{HOST}", "moderator") == ["mod@example.com"]
    assert staff(empty, f"talk@{OTHER}", "owner") == ["config@example.com"]
    assert empty.cli("member", "ls", "--names", f"talk@{OTHER}").split() == ["zoe@example.net"]
    with empty.database() as store:
        actions = dict(store.execute("SELECT lower(m.email), m.moderation_action FROM member m JOIN list l "
                                     "ON l.key = m.list WHERE l.list_id = ? AND m.role = 0",
                                     (f"news.{HOST}",)).fetchall())
        number, made = store.execute("SELECT post_id, created_at FROM list WHERE list_id = ?",
                                     (f"talk.{HOST}",)).fetchone()
        hashes = [row[0] for row in store.execute('SELECT password FROM person WHERE password IS NOT NULL').fetchall()]
        own, hidden = (store.execute(f"SELECT count(*) FROM member WHERE {what}").fetchone()[0]
                       for what in ("receive_own_postings = 0", "hide_address = 1"))
    assert actions == {"anne@example.com": None, "mod@example.com": 3}
    assert (number, made) == (42, 1104537600 * 10**6) and hashes == [BCRYPT] and (own, hidden) == (1, 1)
    # Again: nothing comes twice, and who left since stays away.
    empty.cli("member", "remove", f"talk@{HOST}", "carl@example.org")
    again = bring(empty, *words, code=1)
    assert "members" not in again.split("brought in")[1]
    assert "carl@example.org" not in empty.cli("member", "ls", "--names", f"talk@{HOST}")
    check_exclusions(empty, told)


def check_exclusions(instance, told):
    """A person who was excluded in Sympa stays out of that list's sources, or of those of all lists of the family, and
    of no other list's."""
    assert re.search(r"^kept out of sources +5 +0$", told, re.MULTILINE), told
    people = [f"{name}@example.org" for name in ("elsewhere", "fresh", "kin", "left")]
    outside = instance.create_list("outside", members=people)
    for address, kept in ((f"talk@{HOST}", {"left@example.org", "kin@example.org"}),
                          (f"news@{HOST}", {"left@example.org", "kin@example.org"}),
                          (f"talk@{OTHER}", {"elsewhere@example.org"}), (f"broken@{OTHER}", set())):
        instance.cli("list", "source", "add", address, "outside", "list", outside)
        done = instance.run("list", "source", "refresh", address)
        assert f"4 given, {4 - len(kept)} joined, 0 left, {len(kept)} kept out" in done.stdout + done.stderr, done
        came = set(instance.cli("member", "ls", "--names", address).split()) & set(people)
        assert came == set(people) - kept, address
    why = instance.run("list", "source", "why", f"talk@{HOST}", "left@example.org").stdout
    assert "(import, 2023-11-14" in why, why


def test_a_dry_run_on_a_site_with_people_and_lists(empty, tmp_path):
    """It tells what the real one then does: of addresses that are known here, and of lists here, which refuse names and
    members."""
    site, database = make_site(tmp_path), make_rows(tmp_path / "sympa.sqlite")
    outside = empty.create_list("outside", members=["anne@example.com", "Eve@Example.org", "fresh@example.org"])
    make_list(site, f"{HOST}/outside-owner", "subject Refused\n")
    make_list(site, f"{HOST}/outside", "subject Refused, too\n")
    with sqlite3.connect(database) as rows:
        rows.executemany("INSERT INTO subscriber_table (list_subscriber, robot_subscriber, user_subscriber) "
                         "VALUES ('news', ?, ?)", [(HOST, outside), (HOST, f"outside-owner@{HOST}")])
    rows.close()
    # Dumps first, whose people are known then.
    (tmp_path / "dumps").mkdir()
    early = make_list(tmp_path / "dumps", "early", "subject Early\n")
    (early / "member.dump").write_text("email stranger@example.org\n\nemail fay@example.org\n")
    for words in ((tmp_path / "dumps", "--domain", OTHER), (site, "--db", database)):
        expected = bring(empty, "--dry-run", *words, code=0 if OTHER in words else 1)
        told = bring(empty, *words, code=0 if OTHER in words else 1)
        assert told.replace("brought in", "would come") == expected
    assert re.search(r"^addresses +0 +4$", told, re.MULTILINE), told
    for line in (f"left out: outside.{HOST}: a list ", f"left out: outside-owner.{HOST}: outside-owner@{HOST} is the",
                 f"left out: news.{HOST}: member outside-owner@{HOST}: "):
        assert "\n" + line in "\n" + told, (line, told)
    assert outside in empty.cli("member", "ls", "--names", f"news@{HOST}").split()


def test_one_robot_and_dumps(empty, tmp_path):
    """Lists in no folder of a domain, without a database: whom Sympa dumped comes."""
    site = tmp_path / "list_data"
    talk, bare = make_list(site, "talk", "send closed\n"), make_list(site, "bare", "send editorkey\n")
    (talk / "member.dump").write_text("email anne@example.com\ngecos Anne A\nreception digest\n\n"
                                      "date 1\nreception mail\n\nvisibility conceal\nemail bob@example.com\n")
    (talk / "owner.dump").write_text("email olga@example.com\nprofile privileged\n")
    (bare / "subscribers").write_text("email anne@example.com\n\nemail carl@example.org\n")
    (bare / "editor.dump").write_text("email carl@example.org\n")
    assert "--domain" in bring(empty, site, code=78)
    assert not empty.cli("list", "ls", "--names").strip()
    told = bring(empty, site, "--domain", HOST, code=1)
    assert f"left out: talk.{HOST}: line 5 of its members: it has no email" in told
    members = {row["address"]: row for row in empty.rows("member", "ls", f"talk@{HOST}")}
    assert members.keys() == {"anne@example.com", "bob@example.com"}
    assert members["anne@example.com"]["delivery_mode"] == "mime_digests"
    assert staff(empty, f"talk@{HOST}", "owner") == ["olga@example.com"]
    assert staff(empty, f"bare@{HOST}", "moderator") == ["carl@example.org"]
    assert settings(empty, f"bare@{HOST}")["accept_these_nonmembers"] == ["carl@example.org"]
    assert len(empty.rows("member", "ls", f"bare@{HOST}")) == 2


def test_one_domain_of_several(empty, tmp_path):
    """Of a Sympa before 6.2, whose database knows of no families that somebody left."""
    site, database = make_site(tmp_path), make_rows(tmp_path / "sympa.sqlite")
    with contextlib.closing(sqlite3.connect(database)) as older:
        older.execute("ALTER TABLE exclusion_table DROP COLUMN family_exclusion")
        older.commit()
    bring(empty, site, "--db", database, "--domain", OTHER, code=1)
    assert sorted(empty.cli("list", "ls", "--names").split()) == [f"broken@{OTHER}", f"talk@{OTHER}"]
    told = bring(empty, site, "--db", database, code=1)
    assert empty.cli("member", "ls", "--names", f"news@{HOST}").split() == ["anne@example.com", "mod@example.com"], told


def test_what_is_refused(empty, tmp_path):
    """A run that refuses writes nothing."""
    site = tmp_path / "expl"
    make_list(site, f"{HOST}/talk", "send public\n")
    foreign, damaged, nothing = tmp_path / "foreign.sqlite", tmp_path / "damaged.sqlite", tmp_path / "nothing"
    with sqlite3.connect(foreign) as database:
        database.execute("CREATE TABLE subscriber_table (user_subscriber)")
    database.close()
    damaged.write_bytes(make_rows(tmp_path / "whole.sqlite").read_bytes()[:4096] + b"\xff" * 8192)
    nothing.mkdir()
    for words, says in (((site, "--db", foreign), "list_subscriber"), ((site, "--db", damaged), "damaged"),
                        ((site, "--db", tmp_path / "missing"), "missing"),
                        ((nothing,), "no list of Sympa (DOMAIN/LIST/config)\n"),
                        ((tmp_path,), f"no list of Sympa (DOMAIN/LIST/config), but there are in {site}\n"),
                        ((site / HOST / "talk",), f"{HOST}/talk is one list of Sympa; name the directory that has all"),
                        ((site / HOST,), "name it with --domain, or the directory above in place"),
                        ((tmp_path / "gone",), "gone"),
                        ((site, "--db", "oracle://db.example.com/sympa"), "copy the database of another one")):
        done = empty.run("import", "sympa", *words, timeout=60)
        assert done.returncode not in (0, 1) and says in done.stderr, (words, done)
        assert not empty.cli("list", "ls", "--names").strip(), words


NUMBERS = {"suspend_subscriber", "suspend_start_date_subscriber", "suspend_end_date_subscriber",
           "bounce_score_subscriber", "date_epoch_subscriber", "inclusion_subscriber", "last_login_date_user",
           "date_exclusion"}


def copy_database(path, there):
    """The rows of a database of SQLite into a server's, whose columns are of the types that Sympa gives them there."""
    with contextlib.closing(sqlite3.connect(path)) as here:
        for table in ("subscriber_table", "admin_table", "user_table", "exclusion_table"):
            found = here.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in found.description]
            types = ", ".join(f"{name} {'bigint' if name in NUMBERS else 'varchar(500)'}" for name in names)
            cursor = there.cursor()
            cursor.execute(f"CREATE TABLE {table} ({types})")
            for row in found.fetchall():
                cursor.execute(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row)
    there.commit()


@pytest.mark.parametrize("kind", ("server", "mysql"))
def test_a_database_of_a_server(empty, tmp_path, request, kind):
    server = request.getfixturevalue(kind)
    site, path = make_site(tmp_path), make_rows(tmp_path / "sympa.sqlite")
    with contextlib.closing(server.emptied("sympa") if kind == "mysql" else
                            postgresql.connect(server.url("public"))) as there:
        copy_database(path, there)
    told = bring(empty, site, "--db", server.url("sympa" if kind == "mysql" else "public"), code=1)
    for line in TOLD:
        assert "\n" + line in "\n" + told, (line, told)
    assert len(empty.rows("member", "ls", f"talk@{HOST}")) == 11
    assert staff(empty, f"talk@{HOST}", "owner") == ["olga@example.com"]

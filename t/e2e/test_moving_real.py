# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A real GNU Mailman 3, filled through its own interface, moves in: from SQLite and from MariaDB."""
import pytest

from support import mailman3_core, rest
from support.instance import HOST, wait_until
from test_moving import OTHER, RAW, bring, post

PEOPLE = 30


def fill_core(core):
    """Through its own interface, and by mail; returns what its settings are called and are."""
    client = core.client()
    domain, other = client.create_domain(HOST, description="Zürich"), client.create_domain(OTHER)
    talk, news = domain.create_list("talk"), other.create_list("news", style_name="legacy-announce")
    anne = client.create_user("anne@example.com", "a password", "Anne Müller 日本")
    anne.add_address("anne.second@example.net")
    for address in anne.addresses:
        address.verify()
    anne.preferred_address = "anne@example.com"
    known = {"pre_verified": True, "pre_confirmed": True, "pre_approved": True}
    talk.subscribe(anne.user_id, **known)
    talk.subscribe("anne.second@example.net", **known)
    for number in range(PEOPLE):
        talk.subscribe(f"m{number}@example.net", display_name=f"M {number}", **known)
    news.subscribe("carol@example.com", display_name='"C, C." <x>', **known)
    talk.add_owner("olga@example.com")
    talk.add_moderator("mo@example.com")
    domain.add_owner("anne@example.com")
    for who, values in ((anne, {"receive_own_postings": False, "preferred_language": "de"}),
                        (client.get_address("m0@example.net"), {"acknowledge_posts": True}),
                        (talk.get_member("m1@example.net"), {"delivery_mode": "mime_digests"}),
                        (talk.get_member("m2@example.net"), {"delivery_status": "by_user", "hide_address": False})):
        preferences = who.preferences
        for name, value in values.items():
            preferences[name] = value
        preferences.save()
    member = talk.get_member("m3@example.net")
    member.moderation_action = "hold"
    member.save()
    changed = talk.settings
    changed.update({"description": "Über dies & das", "info": "Zeile 1\nZeile 2", "subject_prefix": "[Täglich] ",
                    "accept_these_nonmembers": ["friend@example.org", "^.*@good\\.example$"], "emergency": False,
                    "acceptable_aliases": ["talk@old.example.com"], "subscription_policy": "confirm_then_moderate",
                    "filter_content": True, "filter_types": ["image/jpeg"], "filter_extensions": ["exe"],
                    "reply_goes_to_list": "explicit_header", "reply_to_address": "office@example.org",
                    "archive_policy": "private", "preferred_language": "de", "max_message_size": 100,
                    "autorespond_owner": "respond_and_continue", "autoresponse_owner_text": "Danke, $listname",
                    "bounce_info_stale_after": "14d", "member_roster_visibility": "members", "advertised": False,
                    "digest_volume_frequency": "yearly", "moderator_password": "sesame", "personalize": "full"})
    changed.save()
    talk.bans.add("^.*@evil\\.example$")
    client.bans.add("site-evil@example.com")
    talk.header_matches.add("X-Spam-Flag", "^yes", "discard", "spam")
    tokens = {"moderator": talk.subscribe("asks@example.com", pre_verified=True, pre_confirmed=True)["token"]}
    news.subscribe("invited@example.com", invitation=True)
    core.send(RAW.replace(b"\n", b"\r\n"), f"talk@{HOST}", "stranger@example.net")
    core.send(post("m3@example.net", f"talk@{HOST}", "moderated"), f"talk@{HOST}", "m3@example.net")
    core.send(post("m4@example.net", f"talk@{HOST}", "for the digest"), f"talk@{HOST}", "m4@example.net")
    core.send(post("joiner@example.com", f"talk-join@{HOST}"), f"talk-join@{HOST}", "joiner@example.com")
    wait_until(lambda: not core.waiting() and len(client.get_list(f"talk@{HOST}").held) == 2 and
               list(core.top.glob("var/lists/*/digest.mmdf")), 120, "Mailman to have held and collected", step=0.5)
    return {name: dict(client.get_list(name).settings) for name in (f"talk@{HOST}", f"news@{OTHER}")}


@pytest.mark.proof
@pytest.mark.skipif(mailman3_core.missing() is not None, reason=str(mailman3_core.missing()))
@pytest.mark.parametrize("kind", ("sqlite", "mysql"))
def test_a_real_mailman(empty, sink, request, kind):
    url = request.getfixturevalue("mysql").url("core") if kind == "mysql" else None
    core = mailman3_core.Core(database=url)
    try:
        there = fill_core(core.start())
        core.stop()
        told = bring(empty, ["--db", url or core.top / "var/data/mailman.db", "--var", core.top / "var"], code=1)
    finally:
        core.close()
    left = [line for line in told.splitlines() if line.startswith(("left out", "no equal")) and "queue" not in line]
    assert not left, left
    # Listrunner's REST interface says the same of each setting as Mailman's did.
    from mailmanclient import Client
    empty.set(rest.serving(empty.directory))
    empty.start()
    ours = Client(f"http://{empty.sections['runner.rest']['listen']}/3.1", rest.USER, rest.PASSWORD)
    for name, values in there.items():
        here = dict(ours.get_list(name).settings)
        differ = {key: (value, here.get(key)) for key, value in values.items() if here.get(key) != value and
                  key not in ("http_etag", "self_link", "digest_last_sent_at", "last_post_at", "usenet_watermark",
                              "moderator_password")}
        assert not differ, differ
    held = empty.rows("held", "ls")
    assert sorted(row["subject"] for row in held) == ["café", "moderated"]
    with empty.database() as database:
        messages = [bytes(row[0]) for row in database.execute("SELECT message FROM held").fetchall()]
        password, = database.execute("SELECT value FROM list_setting WHERE name = 'moderator_password'").fetchone()
    assert RAW in messages and password == there[f"talk@{HOST}"]["moderator_password"]
    assert {row["address"] for row in empty.rows("pending", "ls")} == \
        {"asks@example.com", "invited@example.com", "joiner@example.com"}
    assert len(empty.cli("member", "ls", f"talk@{HOST}", "--names").split()) == PEOPLE + 2
    assert "1" in empty.cli("digest", "ls")

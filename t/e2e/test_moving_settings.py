# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Every setting of another list system, with a value that is not its default: it comes, or it is named."""
import datetime
import json
import re

import pytest

from support import mailman2
from support.instance import HOST

NAMED = object()
DAY = 86400

READ = object()
# Each attribute of a list of Mailman 2.1: the value there, and that of the setting here, with its name
# where it has another; or NAMED: the report names the attribute; or READ: it is no setting, and is looked at below.
MAILMAN2 = {
    "accept_these_nonmembers": ([b"friend@example.org", b"@staff"], ["friend@example.org", f"@staff.{HOST}"]),
    "acceptable_aliases": (b"old@example.com\r\n^x", ["old@example.com", "^x"]),
    "admin_immed_notify": (0, False), "admin_member_chunksize": (50, NAMED), "admin_notify_mchanges": (1, True),
    "administrivia": (0, False), "advertised": (0, False), "anonymous_list": (1, True),
    "archive": (0, ("archive_policy", "never")), "archive_private": (1, ("archive_policy", "never")),
    "archive_volume_frequency": (0, NAMED), "autorespond_admin": (1, ("autorespond_owner", "respond_and_continue")),
    "autorespond_postings": (1, "respond_and_continue"), "autorespond_requests": (1, "respond_and_discard"),
    "autoresponse_admin_text": (b"%(listname)s: $5 100%%", ("autoresponse_owner_text", "$display_name: $$5 100%")),
    "autoresponse_graceperiod": (30, ("autoresponse_grace_period", "30d")),
    "autoresponse_postings_text": (b"write to %(requestemail)s", "write to $request_address"),
    "autoresponse_request_text": (b"%(owneremail)s", "$owner_address"), "available_languages": ([b"de", b"fr"], NAMED),
    "ban_list": ([b"evil@example.com"], READ), "bounce_info_stale_after": (86400.0 * 3, "3d"),
    "bounce_matching_headers": (b"X-Spam: yes\n", "X-Spam: yes\n"),
    "bounce_notify_owner_on_bounce_increment": (1, True), "bounce_notify_owner_on_disable": (0, False),
    "bounce_notify_owner_on_removal": (0, False), "bounce_processing": (0, ("process_bounces", False)),
    "bounce_score_threshold": (4.0, 4),
    "bounce_unrecognized_goes_to_list_owner": (0, ("forward_unrecognized_bounces_to", "discard")),
    "bounce_you_are_disabled_warnings": (2, 2), "bounce_you_are_disabled_warnings_interval": (86400.0, "1d"),
    "collapse_alternatives": (0, False), "convert_html_to_plaintext": (0, False),
    "default_member_moderation": (1, ("default_member_action", "reject")), "description": (b"all", "all"),
    "digest_footer": (b"our own", NAMED), "digest_header": (b"above", NAMED), "digest_is_default": (1, True),
    "digest_send_periodic": (0, False), "digest_size_threshhold": (60, ("digest_size_threshold", 60)),
    "digest_volume_frequency": (3, "weekly"), "digestable": (0, ("digests_enabled", False)),
    "discard_these_nonmembers": ([b"^x@"], ["^x@"]),
    "dmarc_moderation_action": (3, ("dmarc_mitigate_action", "munge_from")),
    "dmarc_moderation_addresses": ([b"^a@", b"b@example.org"], ("dmarc_addresses", ["^a@", "b@example.org"])),
    "dmarc_moderation_notice": (b"no", "no"), "dmarc_none_moderation_action": (1, NAMED),
    "dmarc_quarantine_moderation_action": (0, NAMED), "dmarc_wrapped_message_text": (b"inside", "inside"),
    "drop_cc": (0, NAMED), "emergency": (1, True), "encode_ascii_prefixes": (1, NAMED),
    "equivalent_domains": (b"a.example b.example", NAMED), "filter_action": (2, "forward"),
    "filter_content": (1, True), "filter_filename_extensions": ([b"exe"], ("filter_extensions", ["exe"])),
    "filter_mime_types": ([b"image/png"], ("filter_types", ["image/png"])), "first_strip_reply_to": (1, True),
    "forward_auto_discards": (0, NAMED), "from_is_list": (1, ("dmarc_mitigate_unconditionally", True)),
    "gateway_to_mail": (1, True), "gateway_to_news": (1, True),
    "generic_nonmember_action": (3, ("default_nonmember_action", "discard")), "goodbye_msg": (b"bye", NAMED),
    "header_filter_rules": ([(b"^(To|Cc): x", 3, 0), (b"^[Ss]ender: y\r\n^Nonsense", 1, 0)], READ),
    "hold_these_nonmembers": ([b"h@example.org"], ["h@example.org"]),
    "include_list_post_header": (0, ("allow_list_posts", False)), "include_rfc2369_headers": (0, False),
    "include_sender_header": (0, NAMED), "info": (b"one\r\ntwo", "one\ntwo"),
    "linked_newsgroup": (b"local.x", "local.x"),
    "max_days_to_hold": (9, 9), "max_message_size": (77, 77), "max_num_recipients": (7, 7),
    "member_moderation_action": (1, ("default_member_action", "reject")), "member_moderation_notice": (b"wait", NAMED),
    "member_verbosity_interval": (5, NAMED), "member_verbosity_threshold": (6, NAMED),
    "mime_is_default_digest": (1, NAMED), "mod_password": (b"secret", NAMED),
    "msg_header": (b"$description", "$$description"),
    "msg_footer": (b"_____\n%(real_name)s mailing list\n%(web_page_url)slistinfo%(cgiext)s/%(_internal_name)s\n",
                   f"_____\n$display_name mailing list\nhttps://lists.example.com/m/list/full.{HOST}\n"),
    "new_member_options": (0, NAMED), "news_moderation": (1, ("newsgroup_moderation", "open_moderated")),
    "news_prefix_subject_too": (0, ("nntp_prefix_subject_too", False)), "nntp_host": (b"news.example.com", NAMED),
    "nondigestable": (0, NAMED), "nonmember_rejection_notice": (b"sorry", NAMED), "obscure_addresses": (0, NAMED),
    "pass_filename_extensions": ([b"txt"], ("pass_extensions", ["txt"])),
    "pass_mime_types": ([b"text/plain"], ("pass_types", ["text/plain"])), "personalize": (2, "full"),
    "post_password": (b"secret", NAMED), "preferred_language": (b"fr", "fr"),
    "private_roster": (2, ("member_roster_visibility", "moderators")), "real_name": (b"Full", ("display_name", "Full")),
    "regular_exclude_ignore": (0, NAMED), "regular_exclude_lists": ([b"a@b.example"], NAMED),
    "regular_include_lists": ([b"c@b.example"], NAMED),
    "reject_these_nonmembers": ([b"r@example.org"], ["r@example.org"]),
    "reply_goes_to_list": (2, "explicit_header"), "reply_to_address": (b"r@example.org", "r@example.org"),
    "require_explicit_destination": (0, False), "respond_to_post_requests": (0, False), "scrub_nondigest": (1, NAMED),
    "send_goodbye_msg": (0, ("send_goodbye_message", False)), "send_welcome_msg": (0, ("send_welcome_message", False)),
    "subject_prefix": (b"[f] ", "[f] "), "subscribe_auto_approval": ([b"^a"], NAMED),
    "subscribe_policy": (2, ("subscription_policy", "moderate")),
    "topics": ([(b"cats", b"cat\r\n\r\nkitten\r\n", b"", 0), (b"dogs", b"dog", b"", 0)],
               ["cats: cat|kitten", "dogs: dog"]),
    "topics_bodylines_limit": (9, 9), "topics_enabled": (1, True), "umbrella_list": (1, NAMED),
    "umbrella_member_suffix": (b"-admin", NAMED), "unsubscribe_policy": (1, ("unsubscription_policy", "moderate")),
    "welcome_msg": (b"hello", NAMED), "local_extension": (7, NAMED),
    # Not settings: data, and what Mailman keeps for itself.
    "_internal_name": (b"full", READ), "host_name": (HOST.encode(), READ), "owner": ([b"olga@example.com"], READ),
    "moderator": ([b"mo@example.com"], READ), "created_at": (1.1e9, READ), "last_post_time": (1.6e9, READ),
    "post_id": (5.0, READ), "volume": (4, READ), "next_digest_number": (2, READ), "digest_last_sent_at": (1.5e9, READ),
    "usenet_watermark": (7, READ), "data_version": (110, READ), "password": (b"secret", READ), "passwords": ({}, READ),
    "web_page_url": (b"http://lists.example.com/mailman/", READ), "send_reminders": (0, READ),
    "use_dollar_strings": (0, READ), "hold_and_cmd_autoresponses": ({}, READ), "language": ({}, READ),
    "members": ({b"anne@example.com": 0, b"bob@example.com": 0, b"cate@example.com": 0}, READ),
    "digest_members": ({b"dora@example.com": 0}, READ),
    "user_options": ({b"anne@example.com": 64 | 128, b"emil@example.com": 8}, READ), "usernames": ({}, READ),
    "topics_userinterest": ({b"anne@example.com": [b"dogs"], b"bob@example.com": []}, READ),
    "delivery_status": ({b"cate@example.com": (4, 1.5e9)}, READ),
    "one_last_digest": ({b"bob@example.com": 1}, READ),
    "admin_responses": ({b"who@example.org": 1.6e9 + 30 * 86400}, READ),
    "postings_responses": ({b"bob@example.com": 1.7e9}, READ), "request_responses": ({}, READ),
    "bounce_info": ({b"bob@example.com": mailman2.Bounces(score=2.5, date=(2026, 11, 20)),
                     b"cate@example.com": mailman2.Bounces(date=(2026, 11, 1), noticesleft=1,
                                                           lastnotice=(2026, 11, 20))}, READ),
}


@pytest.fixture
def site(instances, sink):
    instance = instances(sink.port, settings={"site": {"web_url": "https://lists.example.com/m"}})
    instance.cli("store", "create")
    return instance


def test_every_attribute_of_mailman_2(site, tmp_path):
    path = mailman2.write_list(tmp_path / "lists" / "full", {name: value for name, (value, _) in MAILMAN2.items()})
    done = site.run("import", "mailman2", path)
    assert done.returncode == 1, done
    here = json.loads(site.cli("list", "show", f"full@{HOST}", "--json"))
    wrong = {}
    for name, (value, becomes) in MAILMAN2.items():
        named = re.findall(rf"^[a-z ]+: full\.{re.escape(HOST)}: {name}: .*$", done.stdout, re.MULTILINE)
        if becomes is NAMED and not named:
            wrong[name] = "is not named"
        elif becomes is not NAMED and becomes is not READ:
            ours, wanted = becomes if isinstance(becomes, tuple) else (name, becomes)
            if here.get(ours) != wanted or named:
                wrong[name] = here.get(ours), wanted, named
    assert not wrong, (wrong, done.stdout)
    assert "secret" not in done.stdout
    assert [row for row in done.stdout.splitlines() if "header_filter_rules" in row] == [
        f"left out: full.{HOST}: header_filter_rules: \"^Nonsense\" is no field with a pattern, or its action is none"]
    assert {(row["header"], row["pattern"], row["action"]) for row in site.rows("header-match", "ls", f"full@{HOST}")} \
        == {("to", "x", "discard"), ("cc", "x", "discard"), ("sender", "y", "hold")}
    assert len(site.rows("ban", "ls", f"full@{HOST}")) == 1
    with site.database() as database:
        members = {row[0]: tuple(row[1:]) for row in database.execute(
            "SELECT email, moderation_action, topics, topics_unmatched FROM member WHERE role = 0").fetchall()}
        bounces = {row[0]: tuple(row[1:]) for row in database.execute(
            "SELECT email, score, warnings, last_bounce_at / 1000000, disabled_at / 1000000 FROM bounce_score b "
            "JOIN member m ON m.key = b.member").fetchall()}
        due = [row[0] for row in database.execute(
            "SELECT next_at FROM bounce_score b JOIN member m ON m.key = b.member ORDER BY email").fetchall()]
        answers = {tuple(row) for row in database.execute(
            "SELECT kind, address, answered_at / 1000000 FROM autoresponse").fetchall()}
        last = database.execute("SELECT email FROM digest_last d JOIN address a ON a.key = d.address").fetchall()
    assert members == {"anne@example.com": (1, "dogs", 1), "bob@example.com": (4, None, None),
                       "cate@example.com": (4, None, None), "dora@example.com": (4, None, None)}
    november = int(datetime.datetime(2026, 11, 1, tzinfo=datetime.timezone.utc).timestamp())
    assert bounces == {"bob@example.com": (250, 0, november + 19 * DAY, 0),
                       "cate@example.com": (0, 1, november, november)}
    assert due[0] == (november + 22 * DAY) * 10**6 + 1 and due[1] >= (november + 20 * DAY) * 10**6
    assert answers == {("owner", "who@example.org", 1600000000), ("postings", "bob@example.com", 1700000000 - 30 * DAY)}
    assert [tuple(row) for row in last] == [("bob@example.com",)]


def test_texts_with_dollars_and_without_pages(empty, tmp_path):
    """Lists whose texts have $name; where the site has no pages, the line with a page's address goes. Mailman's own
    footer of digests is not told. Two lists, one of which names the other."""
    footers = [b"${real_name} costs $$5 of $other\n${web_page_url}listinfo${cgiext}/${_internal_name}\nend",
               b"%(real_name)s $x\n<%(web_page_url)slistinfo%(cgiext)s/%(list_name)s>\n100%%"]
    paths = [mailman2.write_list(tmp_path / name, {
        "_internal_name": name.encode(), "host_name": HOST.encode(), "members": {}, "use_dollar_strings": 1 - at,
        "msg_footer": footers[at], "discard_these_nonmembers": [b"@two" if at == 0 else b"@one"],
        "digest_footer": b"_" * 47 + b"\n%(real_name)s mailing list\n"
                         b"%(web_page_url)slistinfo%(cgiext)s/%(_internal_name)s\n"})
        for at, name in enumerate(["one", "two"])]
    done = empty.run("import", "mailman2", *paths)
    assert done.returncode == 0, done
    here = [json.loads(empty.cli("list", "show", f"{name}@{HOST}", "--json")) for name in ("one", "two")]
    assert [one["msg_footer"] for one in here] == ["$display_name costs $$5 of $$other\nend",
                                                   "$display_name $$x\n100%"]
    assert [one["discard_these_nonmembers"] for one in here] == [[f"@two.{HOST}"], [f"@one.{HOST}"]]
    assert done.stdout.count("lines with the address of a page of Mailman are left out") == 2
    assert done.stdout.count("has no equal here, and stays as it is written") == 1
    assert "digest_footer" not in done.stdout

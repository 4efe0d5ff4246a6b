# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Every setting of another list system, with a value that is not its default: it comes, or it is named."""
import datetime
import json
import pickle
import re

import pytest

import test_ezmlm
import test_mlmmj
import test_sympa
from support import mailman2, mailman3
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


# ---- the other systems: (what stands there, the setting here and its value, or NAMED), as above ----

WORDS = mailman3.pickled_list
# Each column of the table mailinglist of Mailman 3.3.11 that is a setting.
MAILMAN3 = {
    "accept_these_nonmembers": (WORDS(["friend@example.org", "@full." + HOST]),
                               ["friend@example.org", f"@full.{HOST}"]),
    "admin_immed_notify": (0, False), "admin_notify_held_with_attachment": (0, False),
    "admin_notify_mchanges": (1, True), "administrivia": (0, False), "advertised": (0, False),
    "allow_list_posts": (0, False), "anonymous_list": (1, True), "archive_policy": (1, "private"),
    "archive_rendering_mode": (2, "markdown"), "autorespond_owner": (2, "respond_and_continue"),
    "autorespond_postings": (1, "respond_and_discard"), "autorespond_requests": (2, "respond_and_continue"),
    "autoresponse_grace_period": ("1970-01-31 00:00:00.000000", "30d"), "autoresponse_owner_text": ("o", "o"),
    "autoresponse_postings_text": ("p $what", "p $$what"), "autoresponse_request_text": ("r", "r"),
    "bounce_info_stale_after": ("1970-01-04 00:00:00.000000", "3d"), "bounce_matching_headers": ("X-A: b", "X-A: b"),
    "bounce_notify_owner_on_bounce_increment": (1, True), "bounce_notify_owner_on_disable": (0, False),
    "bounce_notify_owner_on_removal": (0, False), "bounce_score_threshold": (9, 9),
    "bounce_you_are_disabled_warnings": (2, 2),
    "bounce_you_are_disabled_warnings_interval": ("1970-01-03 00:00:00.000000", "2d"),
    "collapse_alternatives": (0, False), "convert_html_to_plaintext": (1, True),
    "default_member_action": (0, "hold"), "default_nonmember_action": (2, "discard"), "description": ("d", "d"),
    "digest_is_default": (1, NAMED), "digest_send_periodic": (0, False), "digest_size_threshold": (0.0, 0),
    "digest_volume_frequency": (3, "weekly"), "digests_enabled": (0, False),
    "discard_these_nonmembers": (WORDS(["^x@"]), ["^x@"]), "display_name": ("Full", "Full"),
    "dmarc_addresses": (WORDS(["a@b.example"]), ["a@b.example"]), "dmarc_mitigate_action": (1, "munge_from"),
    "dmarc_mitigate_unconditionally": (1, True), "dmarc_moderation_notice": ("n", "n"),
    "dmarc_wrapped_message_text": ("w", "w"), "emergency": (1, True), "encode_ascii_prefixes": (1, NAMED),
    "filter_action": (1, "reject"), "filter_content": (1, True), "first_strip_reply_to": (1, True),
    "forward_auto_discards": (0, NAMED), "forward_unrecognized_bounces_to": (2, "site_owner"),
    "gateway_to_mail": (1, True), "gateway_to_news": (1, True),
    "hold_these_nonmembers": (WORDS(["h@example.org"]), ["h@example.org"]), "include_rfc2369_headers": (0, False),
    "info": ("i", "i"), "linked_newsgroup": ("local.x", "local.x"), "max_days_to_hold": (4, 4),
    "max_message_size": (77, 77), "max_num_recipients": (5, 5), "member_moderation_notice": ("w", NAMED),
    "member_roster_visibility": (0, "public"), "newsgroup_moderation": (1, "open_moderated"),
    "nntp_prefix_subject_too": (0, False), "nonmember_rejection_notice": ("w", NAMED), "obscure_addresses": (0, NAMED),
    "owner_chain": ("accept", NAMED), "owner_pipeline": ("mine", NAMED), "personalize": (2, "full"),
    "posting_chain": ("mine", NAMED), "posting_pipeline": ("mine", NAMED), "preferred_language": ("de", "de"),
    "process_bounces": (0, False), "reject_these_nonmembers": (WORDS(["r@example.org"]), ["r@example.org"]),
    "reply_goes_to_list": (2, "explicit_header"), "reply_to_address": ("r@example.org", "r@example.org"),
    "require_explicit_destination": (0, False), "respond_to_post_requests": (0, False), "scrub_nondigest": (1, NAMED),
    "send_goodbye_message": (0, False), "send_welcome_message": (0, False), "subject_prefix": ("[f] ", "[f] "),
    "subscription_policy": (3, "confirm_then_moderate"),
    "topics": (pickle.dumps([("cats", "cat", "", 0)]), ["cats: cat"]),
    "topics_bodylines_limit": (9, 9), "topics_enabled": (1, True), "unsubscription_policy": (2, "moderate"),
    "moderator_password": (b"secret", NAMED),
}
# Each file of control/ that mlmmj's README and TUNABLES name.
MLMMJ = {
    "access": ("reject ^X-Spam\n", NAMED), "addtohdr": ("", ("personalize", "full")), "bouncelife": ("9\n", NAMED),
    "closedlistsub": ("", NAMED), "customheaders": ("X-Loop: full\n", NAMED), "delheaders": ("Received:\n", NAMED),
    "delimiter": ("-\n", NAMED), "digestinterval": ("86400\n", NAMED), "digestmaxmails": ("9\n", NAMED),
    "footer": ("-- \n$5\n", ("msg_footer", "-- \n$$5\n")), "ifsubonlypost": ("x\n", NAMED),
    "listaddress": (f"full@{HOST}\nold@example.com\n", ("acceptable_aliases", ["old@example.com"])),
    "maxmailsize": ("2048\n", ("max_message_size", 2)), "maxverprecips": ("9\n", NAMED),
    "memorymailsize": ("9\n", NAMED), "moderated": ("", ("default_member_action", "hold")),
    "modnonsubposts": ("", ("default_nonmember_action", "hold")), "modreqlife": ("172800\n", ("max_days_to_hold", 2)),
    "noaccessdenymails": ("", NAMED), "noarchive": ("", ("archive_policy", "never")), "nodigestsub": (
        "", ("digests_enabled", False)), "nodigesttext": ("", NAMED), "noget": ("", NAMED),
    "nolistsubsemail": ("", NAMED), "nomaxmailsizedenymails": ("", NAMED), "nomodonlydenymails": ("", NAMED),
    "nonomailsub": ("", NAMED), "nosubconfirm": ("", ("unsubscription_policy", "open")),
    "nosubmodmails": ("", NAMED), "nosubonlydenymails": ("", NAMED),
    "notifymod": ("", ("respond_to_post_requests", True)),
    "notifysub": ("", ("admin_notify_mchanges", True)), "notmetoo": ("", READ), "notoccdenymails": ("", NAMED),
    "originalmail": ("", NAMED), "owner": ("olga@example.com\n", READ), "prefix": ("[f]\n", ("subject_prefix", "[f] ")),
    "relayhost": ("10.0.0.1\n", NAMED), "smtphelo": ("x\n", NAMED), "smtpport": ("26\n", NAMED),
    "staticbounceaddr": ("b@example.com\n", NAMED),
    "submod": ("mod@example.com\n", ("subscription_policy", "moderate")),
    "subonlyget": ("", NAMED), "subonlypost": ("", READ), "tocc": ("", ("require_explicit_destination", False)),
    "verp": ("postfix\n", NAMED), "of_tomorrow": ("x\n", NAMED),
}
# Each file of ezmlm(5) and ezmlm-idx.
EZMLM = {
    "archived": ("", ("archive_policy", "private")), "charset": ("utf-8\n", NAMED), "confirmpost": ("", NAMED),
    "copylines": ("9\n", NAMED), "digcount": ("9\n", NAMED), "digested": ("", ("digests_enabled", True)),
    "digformat": ("m\n", NAMED), "digheaders": ("x\n", NAMED), "digsize": ("9\n", NAMED), "digtime": ("9\n", NAMED),
    "ezmlmrc": ("x\n", NAMED), "headeradd": ("X-Loop: full\n", NAMED), "headerkeep": ("From\n", NAMED),
    "headerreject": ("x\n", NAMED), "headerremove": ("Received\n", NAMED), "indexed": ("", READ),
    "listid": (f"<full.{HOST}>\n", READ), "mimeremove": ("image/png\n", ("filter_types", ["image/png"])),
    "mimereject": ("x/y\n", NAMED), "modcanedit": ("", NAMED), "modcanlist": ("", NAMED), "modgetonly": ("", NAMED),
    "modpost": ("", ("default_member_action", "hold")), "modsub": ("", ("subscription_policy", "moderate")),
    "msgsize": ("2048:1\n", ("max_message_size", 2)), "noreturnposts": ("", NAMED), "nosubconfirm": ("", READ),
    "nounsubconfirm": ("", ("unsubscription_policy", "open")), "nowarn": ("", NAMED), "omitbottom": ("", NAMED),
    "prefix": ("[f]\n", ("subject_prefix", "[f] ")), "public": ("", READ), "qmqpservers": ("10.0.0.1\n", NAMED),
    "remote": ("", READ), "replytolist": ("", NAMED), "rewritefrom": ("", NAMED), "sequence": ("X-Seq\n", NAMED),
    "subgetonly": ("", NAMED), "sublist": ("other\n", NAMED), "subpostonly": ("", READ),
    "text/trailer": ("-- \n", ("msg_footer", "-- \n")), "of_tomorrow": ("x\n", NAMED),
}
# Each paragraph of list_config(5).
SYMPA = {
    "account": ("account x", NAMED), "anonymous_sender": ("anonymous_sender x@example.com", ("anonymous_list", True)),
    "archive": ("archive\nweb_access private\nmail_access owner\nmax_month 3\nquota 9",
                ("archive_policy", "private")),
    "archive_crypted_msg": ("archive_crypted_msg original", NAMED), "available_user_options": (
        "available_user_options\nreception mail", NAMED), "bouncers_level1": ("bouncers_level1\nrate 45", NAMED),
    "clean_delay_queuemod": ("clean_delay_queuemod 12", ("max_days_to_hold", 12)), "cookie": ("cookie x", NAMED),
    "custom_attribute": ("custom_attribute\nid x", NAMED), "custom_header": ("custom_header X-A: b", NAMED),
    "custom_subject": ("custom_subject f", ("subject_prefix", "[f] ")), "custom_vars": ("custom_vars\nname x", NAMED),
    "default_user_options": ("default_user_options\nreception digest", NAMED), "del": ("del owner", NAMED),
    "digest": ("digest 1 6:00", ("digest_period", "weekly")), "digest_max_size": ("digest_max_size 9", NAMED),
    "dkim_feature": ("dkim_feature on", NAMED), "dmarc_protection": (
        "dmarc_protection\nmode all", ("dmarc_mitigate_unconditionally", True)),
    "editor_include": ("editor_include\nsource x", NAMED), "expire_task": ("expire_task yearly", NAMED),
    "family_name": ("family_name f", NAMED), "footer_type": ("footer_type append", NAMED),
    "forced_reply_to": ("forced_reply_to x@example.com", NAMED), "host": ("host other.example.com", NAMED),
    "inclusion_notification_feature": ("inclusion_notification_feature on", NAMED), "info": ("info private", NAMED),
    "invite": ("invite owner", NAMED), "lang": ("lang de", ("preferred_language", "de")),
    "max_list_members": ("max_list_members 9", NAMED), "max_size": ("max_size 2048", ("max_message_size", 2)),
    "member_include": ("member_include\nsource x", NAMED), "merge_feature": ("merge_feature on", NAMED),
    "message_hook": ("message_hook\npre_distribute x", NAMED), "msg_topic": ("msg_topic\nname x", NAMED),
    "owner_include": ("owner_include\nsource x", NAMED), "personalization": (
        "personalization\nweb_apply_on all", NAMED), "pictures_feature": ("pictures_feature off", NAMED),
    "priority": ("priority 2", NAMED), "process_archive": ("process_archive on", READ),
    "reject_mail_from_automates_feature": ("reject_mail_from_automates_feature off", NAMED),
    "remind": ("remind owner", NAMED), "reply_to_header": ("reply_to_header\nvalue list\napply forced",
                                                           ("reply_goes_to_list", "point_to_list")),
    "review": ("review private", ("member_roster_visibility", "members")), "rfc2369_header_fields": (
        "rfc2369_header_fields help", NAMED), "send": ("send editorkey", ("default_member_action", "hold")),
    "shared_doc": ("shared_doc\nquota 9", NAMED), "spam_protection": ("spam_protection at", NAMED),
    "subject": ("subject All", ("description", "All")), "subscribe": (
        "subscribe owner", ("subscription_policy", "moderate")), "suppress_notify": ("suppress_notify x", NAMED),
    "topics": ("topics x", NAMED), "tracking": ("tracking\ntracking on_demand", NAMED), "ttl": ("ttl 9", NAMED),
    "unsubscribe": ("unsubscribe owner", ("unsubscription_policy", "moderate")), "user_data_source": (
        "user_data_source include2", NAMED), "verp_rate": ("verp_rate 50%", NAMED),
    "visibility": ("visibility noconceal", ("advertised", True)), "welcome_return_path": (
        "welcome_return_path owner", NAMED), "of_tomorrow": ("of_tomorrow x", NAMED),
}


def check(instance, table, told):
    """Compare all of a table with the list full@HOST and the report."""
    here, wrong = json.loads(instance.cli("list", "show", f"full@{HOST}", "--json")), {}
    for name, (_, becomes) in table.items():
        named = re.findall(rf"^[a-z ]+: full\.{re.escape(HOST)}: {re.escape(name)}: .*$", told, re.MULTILINE)
        if becomes is NAMED and not named:
            wrong[name] = "is not named"
        elif becomes is not NAMED and becomes is not READ:
            ours, wanted = becomes if isinstance(becomes, tuple) else (name, becomes)
            if here.get(ours) != wanted:
                wrong[name] = here.get(ours), wanted, named
    assert not wrong, (wrong, told)


def bring(instance, *words):
    done = instance.run("import", *words, timeout=120)
    assert done.returncode in (0, 1), done
    return done.stdout


def test_every_setting_of_mailman_3(site, tmp_path):
    there = mailman3.Site(tmp_path / "there", "bf4cf66cf589", ())
    unknown = set(there.tables["mailinglist"]) - set(MAILMAN3) - set((
        "list_name mail_host list_id created_at digest_last_sent_at last_post_at next_request_id next_digest_number "
        "volume post_id usenet_watermark").split())
    assert not unknown, unknown
    there.add("domain", mail_host=HOST)
    there.list(f"full@{HOST}", **{name: value for name, (value, _) in MAILMAN3.items()})
    there.done()
    check(site, MAILMAN3, bring(site, "mailman3", "--site", "--db", there.path, "--var", there.var))


def test_every_setting_of_mlmmj(site, tmp_path):
    directory = test_mlmmj.make_list(tmp_path, "full", {name: text for name, (text, _) in MLMMJ.items()},
                                     subscribers=("anne@example.com",))
    (directory / "text" / "sub-ok").write_text("Welcome")
    told = bring(site, "mlmmj", directory)
    check(site, MLMMJ, told)
    assert f"no equal here: full.{HOST}: text: 1 texts of letters" in told


def test_every_setting_of_ezmlm(site, tmp_path):
    directory = test_ezmlm.make_list(tmp_path, "full", {name: text for name, (text, _) in EZMLM.items()},
                                     members=("anne@example.com",))
    (directory / "text" / "sub-ok").write_text("Welcome")
    told = bring(site, "ezmlm", directory)
    check(site, EZMLM, told)
    assert f"no equal here: full.{HOST}: text: 1 texts of letters" in told
    other = test_ezmlm.make_list(tmp_path, "other")
    told = bring(site, "ezmlm", other)
    assert "no equal here: other" not in told.replace(f"other.{HOST}: owner", "")
    assert json.loads(site.cli("list", "show", f"other@{HOST}", "--json"))["digests_enabled"] is False


def test_every_setting_of_sympa(site, tmp_path):
    top = tmp_path / "data"
    place = test_sympa.make_list(top, f"{HOST}/full", "\n\n".join(text for text, _ in SYMPA.values()) + "\n")
    for name in ("scenari/send.mine", "mail_tt2/welcome.tt2", "homepage", "message_footer.mime",
                 "stats", "config_changes"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("1\n")
    (place / "owner.dump").write_text("email olga@example.com\nreception nomail\n\nemail olaf@example.com\n")
    told = bring(site, "sympa", top)
    check(site, SYMPA, told)
    for line in ("archive: mail_access owner", "archive: max_month 3", "archive: quota 9", "scenari: it stays behind",
                 "mail_tt2: it", "homepage: it", "message_footer.mime: it"):
        assert f"no equal here: full.{HOST}: {line}" in told, line
    assert f"changed: full.{HOST}: reception nomail: 1 owners and editors" in told
    assert "stats" not in told and "config_changes" not in told

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A list of GNU Mailman 2.1 as it lies on the disk."""
from support.instance import HOST


class Bounces:
    """An object of the class in which Mailman keeps what bounced for a member."""

    def __init__(self, **state):
        self.state = {name.encode(): value for name, value in state.items()}


def pickled(value):
    """The value as Python 2 pickled it, where str is bytes."""
    if isinstance(value, bool):
        return b"I01\n" if value else b"I00\n"
    if isinstance(value, int):
        return b"I%d\n" % value if abs(value) < 2**31 else b"L%dL\n" % value
    if isinstance(value, float):
        return b"F" + repr(value).encode() + b"\n"
    if isinstance(value, bytes):
        return b"T" + len(value).to_bytes(4, "little") + value
    if isinstance(value, str):
        return b"X" + len(value.encode()).to_bytes(4, "little") + value.encode()
    if isinstance(value, tuple):
        return b"(" + b"".join(map(pickled, value)) + b"t"
    if isinstance(value, list):
        return b"](" + b"".join(map(pickled, value)) + b"e"
    if isinstance(value, dict):
        return b"}(" + b"".join(pickled(key) + pickled(item) for key, item in value.items()) + b"u"
    if isinstance(value, Bounces):
        return b"(iMailman.Bouncer\n_BounceInfo\n" + pickled(value.state) + b"b"
    assert value is None
    return b"N"


def write_list(path, config):
    """A directory with these attributes alone."""
    path.mkdir(parents=True)
    (path / "config.pck").write_bytes(pickled({name.encode(): value for name, value in config.items()}) + b".")
    return path


def make_list(directory, name, **more):
    """A directory as Mailman 2.1 keeps it."""
    config = {
        b"_internal_name": name.encode(), b"real_name": name.capitalize().encode(), b"host_name": HOST.encode(),
        b"owner": [b"olga@example.com"], b"moderator": [b"mo@example.com"], b"preferred_language": b"de",
        b"description": "für alle".encode("latin-1"), b"info": b"", b"subject_prefix": b"[%s] " % name.encode(),
        b"members": {b"anne@example.com": 0, b"bob@example.com": b"Bob@Example.com", b"cate@example.com": 0,
                     b"no address": 0},
        b"digest_members": {b"dora@example.com": 0, b"emil@example.com": 0},
        b"passwords": {b"anne@example.com": b"secret"},
        b"user_options": {b"anne@example.com": 2 | 4 | 256, b"cate@example.com": 128, b"dora@example.com": 8 | 16},
        b"usernames": {b"anne@example.com": "Änne", b"bob@example.com": b"Bob"},
        b"language": {b"anne@example.com": b"fr", b"bob@example.com": b"de"},
        b"delivery_status": {b"cate@example.com": (4, 1.5e9), b"emil@example.com": (2, 1.5e9)},
        b"default_member_moderation": 0, b"member_moderation_action": 1, b"generic_nonmember_action": 2,
        b"accept_these_nonmembers": [b"friend@example.org", b"^.*@good\\.example$"], b"advertised": 0, b"archive": True,
        b"archive_private": 1, b"subscribe_policy": 3, b"unsubscribe_policy": 0, b"private_roster": 0,
        b"reply_goes_to_list": 1, b"filter_content": 1, b"filter_mime_types": [b"image/png"], b"filter_action": 3,
        b"bounce_score_threshold": 5.0, b"bounce_info_stale_after": 604800.0, b"max_message_size": 0,
        b"digest_size_threshhold": 40, b"digest_volume_frequency": 0, b"volume": 4, b"next_digest_number": 2,
        b"created_at": 1.1e9, b"last_post_time": 1.6e9, b"post_id": 321.0, b"from_is_list": 1, b"emergency": 0,
        b"acceptable_aliases": b"old@example.com\n\n^old-.*@example\\.com\n", b"personalize": 1,
        b"topics": [(b"cats", b"cat\nkitten", b"about", 0)], b"topics_enabled": 1, b"welcome_msg": b"Hello.",
        b"ban_list": [b"evil@example.com", b"^.*@evil\\.example$"], b"msg_header": b"",
        b"msg_footer": b"-- \n%(real_name)s costs $5, 100%%\n%(web_page_url)s", b"autoresponse_graceperiod": 30,
        b"header_filter_rules": [(b"# spam\n^X-Spam-Flag: yes\nno field", 3, False), (b"Subject: buy", 1, False)],
        b"bounce_info": {b"x": Bounces(member=b"x")}, **{key.encode(): value for key, value in more.items()}}
    path = write_list(directory / name, {key.decode(): value for key, value in config.items()})
    (path / "digest.mbox").write_bytes(b"From a@example.net Fri Nov 20 13:20:00 2026\nSubject: one\n\n>From here\n\n")
    (path / "request.pck").write_bytes(pickled({b"version": (0, 1), 3: (1, b"held")}) + b".")
    return path

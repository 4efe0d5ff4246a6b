# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A site of GNU Mailman 3.3.8 as it lies on the disk: its database, made here from the names of its tables and columns,
and the files below its directory VAR. Also copied into PostgreSQL, whose types differ."""
import datetime
import email
import email.message
import hashlib
import json
import pickle
import sqlite3
import sys
import types
import uuid

HEAD = "98224512c9c2"  # of the schema, in alembic_version
# Columns that came later than this head.
LATER = ("mailinglist.dmarc_addresses", "domain.base_url", "mailinglist.admin_notify_held_with_attachment")

FLAGS = ("allow_list_posts include_rfc2369_headers advertised anonymous_list admin_immed_notify admin_notify_mchanges "
         "administrivia filter_content collapse_alternatives convert_html_to_plaintext "
         "bounce_notify_owner_on_bounce_increment bounce_notify_owner_on_disable bounce_notify_owner_on_removal "
         "process_bounces dmarc_mitigate_unconditionally digests_enabled digest_is_default digest_send_periodic "
         "emergency encode_ascii_prefixes first_strip_reply_to forward_auto_discards gateway_to_mail gateway_to_news "
         "nntp_prefix_subject_too obscure_addresses require_explicit_destination respond_to_post_requests "
         "scrub_nondigest send_goodbye_message send_welcome_message topics_enabled admin_notify_held_with_attachment")
NUMBERS = ("next_request_id next_digest_number volume archive_policy autorespond_owner autorespond_postings "
           "autorespond_requests filter_action bounce_score_threshold bounce_you_are_disabled_warnings "
           "forward_unrecognized_bounces_to dmarc_mitigate_action default_member_action default_nonmember_action "
           "digest_volume_frequency max_days_to_hold max_message_size max_num_recipients newsgroup_moderation "
           "personalize post_id reply_goes_to_list member_roster_visibility subscription_policy "
           "topics_bodylines_limit unsubscription_policy usenet_watermark archive_rendering_mode")
TEXTS = ("list_name mail_host list_id autoresponse_owner_text autoresponse_postings_text autoresponse_request_text "
         "bounce_matching_headers dmarc_moderation_notice dmarc_wrapped_message_text description info linked_newsgroup "
         "member_moderation_notice nonmember_rejection_notice owner_chain owner_pipeline posting_chain "
         "posting_pipeline preferred_language display_name reply_to_address subject_prefix")
PICKLES = ("accept_these_nonmembers discard_these_nonmembers hold_these_nonmembers reject_these_nonmembers topics "
           "moderator_password dmarc_addresses")
SPANS = "autoresponse_grace_period bounce_info_stale_after bounce_you_are_disabled_warnings_interval"


def columns(words, kind):
    return {name: kind for name in words.split()}


# Column -> kind; every table but the last three has a number, id.
TABLES = {
    "domain": {**columns("mail_host description alias_domain base_url", "text")},
    "preferences": {**columns("acknowledge_posts hide_address receive_list_copy receive_own_postings", "flag"),
                    "preferred_language": "text", **columns("delivery_mode delivery_status", "number")},
    "user": {**columns("display_name password", "text"), "_user_id": "uuid", "_created_on": "time",
             "is_server_owner": "flag", **columns("_preferred_address_id preferences_id", "number")},
    "address": {**columns("email _original display_name", "text"), **columns("verified_on registered_on", "time"),
                **columns("user_id preferences_id", "number")},
    "member": {"_member_id": "uuid", "role": "number", "list_id": "text",
               **columns("moderation_action address_id preferences_id user_id bounce_score", "number"),
               **columns("last_bounce_received last_warning_sent", "time"), "total_warnings_sent": "number"},
    "mailinglist": {**columns(TEXTS, "text"), **columns(FLAGS, "flag"), **columns(NUMBERS, "number"),
                    **columns("created_at digest_last_sent_at last_post_at", "time"), **columns(SPANS, "span"),
                    **columns(PICKLES, "bytes"), "digest_size_threshold": "float"},
    "ban": columns("email list_id", "text"),
    "headermatch": {**columns("mailing_list_id position", "number"), **columns("header pattern chain tag", "text")},
    "contentfilter": {**columns("mailing_list_id filter_type", "number"), "filter_pattern": "text"},
    "acceptablealias": {"mailing_list_id": "number", "alias": "text"},
    "listarchiver": {"mailing_list_id": "number", "name": "text", "_is_enabled": "flag"},
    "template": columns("name context uri username password", "text"),
    "message": columns("message_id message_id_hash path", "text"),
    "_request": {"key": "text", "request_type": "number", "data_hash": "text", "mailing_list_id": "number"},
    "pended": {"token": "text", "expiration_date": "time"},
    "pendedkeyvalue": {**columns("key value", "text"), "pended_id": "number"},
    "bounceevent": {**columns("list_id email message_id", "text"), "timestamp": "time", "context": "number",
                    "processed": "flag"},
    "onelastdigest": columns("mailing_list_id address_id delivery_mode", "number"),
    "autoresponserecord": {**columns("address_id mailing_list_id response_type", "number"), "date_sent": "date"},
    "workflowstate": columns("token step data", "text"),
    "domain_owner": columns("user_id domain_id", "number"),
    "alembic_version": {"version_num": "text"},
}
WITHOUT_ID = ("workflowstate", "domain_owner", "alembic_version")
SQLITE = {"text": "VARCHAR", "flag": "BOOLEAN", "number": "INTEGER", "time": "DATETIME", "date": "DATE",
          "span": "DATETIME", "bytes": "BLOB", "float": "FLOAT", "uuid": "CHAR(32)"}
POSTGRESQL = {**SQLITE, "time": "TIMESTAMP", "span": "INTERVAL", "bytes": "BYTEA", "uuid": "UUID"}
# As Mailman has them there: text in two character sets, and intervals as times. It keeps times by the second; here they
# have parts of it, so that what is read can be compared.
MYSQL = {**SQLITE, "text": "TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "time": "DATETIME(6)",
         "span": "DATETIME(6)", "bytes": "LONGBLOB"}
INDEXED, BY_NAME = "VARCHAR(255) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin", ("email", "list_id", "token", "mail_host")

# The settings that Mailman gives a new list.
NEW_LIST = {
    **{name: True for name in (
        "allow_list_posts include_rfc2369_headers advertised admin_immed_notify administrivia collapse_alternatives "
        "admin_notify_held_with_attachment bounce_notify_owner_on_disable bounce_notify_owner_on_removal "
        "process_bounces digests_enabled digest_send_periodic forward_auto_discards nntp_prefix_subject_too "
        "obscure_addresses require_explicit_destination respond_to_post_requests send_goodbye_message "
        "send_welcome_message").split()},
    "next_request_id": 1, "next_digest_number": 1, "volume": 1, "archive_policy": 2, "filter_action": 2,
    "bounce_score_threshold": 5, "bounce_you_are_disabled_warnings": 3, "forward_unrecognized_bounces_to": 1,
    "default_member_action": 4, "default_nonmember_action": 0, "digest_volume_frequency": 1, "max_message_size": 40,
    "max_num_recipients": 10, "post_id": 1, "member_roster_visibility": 2, "subscription_policy": 1,
    "unsubscription_policy": 1, "topics_bodylines_limit": 5, "archive_rendering_mode": 1,
    "owner_chain": "default-owner-chain", "owner_pipeline": "default-owner-pipeline",
    "posting_chain": "default-posting-chain", "posting_pipeline": "default-posting-pipeline",
    "preferred_language": "en", "digest_size_threshold": 30.0,
    **{name: "1970-01-08 00:00:00.000000" for name in SPANS.split()},
    "autoresponse_grace_period": "1970-04-01 00:00:00.000000", "created_at": "2020-05-06 07:08:09.000010",
}


def class_of(module, name, base):
    """A class that pickles as one of another program: the program is not here."""
    if module not in sys.modules:
        sys.modules[module] = types.ModuleType(module)
    made = getattr(sys.modules[module], name, None)
    if not made:
        made = type(name, (base,), {"__module__": module, "__qualname__": name})
        setattr(sys.modules[module], name, made)
    return made


for parent in ("mailman", "mailman.email", "sqlalchemy", "sqlalchemy.ext"):
    sys.modules.setdefault(parent, types.ModuleType(parent))
Message = class_of("mailman.email.message", "Message", email.message.Message)
MutableList = class_of("sqlalchemy.ext.mutable", "MutableList", list)
MutableList.__reduce_ex__ = lambda self, protocol: (MutableList, (list(self),))


def pickled_list(words):
    return pickle.dumps(MutableList(words), protocol=5)


def later(**time):
    return str(datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None) + datetime.timedelta(**time))


class Site:
    """Empty at first. add() puts a row into a table and returns its number. without: columns "table.name" that an older
    Mailman, whose schema has another head, does not have."""

    def __init__(self, directory, head=HEAD, without=LATER):
        self.var = directory
        (self.var / "data").mkdir(parents=True)
        self.path = self.var / "data" / "mailman.db"
        self.db = sqlite3.connect(self.path)
        self.numbers = dict.fromkeys(TABLES, 0)
        self.tokens = 0
        self.tables = {table: {name: kind for name, kind in kinds.items() if f"{table}.{name}" not in without}
                       for table, kinds in TABLES.items()}
        for table, kinds in self.tables.items():
            fields = [f'"{name}" {SQLITE[kind]}' for name, kind in kinds.items()]
            self.db.execute(f'CREATE TABLE "{table}" ({", ".join(self.key(table) + fields)})')
        for table, column in (("pendedkeyvalue", "pended_id"), ("member", "list_id"), ("address", "user_id"),
                              ("pended", "token"), ("member", "address_id")):
            self.db.execute(f'CREATE INDEX "ix_{table}_{column}" ON "{table}" ("{column}")')
        self.add("alembic_version", version_num=head)

    @staticmethod
    def key(table):
        return [] if table in WITHOUT_ID else ["id INTEGER PRIMARY KEY"]

    def add(self, table, **values):
        self.numbers[table] += 1
        values = {name: value for name, value in values.items() if name in self.tables[table]}
        if table not in WITHOUT_ID:
            values = {"id": self.numbers[table], **values}
        names = ", ".join(f'"{name}"' for name in values)
        self.db.execute(f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(values))})',
                        list(values.values()))
        return self.numbers[table]

    def preferences(self, **values):
        return self.add("preferences", **values)

    def address(self, text, user=None, name="", verified=True, **preferences):
        lower = text.lower()
        return self.add("address", email=lower, _original=text if text != lower else "", display_name=name,
                        verified_on="2021-01-01 00:00:00.000000" if verified else None,
                        registered_on="2020-12-31 23:59:59.500000", user_id=user,
                        preferences_id=self.preferences(**preferences))

    def user(self, name, *addresses, password=None, prefers=0, server_owner=False, **preferences):
        """The number of a user and those of the addresses; prefers: which of them, None: none."""
        user = self.add("user", display_name=name, password=password, _user_id=uuid.uuid4().hex,
                        _created_on="2020-12-31 12:00:00.000000", is_server_owner=server_owner,
                        preferences_id=self.preferences(**preferences))
        made = [self.address(text, user=user, name=name) for text in addresses]
        if prefers is not None:
            self.db.execute('UPDATE "user" SET _preferred_address_id = ? WHERE id = ?', (made[prefers], user))
        return user, made

    def list(self, address, list_id=None, **settings):
        name, host = address.split("@")
        self.add("mailinglist", **{**NEW_LIST, "list_name": name, "mail_host": host, "display_name": name.capitalize(),
                                   "subject_prefix": f"[{name.capitalize()}] ", **settings,
                                   "list_id": list_id or f"{name}.{host}"})
        return self.numbers["mailinglist"]

    def member(self, list_id, role=1, address=None, user=None, action=None, score=0, bounced=None, warned=None,
               warnings=0, **preferences):
        return self.add("member", _member_id=uuid.uuid4().hex, role=role, list_id=list_id, moderation_action=action,
                        address_id=address, user_id=user, preferences_id=self.preferences(**preferences),
                        bounce_score=score, last_bounce_received=bounced,
                        last_warning_sent=warned or "0001-01-01 00:00:00.000000", total_warnings_sent=warnings)

    def token(self):
        self.tokens += 1
        return hashlib.sha1(str(self.tokens).encode()).hexdigest()

    def pend(self, kind, until=None, **values):
        """The token under which this waits."""
        token = self.token()
        pended = self.add("pended", token=token, expiration_date=until or later(days=3))
        for key, value in {"type": kind, **values}.items():
            self.add("pendedkeyvalue", key=key, value=value if key == "type" else json.dumps(value), pended_id=pended)
        return token

    def request(self, kind, list_id, address, owner="subscriber", until=None, **state):
        token = self.pend(kind, until, list_id=list_id, email=address, display_name="Péter", token_owner=owner,
                          when="2026-01-02T03:04:05")
        data = {"pre_approved": False, "pre_confirmed": False, "pre_verified": False, "invitation": False,
                "address_key": address, "subscriber_key": 1, "send_welcome_message": None, "delivery_mode": None,
                "delivery_status": None, **state}
        self.add("workflowstate", token=token, step="do_confirm_verify", data=json.dumps(data))
        return token

    def hold(self, number, list_id, octets, sender, reason="the reason", protocol=5):
        """A held post: its number there, and the token of the letter to the moderators."""
        message = email.message_from_bytes(octets, Message)
        message["X-MailFrom"] = sender
        message["X-Mailman-Rule-Hits"] = "nonmember-moderation"
        message_id = message["Message-ID"]
        name = hashlib.sha1(message_id.encode()).hexdigest()
        path = self.var / "messages" / name[:2] / name[2:4] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(message, protocol=protocol))
        self.add("message", message_id=message_id, message_id_hash=name, path=f"{name[:2]}/{name[2:4]}/{name}")
        data = self.pend("data", later(days=180), listid=list_id, _mod_message_id=message_id, _mod_listid=list_id,
                         _mod_sender=sender, _mod_subject="Subject", _mod_reason=reason,
                         _mod_hold_date="2026-02-03T04:05:06.789000")
        held = self.add("_request", key=message_id, request_type=1, data_hash=data, mailing_list_id=number)
        return held, self.pend("held message", id=held, list_id=list_id)

    def digest(self, list_id, *posts):
        folder = self.var / "lists" / list_id
        folder.mkdir(parents=True)
        mark = b"\1\1\1\1\n"
        (folder / "digest.mmdf").write_bytes(b"".join(mark + b"poster@example.net\n" + post + mark for post in posts))

    def done(self):
        self.db.commit()
        return self

    def copy_to(self, connection, kinds_there=POSTGRESQL):
        """The same in PostgreSQL, or with MYSQL in MariaDB; the connection is psycopg2's or pymysql's."""
        cursor = connection.cursor()
        if kinds_there is MYSQL:
            cursor.execute("SET SESSION sql_mode = 'ANSI_QUOTES'")
        for table, kinds in self.tables.items():
            fields = [f'"{name}" {INDEXED if kinds_there is MYSQL and name in BY_NAME else kinds_there[kind]}'
                      for name, kind in kinds.items()]
            cursor.execute(f'CREATE TABLE "{table}" ({", ".join(self.key(table) + fields)})')
            names = ([] if table in WITHOUT_ID else ["id"]) + list(kinds)
            chosen = ", ".join(f'"{name}"' for name in names)
            for row in self.db.execute(f'SELECT {chosen} FROM "{table}"'):
                cursor.execute(f'INSERT INTO "{table}" ({chosen}) VALUES ({", ".join(["%s"] * len(names))})',
                               [as_postgresql(kinds.get(name, "number"), value) if kinds_there is POSTGRESQL else value
                                for name, value in zip(names, row)])
        connection.commit()


def as_postgresql(kind, value):
    if value is None:
        return None
    if kind == "flag":
        return bool(value)
    if kind == "span":
        past = datetime.datetime.fromisoformat(value) - datetime.datetime(1970, 1, 1)
        return f"{past.total_seconds()} seconds"
    return value

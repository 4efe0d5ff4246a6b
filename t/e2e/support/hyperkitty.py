# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The database of HyperKitty 1.3.7, made here from the names of its tables and columns."""
import base64
import datetime
import hashlib
import sqlite3

TABLES = {
    "hyperkitty_mailinglist": {"id": "key", "name": "text", "list_id": "text", "archive_policy": "number"},
    "hyperkitty_sender": {"address": "text", "mailman_id": "text"},
    "hyperkitty_email": {
        "id": "key", "mailinglist_id": "number", "message_id": "text", "message_id_hash": "text",
        "sender_id": "text", "sender_name": "text", "subject": "text", "content": "text", "date": "time",
        "timezone": "small", "in_reply_to": "text", "parent_id": "number", "thread_id": "number",
        "archived_date": "time", "thread_depth": "number", "thread_order": "number"},
    "hyperkitty_attachment": {
        "id": "key", "email_id": "number", "counter": "small", "name": "text", "content_type": "text",
        "encoding": "text", "size": "number", "content": "bytes"},
}
SQLITE = {"key": "INTEGER PRIMARY KEY", "text": "VARCHAR(255)", "number": "INTEGER", "small": "SMALLINT",
          "time": "DATETIME", "bytes": "BLOB"}
POSTGRESQL = {"key": "INTEGER PRIMARY KEY", "text": "TEXT", "number": "INTEGER", "small": "SMALLINT",
              "time": "TIMESTAMP WITH TIME ZONE", "bytes": "BYTEA"}
MYSQL = {"key": "INTEGER PRIMARY KEY", "text": "LONGTEXT", "number": "INTEGER", "small": "SMALLINT",
         "time": "DATETIME(6)", "bytes": "LONGBLOB"}
DAY = datetime.datetime(2019, 3, 4, 12, 34, 56, 789000)  # UTC


def hash_of(message_id):
    return base64.b32encode(hashlib.sha1(message_id.encode()).digest()).decode()


def columns(kinds, types):
    return ", ".join(f"{name} {types[kind]}" for name, kind in kinds.items())


class Database:
    """A file of SQLite; it is written by done()."""

    def __init__(self, directory):
        self.path = directory / "hyperkitty.db"
        self.db = sqlite3.connect(self.path)
        for table, kinds in TABLES.items():
            self.db.execute(f"CREATE TABLE {table} ({columns(kinds, SQLITE)})")
        for table, column in (("email", "mailinglist_id"), ("attachment", "email_id")):
            self.db.execute(f"CREATE INDEX {table}_{column} ON hyperkitty_{table} ({column})")
        self.mails = self.files = 0

    def add(self, table, **values):
        self.db.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
                        list(values.values()))

    def add_list(self, number, name, list_id):
        self.add("hyperkitty_mailinglist", id=number, name=name, list_id=list_id, archive_policy=2)

    def add_mail(self, list_number, message_id, subject="Frost", content="It is cold.\n", files=(), **values):
        """Files are (name, type, charset, content). Returns the hash."""
        self.mails += 1
        self.add("hyperkitty_email", **{
            "id": self.mails, "mailinglist_id": list_number, "message_id": message_id,
            "message_id_hash": hash_of(message_id), "sender_id": "anne@old.example", "sender_name": "Anne",
            "subject": subject, "content": content, "date": str(DAY + datetime.timedelta(minutes=self.mails)),
            "timezone": 60, "in_reply_to": None, "parent_id": None, "thread_id": 1,
            "archived_date": str(DAY + datetime.timedelta(minutes=self.mails, seconds=5)), "thread_depth": 0,
            "thread_order": 0, **values})
        for counter, (name, kind, charset, octets) in enumerate(files):
            self.files += 1
            self.add("hyperkitty_attachment", id=self.files, email_id=self.mails, counter=counter, name=name,
                     content_type=kind, encoding=charset, size=len(octets or b""), content=octets)
        return hash_of(message_id)

    def done(self):
        self.db.commit()
        return self.path

    def copy_to(self, connection, types=POSTGRESQL):
        """The same in PostgreSQL, or with MYSQL in MariaDB."""
        cursor = connection.cursor()
        for table, kinds in TABLES.items():
            cursor.execute(f"CREATE TABLE {table} ({columns(kinds, types)})")
            for row in self.db.execute(f"SELECT {', '.join(kinds)} FROM {table}"):
                values = [f"{value}+00" if kind == "time" and types is POSTGRESQL else value
                          for kind, value in zip(kinds.values(), row)]
                cursor.execute(f"INSERT INTO {table} ({', '.join(kinds)}) VALUES ({', '.join(['%s'] * len(kinds))})",
                               values)
        connection.commit()

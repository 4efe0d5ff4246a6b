# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Lists of ezmlm-idx move in, from directories that are made here as its manual page ezmlm(5) says."""
import json
import re
import shlex

from support.instance import HOST

POST = (b"From: Jo <jo@example.net>\nTo: talk@lists.example.com\nSubject: caf\xe9\n"
        b"Message-ID: <held-1@example.net>\n\nx\n")


def make_list(place, name, files=(), **collections):
    """files: {name: text}; collections: {"" or a folder: addresses}."""
    directory = place / name
    for file, text in {"outlocal": f"{name}\n", "outhost": f"{HOST}\n", "key": "x", "num": "41:1234\n",
                       "owner": f"{place}/Mailbox\n", **dict(files)}.items():
        (directory / file).parent.mkdir(parents=True, exist_ok=True)
        (directory / file).write_bytes(text.encode() if isinstance(text, str) else text)
    for folder, addresses in collections.items():
        subscribers = directory / ("" if folder == "members" else folder) / "subscribers"
        subscribers.mkdir(parents=True)
        for address in addresses:
            with open(subscribers / chr(64 + sum(map(ord, address)) % 53), "ab") as file:
                file.write(b"T" + address.encode() + b"\0")
    return directory


def bring(instance, *words, code=0):
    done = instance.run("import", "ezmlm", *words, timeout=120)
    assert done.returncode == code, f"{done.returncode}: {done.stderr}{done.stdout}"
    return done.stdout


def test_lists_of_ezmlm(empty, tmp_path):
    tmp_path = tmp_path / "it's lists"
    talk = make_list(
        tmp_path, "talk", {
            "public": "", "archived": "", "modpost": "", "modsub": "who\n", "prefix": "[talk #]\n",
            "msgsize": "100000:2\n", "listid": "Talk of all <Talk.example.org>\n",
            "text/trailer": "-- \n$5 a month\n",
            "subpostonly": "",
            "headeradd": f"Precedence: bulk\nX-Loop: talk\nReply-To: talk@{HOST}\n", "sequence": "X-Seq\n",
            "headerremove": "return-path\nReceived\n", "mimeremove": "image/png\ntext/html\n",
            "owner": f"{tmp_path}/Mailbox\n&olga@example.com\nolaf@example.com\n|/usr/bin/ezmlm-warn\n",
            "mod/pending/1780000000.1.a": POST, "mod/unconfirmed/1780000000.2.a": POST, "archive/0/01": POST},
        members=("anne@example.com", "Bob@Example.com", "no address"), digest=("dora@example.org",),
        mod=("mod@example.com",), who=("sub@example.com",), allow=("friend@example.net", "@good.example"),
        deny=("evil@example.com", "@bad.example"))
    news = make_list(tmp_path, "news", {"modpost": "", "modpostonly": "", "nosubconfirm": "", "nounsubconfirm": ""},
                     members=("anne@example.com", "bob@example.com"), mod=("anne@example.com", "mod@example.com"))
    plain = make_list(tmp_path, "plain", {"public": "", "archived": ""})
    stored = make_list(tmp_path, "stored", {"subdb": "pgsql:db:5432:u:p:ezmlm:list\n"})
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    (file := tmp_path / "Mailbox").touch()
    words = (talk, nothing, news, stored, plain, file, tmp_path)
    expected = bring(empty, "--dry-run", *words, code=1)
    told = bring(empty, *words, code=1)
    assert told.replace("brought in", "would come") == expected
    mark = "it is no list of ezmlm: the directory of one has the file outlocal"
    above = "".join(f" {tmp_path}/{name}" for name in ("news", "plain", "stored", "talk"))
    for line in (f"left out: {nothing}: {mark}\n", f"left out: {file}: it is no directory\n",
                 f"left out: {tmp_path}: {mark}; lists are in it, so name these:{above}\n",
                 f"left out: {stored}: ", "left out: talk.example.org: member no address: ",
                 "changed: talk.example.org: prefix: ", f"changed: news.{HOST}: public: ",
                 "no equal here: talk.example.org: headeradd: X-Loop: talk",
                 "no equal here: talk.example.org: headerremove: Received",
                 "no equal here: talk.example.org: sequence: X-Seq",
                 f"no equal here: talk.example.org: owner: {tmp_path}/Mailbox",
                 "no equal here: talk.example.org: mod/unconfirmed: 1 posts",
                 "no equal here: talk.example.org: archive: 1 folders"):
        assert "\n" + line in "\n" + told, (line, told)
    for name, wanted in {
            "talk": {"list_id": "talk.example.org", "default_member_action": "hold", "default_nonmember_action": "hold",
                     "accept_these_nonmembers": ["^.*@good\\.example$", "friend@example.net"],
                     "subscription_policy": "confirm_then_moderate", "unsubscription_policy": "confirm",
                     "subject_prefix": "[talk #] ", "max_message_size": 98, "reply_goes_to_list": "point_to_list",
                     "first_strip_reply_to": True, "filter_content": True, "filter_types": ["image/png", "text/html"],
                     "msg_footer": "-- \n$$5 a month\n", "archive_policy": "private"},
            "news": {"default_member_action": "reject", "default_nonmember_action": "reject",
                     "subscription_policy": "moderate", "unsubscription_policy": "open", "archive_policy": "never"},
            "plain": {"default_member_action": "defer", "default_nonmember_action": "accept", "subject_prefix": "",
                      "subscription_policy": "confirm", "max_message_size": 0, "filter_content": False,
                      "reply_goes_to_list": "no_munging", "posts": 41}}.items():
        here = json.loads(empty.cli("list", "show", f"{name}@{HOST}", "--json"))
        for key, value in wanted.items():
            assert here[key] == value, (name, key, here[key])
    members = {row["address"].lower(): row for row in empty.rows("member", "ls", f"talk@{HOST}")}
    assert list(members) == ["anne@example.com", "bob@example.com", "dora@example.org"]
    assert members["dora@example.org"]["delivery_mode"] == "mime_digests"
    for role, wanted in (("owner", ["olaf@example.com", "olga@example.com"]),
                         ("moderator", ["mod@example.com", "sub@example.com"])):
        assert empty.cli("member", "ls", "--names", f"--role={role}", f"talk@{HOST}").split() == wanted
    assert {row["address"] for row in empty.rows("ban", "ls", f"talk@{HOST}")} == \
        {"evil@example.com", "^.*@bad\\.example$"}
    with empty.database() as database:
        actions = dict(database.execute("SELECT lower(m.email), m.moderation_action FROM member m "
                                        "JOIN list l ON l.key = m.list WHERE l.list_id = ? AND m.role = 0",
                                        (f"news.{HOST}",)).fetchall())
    assert actions == {"anne@example.com": 3, "bob@example.com": None}
    held, = empty.rows("held", "ls")
    assert (held["sender"], held["message_id"]) == ("jo@example.net", "held-1@example.net")
    # Its archive comes by the command that was told, whatever the name of its directory.
    command = shlex.split(re.search("no equal here: talk.example.org: archive: 1 folders of posts: (.*)", told)[1])
    assert command == ["listrunner", "archive", "import", f"talk@{HOST}", str(talk / "archive")]
    empty.set({"archiver.maildir": {"index": "yes"}})
    assert "1 posts added" in empty.cli(*command[1:])
    # Again: nothing comes twice, and who left since stays away.
    empty.cli("member", "remove", f"talk@{HOST}", "bob@example.com")
    bring(empty, *words, code=1)
    assert len(empty.rows("held", "ls")) == 1
    assert "bob@example.com" not in empty.cli("member", "ls", "--names", f"talk@{HOST}")


def test_links_are_not_followed(empty, tmp_path):
    """The owner of a list may put links into its directory: no file behind one is read, of two lists."""
    secret = tmp_path / "secret"
    (secret / "subscribers").mkdir(parents=True)
    (secret / "trailer").write_text("of root\n")
    (secret / "subscribers" / "a").write_bytes(b"Troot@example.com\0")
    linked = make_list(tmp_path, "linked", {"text/other": ""}, members=("anne@example.com",))
    (linked / "text" / "trailer").symlink_to(secret / "trailer")
    (linked / "mod").symlink_to(secret)
    whole = make_list(tmp_path, "whole", members=("bob@example.com",))
    (whole / "text").symlink_to(secret)
    (whole / "prefix").symlink_to(secret / "trailer")
    told = bring(empty, linked, whole, code=1)
    for name in ("linked.*text/trailer", "linked.*mod", "whole.*text", "whole.*prefix"):
        assert re.search(rf"left out: .*{name}.*symbolic link", told), (name, told)
    for name, members in (("linked", ["anne@example.com"]), ("whole", ["bob@example.com"])):
        assert "of root" not in empty.cli("list", "show", f"{name}@{HOST}", "--json")
        assert empty.cli("member", "ls", f"{name}@{HOST}", "--names").split() == members
        assert empty.cli("member", "ls", f"{name}@{HOST}", "--role", "moderator", "--names") == ""

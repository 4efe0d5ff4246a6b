# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Sites of other versions of GNU Mailman 3 move in: what their tables do not have yet gets Mailman's default."""
import pytest

from support import mailman3
from test_moving import TALK, bring, comparable, fill, settings, source
from support.instance import HOST

SCORES = tuple(f"member.{name}" for name in (
    "bounce_score", "last_bounce_received", "last_warning_sent", "total_warnings_sent"))
# The head of the schema, and the columns that came with it.
CAME = {
    "b2e694dfde35": (),                                           # 3.2.0
    "15401063d4e3": ("mailinglist.member_roster_visibility",),    # 3.2.1, 3.2.2
    "83339e4039da": ("headermatch.tag", "mailinglist.usenet_watermark"),  # 3.3.0
    "d151c0b8d6f7": SCORES,                                       # 3.3.1
    "9735f5e5dbdb": ("mailinglist.archive_rendering_mode",),      # 3.3.2
    "2b73fbcc97c9": (),                                           # 3.3.3, 3.3.4
    "98224512c9c2": ("mailinglist.bounce_notify_owner_on_bounce_increment",),  # 3.3.5 to 3.3.8
    "2156fc3f6f7d": ("mailinglist.dmarc_addresses",),             # 3.3.9
    "8cc1f79f4459": ("domain.base_url",),                         # 3.3.10
    "bf4cf66cf589": ("mailinglist.admin_notify_held_with_attachment",),  # 3.3.11
}
HEADS = list(CAME)
# Of each: the key that is told, and what a setting is then.
TOLD = {"mailinglist.member_roster_visibility": ("member_roster_visibility", "moderators"),
        "headermatch.tag": ("tags of header matches", None), "mailinglist.usenet_watermark": ("usenet_watermark", None),
        SCORES[0]: ("bounce scores", None),
        "mailinglist.archive_rendering_mode": ("archive_rendering_mode", "text"),
        "mailinglist.bounce_notify_owner_on_bounce_increment": ("bounce_notify_owner_on_bounce_increment", False)}


@pytest.mark.parametrize("head", HEADS)
def test_a_site_of_that_version(empty, tmp_path, head):
    lacks = [column for later in HEADS[HEADS.index(head) + 1:] for column in CAME[later]]
    site = mailman3.Site(tmp_path / "old", head, lacks)
    fill(site)
    words = source(site)
    expected = bring(empty, words, "--dry-run", code=1)
    assert not empty.cli("list", "ls", "--names").strip()
    told = bring(empty, words, code=1)
    here = settings(empty, f"talk@{HOST}")
    for column, (key, value) in TOLD.items():
        line = f"changed: {key}: this Mailman is too old to have that; "
        assert (line in told, line in expected) == ((column in lacks,) * 2), (column, told)
        assert column not in lacks or value is None or here[key] == value, column
    rows = comparable(empty)
    assert [row for row in rows["members"] if TALK in row] and len(rows["held"]) == 2 and len(rows["digests"]) == 2
    tags = [row["tag"] for row in empty.rows("header-match", "ls", f"talk@{HOST}")]
    with empty.database() as database:
        scores, = database.execute("SELECT count(*) FROM bounce_score WHERE score > 0").fetchone()
        watermarks, = database.execute("SELECT count(*) FROM news WHERE watermark = 77").fetchone()
    assert tags == [None if "headermatch.tag" in lacks else "spam", None, None]
    assert (scores, watermarks) == (SCORES[0] not in lacks, "mailinglist.usenet_watermark" not in lacks)


@pytest.mark.parametrize("head", HEADS[-2:])
def test_what_came_with_the_newest(empty, tmp_path, head):
    site = mailman3.Site(tmp_path / "new", head, () if head == HEADS[-1] else CAME[HEADS[-1]])
    site.add("domain", mail_host=HOST, description="", base_url="https://lists.example.com")
    site.list(f"talk@{HOST}", list_id=TALK, dmarc_addresses=mailman3.pickled_list(["^.*@bank\\.example$"]),
              digest_size_threshold=0.0, admin_notify_held_with_attachment=False)
    told = bring(empty, source(site))
    assert f"no equal here: {HOST}: base_url: https://lists.example.com: all domains have" in told
    assert "digest_size_threshold" not in told and told.count("no equal here") == 1
    here = settings(empty, f"talk@{HOST}")
    assert (here["dmarc_addresses"], here["digest_size_threshold"]) == (["^.*@bank\\.example$"], 0)
    assert here["admin_notify_held_with_attachment"] == (head != HEADS[-1])


@pytest.mark.parametrize("busy", ["talk", "talk-owner"])
@pytest.mark.parametrize("by", ["members", "posts"])
def test_of_two_names_that_collide_the_busier_stays(empty, tmp_path, busy, by):
    """Mail to the one would be mail to the owners of the other."""
    site = mailman3.Site(tmp_path / "old")
    site.add("domain", mail_host=HOST)
    for name in ("talk", "talk-owner"):
        site.list(f"{name}@{HOST}", post_id=7 if (by, name) == ("posts", busy) else 1)
    if by == "members":
        site.member(f"{busy}.{HOST}", address=site.address("anne@example.org"))
    told = bring(empty, source(site), code=1)
    assert empty.cli("list", "ls", "--names").split() == [f"{busy}@{HOST}"]
    other, = {"talk", "talk-owner"} - {busy}
    assert f"left out: {other}.{HOST}: " in told


SHAPES = {
    "report": "Content-Type: multipart/report; boundary=b\n\n--b\n\nText\n\n--b\n"
              "Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nStatus: 5.0.0\nAction: failed\n\n"
              "--b\nContent-Type: message/rfc822\n\nFrom: a@example.org\n\nHi\n\n--b--\n",
    "words in a report": "Content-Type: message/delivery-status\n\nIt could not be delivered:\n\n\nStatus: 5.0.0\n",
    "nested": "Content-Type: multipart/mixed; boundary=\"a \"\n\nbefore\n--a\nContent-Type: multipart/alternative; "
              "boundary=b\n\n--b\n\none\n--b\n\ntwo\n--b--\n--a\n\nthree\n\n--a--\nbehind\n",
    "not closed": "Content-Type: multipart/mixed; boundary=a\n\n--a\n\none\n\n--a\n\ntwo\n",
    "inner one not closed": "Content-Type: multipart/mixed; boundary=a\n\n--a\n"
                            "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n\n--a--\n",
    "no line between header and text": "no field\n\nMore\n",
    "an empty first line": "X-Long:\n\tword\nX-Empty: \n\nText\n",
    "bytes": "Subject: Gr\u00fc\u00dfe\n\nGr\u00fc\u00dfe \udcff.\n \n",
}


def test_held_posts_come_byte_for_byte(empty, tmp_path):
    """Mailman keeps them taken apart by Python; their odd forms stay."""
    site = mailman3.Site(tmp_path / "old")
    site.add("domain", mail_host=HOST)
    number = site.list(f"talk@{HOST}", list_id=TALK)
    site.member(TALK, role=2, address=site.address("olga@example.com"))
    mails = {f"Message-ID: <{at}@x>\nFrom: a@example.org\n{text}".encode("utf-8", "surrogateescape")
             for at, text in enumerate(SHAPES.values())}
    for mail in mails:
        site.hold(number, TALK, mail, "a@example.org")
    bring(empty, source(site))
    with empty.database() as database:
        rows = database.execute("SELECT message FROM held").fetchall()
    here = {bytes(row[0]).replace(b"\r\n", b"\n") for row in rows}
    assert here == mails


def test_texts_of_files_that_the_database_names(empty, tmp_path):
    """Root reads what Mailman's user could not, so only what everybody may read is a text of Mailman's."""
    site = mailman3.Site(tmp_path / "mailman")
    site.add("domain", mail_host=HOST)
    site.list(f"talk@{HOST}", list_id=TALK)
    for name, mode in (("welcome", 0o644), ("goodbye", 0o640)):
        path = site.var / f"{name}.txt"
        path.write_text(f"{name} $user_name")
        path.chmod(mode)
        site.add("template", name=f"list:user:notice:{name}", context=TALK, uri=path.as_uri())
    told = bring(empty, source(site), code=1)
    assert f"left out: {TALK}: list:user:notice:goodbye: {site.var}/goodbye.txt: not everybody" in told, told
    with empty.database() as database:
        texts = [tuple(row) for row in database.execute("SELECT name, text FROM template").fetchall()]
    assert texts == [("list:user:notice:welcome", "welcome $user_name")]

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A list's mails, and the pages that other programs make of them: those of MHonArc by itself, those of pipermail and
the files of ezmlm in their form."""
import base64
import datetime
import hashlib
import html
import subprocess
import time
import urllib.parse

FIRST = datetime.datetime(2019, 1, 3, 4, 5, 6, tzinfo=datetime.timezone.utc)


class Mail:
    """Mail number n of a list; every hundredth has no Message-ID, every third answers the one before."""

    def __init__(self, name, number):
        self.name, self.number = name, number
        self.date = FIRST + datetime.timedelta(hours=4 * number)
        self.bare = number % 100 == 42
        self.id = f"{number}--{name}+x'&%=1@old.example"
        self.subject = f"Word {number} of {name} & <more>"

    @property
    def hash(self):
        return base64.b32encode(hashlib.sha1(self.id.encode()).digest()).decode()

    @property
    def month(self):
        return f"{self.date:%Y-%m}"

    @property
    def octets(self):
        before = Mail(self.name, self.number - 1)
        lines = [f"From: Anne <anne@old.example>", f"To: {self.name}@old.example", f"Subject: {self.subject}",
                 f"Date: {self.date:%a, %d %b %Y %H:%M:%S +0000}",
                 *([] if self.bare else [f"Message-ID: <{self.id}>"]),
                 *([f"In-Reply-To: <{before.id}>"] if self.number % 3 else []), "",
                 f"Text {self.number} of {self.name}.", '<!--X-Message-Id: 1@lie.example -->', ""]
        return "\n".join(lines).encode()


def mails(name, count):
    return [Mail(name, number) for number in range(count)]


def mbox(all_mails):
    return b"".join(b"From anne@old.example " + time.asctime(mail.date.timetuple()).encode() + b"\n" + mail.octets +
                    b"\n" for mail in all_mails)


def pipermail_name(mail):
    return f"{mail.date:%Y-%B}/{mail.number:06}.html"


def pipermail(directory, all_mails, before=0):
    """The directory of a list of Mailman 2.1, whose numbers begin at `before`."""
    for mail in all_mails:
        page = directory / f"{mail.date:%Y-%B}" / f"{mail.number + before:06}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        answer = urllib.parse.quote("Re: " + mail.subject, safe="")
        # Mailman asks for the Message-ID, and writes a number of its own where there is none.
        own = urllib.parse.quote("" if mail.bare else f"<{mail.id}>", safe="")
        link = f'HREF="mailto:{mail.name}%40old.example?Subject={answer}&In-Reply-To={own}"'
        page.write_text(f'''<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//EN">
<HTML>
 <HEAD>
   <TITLE> {html.escape(mail.subject)}
   </TITLE>
   <LINK REL="Index" HREF="index.html" >
   <LINK REL="made" {link}>
   <META NAME="robots" CONTENT="index,nofollow">
   <META http-equiv="Content-Type" content="text/html; charset=us-ascii">
   <LINK REL="Previous"  HREF="{mail.number - 1:06}.html">
 </HEAD>
 <BODY BGCOLOR="#ffffff">
   <H1>[Cats] {html.escape(mail.subject)}</H1>
    <B>Anne</B>
    <A {link}
       TITLE="{html.escape(mail.subject)}">anne at old.example
       </A><BR>
    <I>{mail.date + datetime.timedelta(hours=1):%a %b %e %H:%M:%S} CET {mail.date:%Y}</I>
    <P><UL>
     </UL>
    <HR>
<!--beginarticle-->
<PRE>Text. &lt;!--
</PRE>
<A HREF="mailto:x@lie.example?In-Reply-To=%3Clie%40lie.example%3E">
<!--endarticle-->
</BODY></HTML>
''')
    (directory / "index.html").write_text("<HTML></HTML>")


def mhonarc(directory, all_mails):
    directory.mkdir(parents=True)
    done = subprocess.run(["mhonarc", "-quiet", "-idxsize", "50", "-outdir", directory, "-"], input=mbox(all_mails),
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (directory / f"msg{len(all_mails) - 1:05}.html").exists()


def sympa(directory, all_mails):
    """Sympa lets MHonArc make the pages of each month. Returns {mail number: its address below the list's}."""
    found = {}
    for month in dict.fromkeys(mail.month for mail in all_mails):
        own = [mail for mail in all_mails if mail.month == month]
        mhonarc(directory / month, own)
        found.update({mail.number: f"{month}/msg{place:05}.html" for place, mail in enumerate(own)})
    return found


def ezmlm(directory, all_mails):
    """Numbers begin at 1; a hundred are in one directory."""
    for mail in all_mails:
        number = mail.number + 1
        file = directory / str(number // 100) / f"{number % 100:02}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"Return-Path: <anne@old.example>\n" + mail.octets)
        (file.parent / "index").write_text(f"{number}: abcdefghijabcdefghij subject\n")

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mails as people write them to a list, over a year and a half: threads that branch, quotations, a patch, a photograph,
other scripts. The same each time: for the demonstration, for pictures of the pages, and for tests."""
import mailbox
import random
import time
from email.message import EmailMessage
from email.utils import format_datetime, formataddr
from datetime import datetime, timedelta, timezone

PEOPLE = ["Anne Weaver", "Bart Kowalski", "Chidi Okafor", "Doris Lindqvist", "Emre Yılmaz", "Fumiko Tanaka",
          "Giulia Conti", "Horst Krüger"]
TOPICS = {
    "Late frost in the lower beds": "We had two degrees below zero last night, and the beans look glassy this morning.",
    "Swap of seeds in March": "I have more lettuce and chard than I can ever sow. Who brings something in exchange?",
    "Slugs, again": "They ate a whole row of seedlings within one night, in spite of the copper wire.",
    "The water pump is loud": "Since Tuesday it rattles whenever more than two taps are open.",
    "Key of the shed": "Somebody took it home on Sunday. Please hang it back behind the door.",
    "Zucchini for everybody": "There is a crate at the gate. Please take some, and then take some more.",
    "Compost: what goes in?": "I found lemon peel and a milk carton. Can we agree on a list?",
    "Soil test results": "pH is 6.4 in the upper beds and 7.1 near the wall; phosphate is fine, potassium is low.",
    "Der Apfelbaum am Tor": "Er müsste vor dem Winter geschnitten werden. Wer hat eine lange Säge?",
    "トマトの苗": "今年の苗は元気です。来週、余った苗を持って行きます。",
    "Bees on the north roof": "The council agreed. Two hives may stand there from April.",
    "Plan for the greenhouse": "Three metres by five, glass from the old school windows, a door to the south.",
}
ANSWERS = ["That matches what I saw. Fleece helped on my side.", "I could come on Saturday at ten, with tools.",
           "Last year we tried nettle manure, and it did work, after two weeks.",
           "Please not before nine: the neighbours complained last time.",
           "See https://example.org/garden/notes for what we wrote down in May.",
           "No. It was the other pump, and it was repaired.", "Count me in.",
           "I would rather wait until the rain is over.\n\nBesides, the wheelbarrow has a flat tyre.",
           "Thank you! I put it on the board at the gate, and told those who do not read mail."]
PATCH = """--- a/watering.conf
+++ b/watering.conf
@@ -3,4 +3,4 @@
 beds = 12
-begin = 12:00
+begin = 05:30
 minutes = 20
"""


def _mail(number, sender, subject, text, when, address, parent=None):
    mail = EmailMessage()
    mail["From"] = formataddr((sender, f"{sender.split()[0].lower()}@members.example.org"))
    mail["To"], mail["Subject"] = address, subject
    mail["Date"], mail["Message-ID"] = format_datetime(when), f"<talk-{number}@members.example.org>"
    if parent:
        mail["In-Reply-To"] = parent["Message-ID"]
        mail["References"] = f'{parent["References"] or ""} {parent["Message-ID"]}'.strip()
    mail.set_content(text)
    return mail


def _answer(chance, number, parent, when, address):
    sender = chance.choice(PEOPLE)
    quoted = parent.get_body(("plain",)).get_content().strip().split("\n\n-- ")[0]
    name = parent["From"].addresses[0].display_name
    head = f"On {parent['Date'].datetime:%d %b %Y}, {name} wrote:\n"
    text = head + "".join(f"> {line}\n" for line in quoted.splitlines()) + "\n" + chance.choice(ANSWERS)
    if chance.random() < .3:
        text += f"\n\n-- \n{sender.split()[0]}, bed {chance.randint(1, 40)}\n"
    subject = parent["Subject"] if parent["Subject"].startswith("Re:") else f"Re: {parent['Subject']}"
    return _mail(number, sender, subject, text, when, address, parent)


def mails(address, end=None):
    """In the order of their dates, the last one shortly before end."""
    chance = random.Random(7)
    end = end or datetime.now(timezone.utc).replace(microsecond=0)
    found = []
    for at, (subject, text) in enumerate(TOPICS.items()):
        when = end - timedelta(days=540 * (len(TOPICS) - at) / len(TOPICS) - 20, hours=chance.randint(0, 12))
        own = [_mail(len(found), chance.choice(PEOPLE), subject, text, when, address)]
        if subject.startswith("Plan"):
            own[0].add_attachment(PATCH, filename="watering.patch", subtype="x-patch")
        if subject.startswith("Zucchini"):
            own[0].add_attachment(bytes(range(256)) * 200, maintype="image", subtype="jpeg", filename="crate.jpg")
        for _ in range(chance.choice((0, 2, 3, 5, 9, 12))):
            when += timedelta(minutes=chance.randint(20, 2000))
            own.append(_answer(chance, len(found) + len(own), chance.choice(own[-3:]), when, address))
        found += own
    return [mail for mail in sorted(found, key=lambda mail: mail["Date"].datetime) if mail["Date"].datetime < end]


def write_mbox(path, address):
    """Returns how many mails it has."""
    box = mailbox.mbox(path)
    written = mails(address)
    for mail in written:
        message = mailbox.mboxMessage(mail)
        message.set_from("-", time.gmtime(mail["Date"].datetime.timestamp()))
        box.add(message)
    box.close()
    return len(written)

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Made mails for archives of any size: words as often as in texts, threads of ten, each month as full as the others."""
import random
import time
from email.utils import formatdate
from itertools import accumulate

BEGIN = 1_577_836_800  # 2020
THREAD = 10            # messages
A_MONTH = 500          # messages of a list, at least: a page of a month is full
WORDS = 20_000


def word(rank):
    """The word of a rank, of the commonest first: "ba", "be", ... of syllables, with no meaning."""
    text = ""
    while True:
        rank, syllable = divmod(rank, 70)
        text += "bdfghklmnprstv"[syllable // 5] + "aeiou"[syllable % 5]
        if rank == 0:
            return text
        rank -= 1


COMMONEST = word(0)


def write_mbox(path, address, count, thread=THREAD):
    """Write so many mails to the list; the newest are a thread of the same size, however many there are."""
    chance = random.Random(7)
    words = [word(rank) for rank in range(WORDS)]
    weights = list(accumulate(1 / (rank + 1) for rank in range(WORDS)))
    months = min(max(count // A_MONTH, 1), 60)
    step = 30 * 86_400 * months / count
    with open(path, "w", encoding="ascii") as file:
        for number in range(count):
            first = number - number % thread
            when = int(BEGIN + number * step)
            text = chance.choices(words, cum_weights=weights, k=120)
            answers = f"References: <{first}@bench.example>\n" if number > first else ""
            lines = "\n".join(" ".join(text[at:at + 12]) for at in range(0, len(text), 12))
            file.write(f"From p{number % 300}@example.net {time.asctime(time.gmtime(when))}\n"
                       f"From: Person {number % 300} <p{number % 300}@example.net>\nTo: {address}\n"
                       f"Subject: {'Re: ' if answers else ''}{words[first % WORDS]} {first}\n{answers}"
                       f"Message-ID: <{number}@bench.example>\nDate: {formatdate(when)}\n\n{lines}\n\n")

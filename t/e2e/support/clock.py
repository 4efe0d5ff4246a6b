# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The wall clock of an instance's programs, moved while they run."""
import os
import time

HOUR, DAY = 3600, 86400


def now():
    """Return what the clock of the programs says that are started without a Clock."""
    return time.time() + int(os.environ.get("LISTRUNNER_CLOCK_OFFSET", 0))


def let_turn(period, seconds=120):
    """When the next hour or day (UTC) begins in so many seconds, wait for it: what is counted by the hour or day is
    counted in one of them from now on."""
    left = period - now() % period
    if left < seconds:
        time.sleep(left + 0.1)


def turn_soon(period, seconds):
    """From now on programs that are started have a clock of which the next hour or day begins in so many seconds."""
    os.environ["LISTRUNNER_CLOCK_OFFSET"] = str(int((-seconds - time.time()) % period))


class Clock:
    def __init__(self, path):
        self.path = path
        self.offset = self.first = 0
        self.seconds(0)

    def begin_day(self):
        """It is a minute after midnight (UTC) now, and days() counts from there: no day turns by itself."""
        self.first = DAY - now() % DAY + 60
        self.days(0)

    def days(self, number):
        self.seconds(self.first + number * DAY)

    def seconds(self, number):
        """Programs that have LISTRUNNER_CLOCK_FILE in their environment are ahead of the real time by that much."""
        self.offset = int(number)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(str(self.offset))
        fresh.chmod(0o644)
        fresh.rename(self.path)

    def now(self):
        return now() + self.offset

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""The wall clock of an instance's programs, moved while they run."""
import time

DAY = 86400


class Clock:
    def __init__(self, path):
        self.path = path
        self.offset = 0
        self.seconds(0)

    def days(self, number):
        self.seconds(number * DAY)

    def seconds(self, number):
        """Programs that have LISTRUNNER_CLOCK_FILE in their environment are ahead of the real time by that much."""
        self.offset = int(number)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(str(self.offset))
        fresh.chmod(0o644)
        fresh.rename(self.path)

    def now(self):
        return time.time() + self.offset

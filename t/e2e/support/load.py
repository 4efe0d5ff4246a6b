# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mail under way while something happens: a sender that does not give up, and the accounts afterwards."""
import smtplib
import threading
import time
from collections import Counter

from support.instance import LEAST_PATIENCE


class Load(threading.Thread):
    """Sends mails one after another, each until it is accepted, as an MTA would, and ends early when `halt` is set.
    pause: seconds between two."""

    def __init__(self, instance, address, mails, pause=0.0):
        super().__init__(daemon=True)
        self.instance, self.address, self.mails, self.pause = instance, address, mails, pause
        self.accepted, self.retries, self.error = [], 0, None
        self.halt = threading.Event()

    def run(self):
        try:
            client = None
            for mail in self.mails:
                if self.halt.is_set():
                    break
                while not self.halt.is_set():
                    client = self._send(client, mail)
                    if client is not None:
                        break
                    self.retries += 1
                    time.sleep(0.05)
                time.sleep(self.pause)
        except Exception as error:  # shown by finish(), in the test's own thread
            self.error = error

    def _send(self, client, mail):
        """The client when the mail was accepted, None when it must be sent again."""
        try:
            client = client or smtplib.LMTP("127.0.0.1", self.instance.port, timeout=60)
            self.instance.lmtp_send(mail.octets, self.address, client=client)
            self.accepted.append(mail)
            return client
        except (OSError, smtplib.SMTPServerDisconnected):
            return None
        except smtplib.SMTPResponseException as error:
            assert 400 <= error.smtp_code < 500, f"{mail.name}: {error}"
            return None
        except smtplib.SMTPRecipientsRefused as error:
            assert all(400 <= code < 500 for code, _ in error.recipients.values()), f"{mail.name}: {error}"
            return None

    def finish(self, seconds):
        seconds = max(seconds, 3 * LEAST_PATIENCE)
        self.join(seconds)
        alive = self.is_alive()
        self.halt.set()
        if self.error:
            raise self.error
        assert not alive, f"{len(self.accepted)} of {len(self.mails)} mails were accepted in {seconds} s"


def missing_and_repeats(copies, mails, members):
    """Return what did not arrive, and how often each (message id, member) arrived beyond once."""
    wanted = {(mail.message_id, member) for mail in mails for member in members}
    counted = Counter(copies)
    strangers = [key for key in counted if key not in wanted]
    assert not strangers, f"arrived but never sent: {strangers[:5]}"
    return sorted(wanted - set(counted)), {key: count - 1 for key, count in counted.items() if count > 1}

# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mail that cannot be delivered for long is told to the owners once, and at the end it is a bounce."""
import email
import time

from support.instance import wait_until
from support.post import post


def test_owners_are_warned_once_and_the_end_is_a_bounce(instances, sinks):
    sink = sinks(faults=["rcpt match=^slow@ do 450 4.2.1 busy"])
    instance = instances(sink.port, settings={"out": {
        "minimal_backoff_time": "1s", "maximal_backoff_time": "1s", "delay_warning_time": "2s",
        "maximal_queue_lifetime": "20s"}}).start()
    address = instance.create_list("test", ["slow@members.example.org", "quick@members.example.org"],
                                   owner="owner@example.org")
    instance.lmtp_send(post(message_id="<late@example.net>"), address)

    def reports():
        return [t for t in sink.transactions() if t.to == ["owner@example.org"]
                and email.message_from_bytes(t.octets).get_content_type() == "multipart/report"]
    wait_until(reports, 30, "a report to the owner")
    message = email.message_from_bytes(reports()[0].octets)
    assert message.get_param("report-type") == "delivery-status"
    of_message, of_recipient = message.get_payload()[1].get_payload()
    assert of_recipient["Final-Recipient"].split("; ") == ["rfc822", "slow@members.example.org"]
    assert of_recipient["Action"] == "delayed" and of_recipient["Status"].startswith("4.")
    assert "busy" in of_recipient["Diagnostic-Code"] and of_recipient["Will-Retry-Until"]
    assert "slow@members.example.org" in message.get_payload()[0].get_payload()
    instance.wait_idle(60)
    assert "slow@members.example.org" in instance.cli("bounce", "ls", address)
    time.sleep(1)
    assert len(reports()) == 1, "told twice"
    assert sink.copies()["<late@example.net>", "quick@members.example.org"] == 1

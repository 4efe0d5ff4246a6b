# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""What an operator is told: at a start, by status and metrics, when the database has gone, and who may ask."""
import smtplib

import pytest

from support.instance import wait_until
from support.post import post


def lose_database(instance):
    for path in (instance.directory / "lib").iterdir():
        path.unlink()


def test_a_database_that_vanishes_refuses_nobody_for_good(instances, sink):
    instance = instances(sink.port, settings={"master": {"restart_delay_max": "200ms"}}).start()
    address = instance.create_list(members=["m@example.org"])
    instance.lmtp_send(post(), address)
    lose_database(instance)
    for name in (address, "nobody@lists.example.com"):
        with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
            instance.lmtp_send(post(), name)
        assert refused.value.recipients[name][0] == 451, refused.value.recipients
    instance.kill()
    wait_until(lambda: not instance.leftovers(), 20, "the runners to end")
    before = len(instance.log_text())
    instance.start(wait=False)
    wait_until(lambda: "children are well" in instance.log_text()[before:], 20, "the end of the start")
    assert "listrunner store create" in instance.log_text()[before:]
    with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
        instance.lmtp_send(post(), address)
    assert refused.value.recipients[address][0] == 451
    assert not list((instance.directory / "lib").glob("*.db"))

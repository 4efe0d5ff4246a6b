# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Clients that say nothing, half of something, or read nothing, more than there is room for: each ends, and its place
is free for others, on all sockets on which a process of an instance listens."""
import contextlib
import socket
import ssl

import pytest

from support.certificate import Authority
from support.hosts import settings_with_door
from support.instance import free_port, let_through, wait_until
from support.rest import serving

ROOM = 5  # clients that a runner serves at a time
MASTERS_ROOM, OUTS_ROOM = 64, 16  # those of its socket
FLOOD = 8 * 1024 * 1024  # bytes that are more than all buffers on the way hold
MAILMAN = b"GET /3.1/system/versions HTTP/1.1\r\nHost: x\r\n\r\n"
HELLO = bytes.fromhex("160301004a0100")  # how TLS begins


class Place:
    """A socket of an instance: its address, how many it serves at a time, and a request with the start of its answer.
    tls: of a client that is let in."""

    def __init__(self, address, request, answer, room=ROOM, tls=None):
        self.address, self.request, self.answer, self.room, self.tls = address, request, answer, room, tls

    def connect(self):
        family = socket.AF_INET if isinstance(self.address, tuple) else socket.AF_UNIX
        client = socket.socket(family)
        client.settimeout(10)  # until it is connected; the kernel's queue may be full
        client.connect(self.address)
        return client

    def enter(self):
        client = self.connect()
        client.settimeout(60)
        return self.tls.wrap_socket(client, server_hostname="a.example.com") if self.tls else client

    def is_served(self):
        """Whether as many clients as there is room for are served, all at once."""
        with contextlib.ExitStack() as stack:
            for _ in range(self.room):
                try:
                    client = stack.enter_context(self.enter())
                    client.sendall(self.request)
                    heard = b""
                    while self.answer not in heard:
                        some = client.recv(65536)
                        if not some:
                            return False
                        heard += some
                except OSError:
                    return False
        return True


def says_nothing(place):
    return place.connect()


def says_half(place):
    client = place.enter()
    client.sendall(place.request[:-3])
    return client


def begins_tls(place):
    client = place.connect()
    client.sendall(HELLO)
    return client


def is_silent_in_tls(place):
    return place.enter()


def asks_and_is_silent(place):
    client = place.enter()
    client.sendall(place.request)
    return client


def never_reads(place):
    client = place.enter()
    client.setblocking(False)
    block = place.request * 1000
    with contextlib.suppress(OSError):  # it would block, or is closed
        for _ in range(FLOOD // len(block)):
            client.sendall(block)
    return client


PLAIN = (says_nothing, says_half, asks_and_is_silent, never_reads)
TLS = (says_nothing, begins_tls, is_silent_in_tls, says_half, asks_and_is_silent, never_reads)


@pytest.fixture
def host(instances, sink, tmp_path):
    let_through(tmp_path)
    made, authority = instances(sink.port), Authority(tmp_path / "authority")
    made.set({"site": {"hostname": "a.example.com"}, "runner.host": {"start": "yes"},
              "lmtp": {"max_sessions": ROOM, "command_timeout": "1s", "session_timeout": "2s"},
              "mta": {"max_sessions": ROOM, "command_timeout": "1s", "session_timeout": "2s"},
              "runner.mta": {"start": "yes", "listen": f"127.0.0.1:{free_port()}"},
              **serving(made.directory, max_connections=ROOM, request_timeout="1s")})
    made.set(settings_with_door(made, authority, "a.example.com"))
    made.set({"site": {"web_url": "https://pages.example"}, "runner.web": {"listen": f"127.0.0.1:{free_port()}"},
              "web": {"max_connections": ROOM, "request_timeout": "1s"}})
    made.set({"runner.lmtp": {"listen": f"127.0.0.1:{made.port}, unix:{made.directory}/run/lmtp"}})
    made.start()
    made.tls = ssl.create_default_context(cafile=authority.file)
    made.tls.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    made.tls.load_cert_chain(authority.certify("a.example.com"))
    return made


def of_runners(host):
    def port(runner):
        return "127.0.0.1", int(host.sections[runner]["listen"].rpartition(":")[2])
    lhlo = b"LHLO example.net\r\n", b"250 "
    return {"lmtp": Place(("127.0.0.1", host.port), *lhlo),
            "lmtp on a path": Place(f"{host.directory}/run/lmtp", *lhlo),
            "door": Place(("127.0.0.1", host.door), *lhlo, tls=host.tls),
            "mta": Place(port("runner.mta"), b"20:domain x.example.com,", b","),
            "rest": Place(port("runner.rest"), MAILMAN, b"HTTP/1.1 401"),
            "web": Place(port("runner.web"), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 ")}


def of_control(host):
    """The sockets for orders and questions. Their time is fixed, and longer."""
    run = host.directory / "run"
    status, destinations = (f'{{"verb": "{verb}"}}\n'.encode() for verb in ("status", "destinations"))
    outs = [path for path in run.iterdir() if path.is_socket() and path.name.startswith("out-")]
    assert len(outs) == 1, outs
    return {"master": Place(str(run / "control.sock"), status, b"\n", MASTERS_ROOM),
            "monitor": Place(str(run / "monitor.sock"), status, b"\n", MASTERS_ROOM),
            "out": Place(str(outs[0]), destinations, b"\n", OUTS_ROOM)}


@contextlib.contextmanager
def beside(place, shapes, each):
    """So many clients of each shape are there meanwhile, or were turned away."""
    with contextlib.ExitStack() as stack:
        for shape in shapes:
            for _ in range(each):
                with contextlib.suppress(OSError):
                    stack.enter_context(shape(place))
        yield


def test_all_places_are_free_again(host):
    runners, control = of_runners(host), of_control(host)
    for name, place in (runners | control).items():
        wait_until(place.is_served, 60, f"room at {name}")
    with contextlib.ExitStack() as stack:
        for place in control.values():
            stack.enter_context(beside(place, PLAIN, place.room // 2))
        for name, place in runners.items():
            for shape in TLS if place.tls else PLAIN:
                with beside(place, [shape], 2 * place.room + 1):
                    wait_until(place.is_served, 120, f"room at {name} beside clients of which each {shape.__name__}")
        for name, place in control.items():
            wait_until(place.is_served, 180, f"room at {name}", step=1)
    assert "nothing was received" in host.log_text()
    assert host.run("status").returncode == 0

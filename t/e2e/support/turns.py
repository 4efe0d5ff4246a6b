# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A proxy before a server that counts round trips, and may be far from it."""
import asyncio
import contextlib
import threading

from support.ports import free_port


class Link:
    """One connection. A turn is each time that the client speaks after the server has spoken, or first."""

    def __init__(self):
        self.turns, self.server_spoke, self.asked = 0, True, set()


class TurnCounter:
    """Listens on loopback, for a server on loopback. delay: seconds that each byte is on its way, either way. words:
    what is looked for in what clients say, to tell them apart."""

    def __init__(self, server_port, delay=0, words=()):
        self.port, self.server_port, self.delay = free_port(), server_port, delay
        self.words, self.links = [word.encode() for word in words], []
        self.swallowed = None  # a word: who says it is not heard from then on, and gets no answer
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait(60)

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", self.port))
        ready.set()
        self.loop.run_forever()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    async def serve(self, client_in, client_out):
        server_in, server_out = await asyncio.open_connection("127.0.0.1", self.server_port)
        link = Link()
        self.links.append(link)
        await asyncio.gather(self.carry(client_in, server_out, lambda data: self.asks(link, data)),
                             self.carry(server_in, client_out, lambda data: setattr(link, "server_spoke", True)))

    def asks(self, link, data):
        link.turns += link.server_spoke
        link.server_spoke = False
        link.asked.update(word for word in self.words if word in data)

    async def carry(self, source, to, note):
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                note(data)
                if self.swallowed and self.swallowed.encode() in data:
                    continue
                self.loop.call_later(self.delay, to.write, data) if self.delay else to.write(data)
        self.loop.call_later(self.delay, to.close)

    def turns(self, word=None):
        """Of all connections; with a word, of those whose client has said it since they were made."""
        return sum(link.turns for link in self.links if word is None or word.encode() in link.asked)

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

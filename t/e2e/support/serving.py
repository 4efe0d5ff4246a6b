# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Servers that tests make for the programs to talk to."""
import socketserver
import threading


class Serving(socketserver.ThreadingTCPServer):
    """Serves each connection with the handler, on a free port of 127.0.0.1, from now on until server_close() or the end
    of `with`. A thread whose socket were closed alone would ask it for connections without a pause."""

    allow_reuse_address = daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler, address=("127.0.0.1", 0)):
        super().__init__(address, handler)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def server_close(self):
        self.shutdown()
        super().server_close()

# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that cuts connections, or drops bytes, at chosen messages of PostgreSQL's protocol."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from typing import Literal

Direction = Literal["to server", "to client"]
Action = Literal["pass", "cut", "deliver and cut", "drop", "slowly"]


class Proxy:
    """Forwards connections. `decide` gets each chunk of bytes and says what happens to it."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.decide: Callable[[Direction, bytes], Action] = lambda direction, data: "pass"
        self.after_cut: Callable[[], None] = lambda: None  # is called after "deliver and cut"
        self.refuses = False
        self.seconds = 0.0  # how long a chunk takes that is delivered "slowly"
        self.n_connections = 0
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            for side in (client, server):
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pair = (client, server)
            self.n_connections += 1
            self._pairs.append(pair)
            threading.Thread(
                target=self._forward,
                args=(pair, client, server, "to server"),
                daemon=True,
            ).start()
            threading.Thread(
                target=self._forward,
                args=(pair, server, client, "to client"),
                daemon=True,
            ).start()

    def _forward(
        self,
        pair: tuple[socket.socket, socket.socket],
        source: socket.socket,
        sink: socket.socket,
        way: Direction,
    ) -> None:
        try:
            while data := source.recv(1 << 20):
                action = self.decide(way, data)
                if action == "drop":
                    continue
                if action == "slowly":
                    self._send_slowly(sink, data)
                elif action != "cut":
                    sink.sendall(data)
                if action == "deliver and cut":
                    self.after_cut()
                if action in ("cut", "deliver and cut"):
                    break
        except OSError:
            pass
        self._close(pair)

    def _send_slowly(self, sink: socket.socket, data: bytes) -> None:
        """Sends the bytes in pieces, with a pause after each."""
        n_pieces = 10
        for i in range(n_pieces):
            sink.sendall(data[len(data) * i // n_pieces : len(data) * (i + 1) // n_pieces])
            time.sleep(self.seconds / n_pieces)

    @staticmethod
    def _close(pair: tuple[socket.socket, socket.socket]) -> None:
        for side in pair:
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
            side.close()

    def cut_all(self) -> None:
        for pair in self._pairs:
            self._close(pair)
        self._pairs.clear()

    def close(self) -> None:
        self._listener.close()
        self.cut_all()

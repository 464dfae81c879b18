"""A line to PostgreSQL that is cut at the worst moment: the server has got the COMMIT, the client hears nothing."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class Line:
    """Passes bytes between a client and the server, and cuts the line instead of passing the answer to a COMMIT."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listening]
        #: From now on a COMMIT is passed on and its answer is not.
        self.cuts = False
        self.port: int = self._listening.getsockname()[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def _close(self) -> None:
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        try:
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._server)
                self._open += [client, server]
                heard = threading.Event()
                threading.Thread(target=self._ask, args=(client, server, heard), daemon=True).start()
                threading.Thread(target=self._answer, args=(client, server, heard), daemon=True).start()
        except OSError:
            return

    def _ask(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        try:
            while asked := client.recv(65_536):
                if self.cuts and b"COMMIT" in asked:
                    cut.set()
                server.sendall(asked)
        except OSError:
            return

    def _answer(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        try:
            while answered := server.recv(65_536):
                if cut.is_set():
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(answered)
        except OSError:
            return

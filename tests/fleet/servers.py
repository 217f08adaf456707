"""Ports of this machine for servers of the tests."""

from __future__ import annotations

import socket
import time


def free_port() -> int:
    """A port that nobody listens on, and that the system gives to nobody else for a minute: a
    closed connection (TIME_WAIT) holds it. Servers may take it all the same (SO_REUSEADDR)."""
    with socket.socket() as free, socket.socket() as client:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", 0))
        free.listen(1)
        client.connect(free.getsockname())
        free.accept()[0].close()
        return int(free.getsockname()[1])


def wait_for(port: int) -> None:
    """Wait until somebody listens there."""
    for _ in range(600):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(port)

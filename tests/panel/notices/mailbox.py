"""A mail server on a real socket that takes, or refuses, what it is sent."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage


@dataclass
class Mailbox:
    """What arrived. `refuses` is a recipient that is not taken."""

    port: int = 0
    refuses: str = ""
    letters: list[EmailMessage] = field(default_factory=list)


@contextmanager
def mailbox(refuses: str = "") -> Iterator[Mailbox]:
    """Run the server on a free port of loopback."""
    box = Mailbox(refuses=refuses)

    class Talk(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 mailbox")
            while line := self.rfile.readline().decode().strip():
                if not self._answer(line):
                    return

        def _answer(self, line: str) -> bool:
            verb = line[:4].upper()
            if verb == "DATA":
                self._take()
            elif verb == "RCPT" and box.refuses and box.refuses in line:
                self._say("550 no such mailbox")
            else:
                self._say("221 bye" if verb == "QUIT" else "250 ok")
            return verb != "QUIT"

        def _take(self) -> None:
            self._say("354 go on")
            lines = []
            while (line := self.rfile.readline()) not in (b".\r\n", b""):
                lines.append(line)
            letter = message_from_bytes(b"".join(lines), policy=policy.default)
            assert isinstance(letter, EmailMessage)
            box.letters.append(letter)
            self._say("250 taken")

        def _say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Talk) as server:
        server.daemon_threads = True
        box.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield box
        server.shutdown()

"""What a climb tells while it is under way: masked, and in whole lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from checks.dialects import READERS, Unreadable
from checks.outcome import Step, Told
from checks.redact import Redactor
from checks.spec import HostSpec, LaneSpec, Masked

MAX_LINE: Final = 16_384  # characters kept back for the rest of their line
SHORTEST_PIECE: Final = 16  # characters of a line that is a secret's piece

_SECRET_NAMES: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")


def secrets_of(spec: LaneSpec) -> list[Masked]:
    """Return all that nothing of this climb may show: keys, also those in the bundle, and private keys; of a
    secret of many lines each long line too, since programs print line by line."""
    known = [spec.key, *spec.secrets, *_of_host(spec.host), *_of_bundle(spec.bundle)]
    whole = [secret for secret in known if secret]
    return [*whole, *(piece for secret in whole for piece in _pieces(secret))]


def _of_host(host: HostSpec | None) -> Iterator[Masked | None]:
    while host is not None:
        yield host.private_key
        host = host.jump


def _of_bundle(bundle: Masked | None) -> Iterable[Masked]:
    """The values that a bundle holds under a key's name; its addresses and models are no secrets."""
    try:
        entries = READERS["sh"](bundle.reveal()) if bundle else ()
    except Unreadable:
        return ()
    return [Masked(entry.text()) for entry in entries if names_a_secret(entry.name)]


def names_a_secret(variable: str) -> bool:
    """Tell by a variable's name whether it holds a key."""
    return variable.upper().endswith(_SECRET_NAMES)


def _pieces(secret: Masked) -> Iterator[Masked]:
    lines = secret.reveal().splitlines()
    return (Masked(line) for line in lines if len(lines) > 1 and len(line) >= SHORTEST_PIECE)


class Teller:
    """Masks for one listener. A line is told when it is whole, so that no cut through a key hides it."""

    def __init__(self, spec_id: str, redactor: Redactor, heard: Callable[[Told], None]) -> None:
        self._id = spec_id
        self._redactor = redactor
        self._heard = heard
        self._rest = ""

    def pass_on(self, told: Told) -> None:
        """Take what a probe tells."""
        text = self._rest + told.output
        cut = max(text.rfind("\n"), text.rfind("\r")) + 1
        if not cut and len(text) > MAX_LINE:
            cut = len(text)
        self._rest = text[cut:]
        self._say(text[:cut])

    def tell_steps(self, steps: Iterable[Step]) -> None:
        """Tell all steps so far."""
        self.flush()
        self._heard(Told(self._id, self._redactor.value(tuple(steps))))

    def flush(self) -> None:
        """Tell a last line that never ended."""
        rest, self._rest = self._rest, ""
        self._say(rest)

    def _say(self, text: str) -> None:
        if text:
            self._heard(Told(self._id, output=self._redactor.text(text)))

"""The files a bundle can become: name, type and text of each flavour."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from checks import dialects
from checks.dialects import Block, Document, Show
from checks.dialects.document import as_it_is
from checks.keys import describe
from checks.spec import Masked
from panel.exports.bundle import Bundle
from panel.exports.manifest import header
from panel.exports.tables import table_blocks
from panel.exports.variables import variable_blocks

MARK = "\u00b7" * 8
"""Stands before the last four characters of a key that is not shown."""


@dataclass(frozen=True, slots=True)
class Format:
    """One flavour of file. `suffix` follows `<profile>.v<version>` in its name."""

    flavour: str
    suffix: str
    content_type: str
    blocks: Callable[[Bundle], tuple[Block, ...]]

    def file_name(self, bundle: Bundle) -> str:
        """A name that is safe on every file system; a profile's code stands in for letters beyond ASCII."""
        plain = re.sub(r"[^A-Za-z0-9_-]+", "-", bundle.profile).strip("-")[:60]
        return f"{plain or bundle.code}.v{bundle.version}{self.suffix}"

    def render(self, bundle: Bundle) -> str:
        """The whole file. Raises `checks.dialects.Unwritable` for a value that the flavour cannot carry."""
        return self._write(bundle, as_it_is)

    def preview(self, bundle: Bundle) -> str:
        """The same text with a mark where a key would stand."""
        return self._write(bundle, _marked)

    def _write(self, bundle: Bundle, show: Show) -> str:
        return dialects.write(self.flavour, Document(self.blocks(bundle), header(bundle)), show)


FORMATS: dict[str, Format] = {
    "dotenv": Format("dotenv", ".env", "text/plain; charset=utf-8", variable_blocks),
    "sh": Format("sh", ".sh", "text/plain; charset=utf-8", variable_blocks),
    "toml": Format("toml", ".toml", "application/toml", table_blocks),
    "line": Format("line", ".docker.env", "text/plain; charset=utf-8", variable_blocks),
}


def masked_preview(bundle: Bundle, flavour: str) -> str:
    """What `FORMATS[flavour].render` gives, each key shown as a mark and its last four."""
    return FORMATS[flavour].preview(bundle)


def _marked(secret: Masked, spelling: str) -> str:
    """Keep the quotes of a spelling and nothing of the key but its last four."""
    mark = MARK + describe(secret).last_four
    before, found, after = spelling.partition(secret.reveal())
    return f"{before}{mark}{after}" if found else mark

"""Every write a person causes: keyword-only, atomic, audited; work is sent when it is committed."""

from __future__ import annotations

from django.utils.functional import Promise


class Refused(Exception):
    """A deed cannot be done as asked. `sentence` is for the person; `field` names the form's field,
    empty where no field is to blame."""

    def __init__(self, sentence: str | Promise, field: str = "") -> None:
        super().__init__(str(sentence))
        self.sentence = sentence
        self.field = field

"""Every write a person causes: keyword-only, atomic, audited; work is sent when it is committed."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import ngettext

from panel import limits
from panel.models import Membership


class Refused(Exception):
    """A deed cannot be done as asked. `sentence` is for the person; `field` names the form's field,
    empty where no field is to blame."""

    def __init__(self, sentence: str | Promise, field: str = "") -> None:
        super().__init__(str(sentence))
        self.sentence = sentence
        self.field = field


def within_limits(actor: Membership, deed: str) -> None:
    """Raise Refused when this person does the deed too often (`panel.limits`)."""
    wait = limits.seconds_to_wait(actor.user_id, deed)
    if wait:
        raise Refused(
            ngettext(
                "That was asked very often. It works again in %(n)d second.",
                "That was asked very often. It works again in %(n)d seconds.",
                wait,
            )
            % {"n": wait}
        )

"""What the ladder says beside each rung."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import timezone
from django.utils.translation import gettext

from panel import dictionary
from panel.history import RungView

EMPTY_LADDER = tuple(RungView(number, "", {}, "", None, (), None, (), None) for number in range(1, 6))


def rung_say(rung: RungView, run_state: str) -> str:
    """Return one line on a rung: what was seen, why it broke, or that it was not reached.

    `run_state` is empty before the first run.
    """
    if rung.status in ("", "not_reached"):
        return _untold(rung, run_state)
    if rung.reason:
        return dictionary.entry(rung.reason, rung.say).title
    if rung.status == "not_testable":
        return gettext("Has nothing to ask here")
    return _seen(rung.number, rung.say)


def _untold(rung: RungView, run_state: str) -> str:
    if run_state in ("queued", "running"):
        return gettext("Waits")
    if not run_state:
        return ""
    if rung.last_passed_at is not None:
        passed = timezone.localtime(rung.last_passed_at)
        moment = f"{passed:%H:%M:%S}" if passed.date() == timezone.localdate() else f"{passed:%Y-%m-%d %H:%M}"
        return gettext("Not reached. Passed at %(time)s") % {"time": moment}
    if rung.status == "not_reached":
        return gettext("Not reached")
    return gettext("Not part of this check")


def _seen(number: int, say: Mapping[str, str]) -> str:
    if number == 1 and say.get("tls_version") and say.get("peer"):
        return gettext("%(tls)s to %(peer)s") % {
            "tls": say["tls_version"].replace("TLSv", "TLS "),
            "peer": say["peer"],
        }
    if number == 1 and say.get("peer"):
        return gettext("Connects to %(peer)s") % {"peer": say["peer"]}
    if number == 2 and say.get("answered_by") and say.get("answered_by") != say.get("model"):
        return gettext("Answers, as %(model)s") % {"model": say["answered_by"]}
    if number == 2 and say.get("model"):
        return gettext("%(model)s answers") % {"model": say["model"]}
    return gettext("Passes")

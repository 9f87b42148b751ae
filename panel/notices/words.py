"""Puts a notice into words: the planned facts, in the channel's language and the instance's zone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override, pgettext, pgettext_lazy

from panel import dictionary
from panel.models import Lane, Notice
from panel.notices.message import Message, Part

STATES: Final[dict[str, Promise]] = {
    "ok": pgettext_lazy("state", "OK"),
    "degraded": pgettext_lazy("state", "Degraded"),
    "down": pgettext_lazy("state", "Down"),
    "unknown": pgettext_lazy("state", "Unknown"),
    "not_testable": pgettext_lazy("state", "Not testable"),
}
FIXES: Final = 3
_CHANNELS: Final = "settings/channels/"
_Said = Mapping[str, Any]


def message_for(notice: Notice) -> Message:
    """Return what is sent for any notice but a report. `notice.channel.team` is loaded."""
    with override(notice.channel.language):
        title, state, parts, path, label = _WORDS[Notice.Kind(notice.kind)](notice.data)
        return Message(
            code=notice.code,
            kind=notice.kind,
            title=title,
            made_at=notice.made_at,
            language=notice.channel.language,
            state=state,
            team=notice.channel.team.slug,
            parts=tuple(part for part in parts if part.text or part.items),
            link=_link(notice.channel.team.slug, path),
            link_label=label,
            facts=notice.data,
        )


_Words = tuple[str, str, Sequence[Part], str, str]


def _opened(said: _Said) -> _Words:
    title = _("%(state)s: %(title)s (#%(number)d)") % _titled(said)
    return title, said["state"], _about(said), *_to_incident(said)


def _changed(said: _Said) -> _Words:
    title = _("Changed, %(state)s: %(title)s (#%(number)d)") % _titled(said)
    return title, said["state"], _about(said), *_to_incident(said)


def _escalated(said: _Said) -> _Words:
    minutes = int(said.get("after_min", 0))
    title = ngettext(
        "Nobody took it for %(n)d minute: %(title)s (#%(number)d)",
        "Nobody took it for %(n)d minutes: %(title)s (#%(number)d)",
        minutes,
    ) % (_titled(said) | {"n": minutes})
    return title, said["state"], _about(said), *_to_incident(said)


def _recovered(said: _Said) -> _Words:
    whole = bool(said["closed_at"])
    title = _("Recovered: %(title)s (#%(number)d)")
    if not whole:
        title = _("Partly recovered: %(title)s (#%(number)d)")
    lanes, still = _lanes(said["lanes"], said["lane_count"]), _lanes(said["still"], said["still_count"])
    parts = [
        Part(_("Was broken") if whole else _("Still broken"), items=lanes),
        Part(_("From, until"), _span(said)),
        Part(_("Still broken elsewhere"), items=still),
    ]
    if whole and not still:
        parts.append(Part("", _("Nothing else of the team is broken.")))
    return title % _titled(said), "ok" if whole else said["state"], parts, *_to_incident(said)


def _keys(said: _Said) -> _Words:
    days = int(said["days"])
    title = ngettext(
        "Key %(endpoint)s v%(number)d expires within %(n)d day",
        "Key %(endpoint)s v%(number)d expires within %(n)d days",
        days,
    ) % {"endpoint": said["endpoint"], "number": said["number"], "n": days}
    parts = [
        Part(_("Expires"), _time(said["expires_at"])),
        Part(
            pgettext("label", "Fix"), _("A lead gets a new key from who runs the endpoint and adds it here.")
        ),
    ]
    return title, "degraded", parts, f"e/{said['code']}/", _("Open the endpoint")


def _watchdog(said: _Said) -> _Words:
    if said["what"] == "back":
        title, state = _("Preflight checks again"), "ok"
        text = _("It had been silent since %(time)s.") % {"time": _time(said["since"])}
    else:
        title, state = _("Preflight itself has stopped checking"), "down"
        text = _("No sweep since %(time)s. States are unknown until it runs again; look at its workers.") % {
            "time": _time(said["since"])
        }
    return title, state, [Part("", text)], "", _("Open the overview")


def _test(said: _Said) -> _Words:
    text = _("This is a test. Messages of this channel arrive here, in this language.")
    return (
        _("Test message from Preflight"),
        "",
        [Part("", text)],
        _CHANNELS,
        _("Open the channels"),
    )


_WORDS: Final = {
    Notice.Kind.OPENED: _opened,
    Notice.Kind.CHANGED: _changed,
    Notice.Kind.ESCALATED: _escalated,
    Notice.Kind.RECOVERED: _recovered,
    Notice.Kind.KEYS: _keys,
    Notice.Kind.WATCHDOG: _watchdog,
    Notice.Kind.TEST: _test,
}


def _titled(said: _Said) -> dict[str, Any]:
    title = dictionary.entry(said["reason"]).title
    return {"state": state_word(said["state"]), "title": title, "number": said["number"]}


def state_word(state: str) -> str:
    """Return the one word of a state."""
    return str(STATES.get(state, STATES["unknown"]))


def _about(said: _Said) -> list[Part]:
    entry = dictionary.entry(said["reason"])
    holder = said["taken_by"] or _("nobody yet")
    return [
        Part(pgettext("label", "Cause"), entry.cause),
        Part(pgettext("label", "Fix"), items=entry.fix[:FIXES]),
        Part(_("Lanes"), items=_lanes(said["lanes"], said["lane_count"])),
        Part(_("Since"), _time(said["opened_at"])),
        Part(_("Who has it"), holder),
    ]


def _lanes(named: Sequence[Mapping[str, str]], count: int) -> tuple[str, ...]:
    """The named lanes, and how many more there are."""
    lines = [_lane(lane) for lane in named]
    more = count - len(lines)
    if more > 0:
        lines.append(ngettext("and %(n)d more", "and %(n)d more", more) % {"n": more})
    return tuple(lines)


def _lane(lane: Mapping[str, str]) -> str:
    name = str(Lane.Kind(lane["lane"]).label)
    if lane["generation"] == "1.x" and lane["lane"] == Lane.Kind.REPLAY:
        name = _("Gateway upstream")
    return _("%(profile)s, %(lane)s: %(state)s") % {
        "profile": lane["profile"], "lane": name, "state": state_word(lane["state"]),
    }  # fmt: skip


def _span(said: _Said) -> str:
    begins = _time(said["opened_at"])
    if not said["closed_at"]:
        return begins
    return _("%(begins)s to %(ends)s") % {"begins": begins, "ends": _time(said["closed_at"])}


def _time(iso: str) -> str:
    local = datetime.fromisoformat(iso).astimezone(ZoneInfo(settings.DISPLAY_ZONE))
    return f"{local:%Y-%m-%d %H:%M} ({settings.DISPLAY_ZONE})"


def _to_incident(said: _Said) -> tuple[str, str]:
    return f"incidents/{said['number']}/", _("Open incident #%(number)d") % {"number": said["number"]}


def _link(team: str, path: str) -> str:
    return f"{settings.PUBLIC_URL}/t/{team}/{path}" if settings.PUBLIC_URL else ""

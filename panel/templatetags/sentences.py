"""Whole sentences made of what is known: the overview's headline, what people did, what a rung says."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from panel.history import LaneNow, Overview
from panel.templatetags.words import listed as words_listed
from panel.templatetags.words import rung_name

# At the head of a sentence a small number is a word.
COUNTS: dict[int, Promise] = {
    1: pgettext_lazy("number of lanes, first word of a sentence", "One"),
    2: pgettext_lazy("number of lanes, first word of a sentence", "Two"),
    3: pgettext_lazy("number of lanes, first word of a sentence", "Three"),
    4: pgettext_lazy("number of lanes, first word of a sentence", "Four"),
    5: pgettext_lazy("number of lanes, first word of a sentence", "Five"),
    6: pgettext_lazy("number of lanes, first word of a sentence", "Six"),
    7: pgettext_lazy("number of lanes, first word of a sentence", "Seven"),
    8: pgettext_lazy("number of lanes, first word of a sentence", "Eight"),
    9: pgettext_lazy("number of lanes, first word of a sentence", "Nine"),
}
DEEDS: dict[tuple[str, str], Promise] = {
    ("create", "team"): _("%(who)s created the team"),
    ("change", "team"): _("%(who)s renamed the team to %(what)s"),
    ("create", "endpoint"): _("%(who)s added endpoint %(what)s"),
    ("ask", "endpoint"): _("%(who)s asked for the balance of %(what)s"),
    ("change", "endpoint"): _("%(who)s changed endpoint %(what)s"),
    ("delete", "endpoint"): _("%(who)s deleted endpoint %(what)s"),
    ("add", "key"): _("%(who)s sealed key %(what)s"),
    ("destroy", "key"): _("%(who)s destroyed key %(what)s"),
    ("create", "profile"): _("%(who)s added profile %(what)s"),
    ("change", "profile"): _("%(who)s changed profile %(what)s"),
    ("delete", "profile"): _("%(who)s deleted profile %(what)s"),
    ("run", "profile"): _("%(who)s ran the ladder of %(what)s"),
    ("pause", "lane"): _("%(who)s paused lane %(what)s"),
    ("resume", "lane"): _("%(who)s resumed lane %(what)s"),
    ("plan", "maintenance"): _("%(who)s planned maintenance of %(what)s"),
    ("end", "maintenance"): _("%(who)s ended the maintenance of %(what)s"),
    ("export", "bundle"): _("%(who)s exported %(what)s"),
    ("create", "host"): _("%(who)s added host %(what)s"),
    ("change", "host"): _("%(who)s changed host %(what)s"),
    ("delete", "host"): _("%(who)s deleted host %(what)s"),
    ("read", "host"): _("%(who)s read the facts of host %(what)s"),
    ("pause", "host"): _("%(who)s paused the readings of host %(what)s"),
    ("resume", "host"): _("%(who)s resumed the readings of host %(what)s"),
    ("ask", "host_key"): _("%(who)s asked host %(what)s for its host key"),
    ("accept", "host_key"): _("%(who)s accepted the host key of %(what)s"),
    ("forget", "host_key"): _("%(who)s forgot the host key of %(what)s"),
    ("add", "ssh_key"): _("%(who)s sealed the key that logs in to %(what)s"),
    ("save", "recipe"): _("%(who)s saved the recipe of %(what)s"),
    ("dry_run", "profile"): _("%(who)s started a dry run of %(what)s"),
    ("create", "report_schedule"): _("%(who)s scheduled a report: %(what)s"),
    ("change", "report_schedule"): _("%(who)s changed the schedule of a report: %(what)s"),
    ("delete", "report_schedule"): _("%(who)s deleted the schedule of a report: %(what)s"),
    ("create", "channel"): _("%(who)s added channel %(what)s"),
    ("change", "channel"): _("%(who)s changed channel %(what)s"),
    ("delete", "channel"): _("%(who)s deleted channel %(what)s"),
    ("test", "channel"): _("%(who)s sent a test message to %(what)s"),
    ("create", "route"): _("%(who)s added a route to %(what)s"),
    ("change", "route"): _("%(who)s changed a route to %(what)s"),
    ("delete", "route"): _("%(who)s deleted a route to %(what)s"),
    ("send", "notice"): _("%(who)s sent a message to %(what)s again"),
    ("drop", "notice"): _("%(who)s gave up a message to %(what)s"),
    ("invite", "member"): _("%(who)s invited %(what)s"),
    ("join", "member"): _("%(who)s joined the team"),
    ("add", "member"): _("%(who)s added %(what)s to the team"),
    ("change", "member"): _("%(who)s changed the role of %(what)s"),
    ("remove", "member"): _("%(who)s removed %(what)s from the team"),
    ("take", "incident"): _("%(who)s took incident %(what)s"),
    ("hand_over", "incident"): _("%(who)s handed over incident %(what)s"),
    ("note", "incident"): _("%(who)s wrote a note on incident %(what)s"),
    ("mute", "incident"): _("%(who)s muted incident %(what)s"),
    ("unmute", "incident"): _("%(who)s has people notified of incident %(what)s again"),
    ("change", "person"): _("%(who)s changed their own settings"),
    ("export", "history"): _("%(who)s exported the history of %(what)s"),
}
NOUNS: dict[str, Promise] = {
    "team": _("team"),
    "endpoint": _("endpoint"),
    "key": _("key"),
    "profile": _("profile"),
    "lane": _("lane"),
    "bundle": _("bundle"),
    "history": _("history"),
    "host": _("host"),
    "host_key": _("host key"),
    "ssh_key": _("key of a host"),
    "recipe": _("recipe"),
    "incident": _("incident"),
    "maintenance": _("maintenance"),
    "report_schedule": _("schedule of reports"),
    "channel": _("channel"),
    "route": _("route"),
    "notice": _("message"),
    "member": _("member"),
}


def headline(overview: Overview) -> str:
    """Say what is true of the team's lanes now, the worst thing first."""
    counts = overview.counts
    if not overview.lanes_total:
        return gettext("No lane is checked yet")
    if counts["down"]:
        return _down(counts["down"], overview.causes_down)
    if counts["degraded"]:
        n = counts["degraded"]
        return _counted(ngettext("One lane is degraded", "%(count)s lanes are degraded", n), n)
    if counts["unknown"]:
        n = counts["unknown"]
        return _counted(
            ngettext("One lane has no fresh evidence", "%(count)s lanes have no fresh evidence", n), n
        )
    if counts["not_testable"]:
        n = counts["not_testable"]
        return _counted(
            ngettext("One lane cannot be tested now", "%(count)s lanes cannot be tested now", n), n
        )
    return _all_well(counts["ok"], overview.lanes_total)


def _down(lanes: int, causes: int) -> str:
    if lanes == 1:
        return gettext("One lane down")
    if causes <= 1:
        return _counted(gettext("%(count)s lanes down, one cause"), lanes)
    sentence = gettext("%(count)s lanes down, %(causes)s causes")
    return sentence % {"count": _count(lanes), "causes": _count(causes).lower()}


def _all_well(ok: int, total: int) -> str:
    if ok == 0:
        return gettext("All lanes are paused or in maintenance")
    if ok == total:
        return ngettext("The lane is OK", "All %(count)d lanes are OK", total) % {"count": total}
    return gettext("%(ok)d of %(total)d lanes are OK; people stopped the rest") % {"ok": ok, "total": total}


def _counted(sentence: str, n: int) -> str:
    return sentence % {"count": _count(n)}


def _count(n: int) -> str:
    return str(COUNTS.get(n, n))


def deed(verb: str, noun: str, who: str, what: str) -> str:
    """Say what somebody did; an unforeseen deed is named by its own words."""
    sentence = DEEDS.get((verb, noun))
    if sentence is None:
        return gettext("%(who)s: %(verb)s %(noun)s %(what)s") % {
            "who": who, "verb": verb, "noun": noun, "what": what,
        }  # fmt: skip
    return str(sentence) % {"who": who, "what": what}


def stopped_at(rung: int | None, status: str, broken: bool) -> str:
    """Say in one line how far a climb came."""
    if rung is None:
        return gettext("The ladder")
    if broken:
        return gettext("Stopped at rung %(rung)d of 5, %(name)s") % {"rung": rung, "name": rung_name(rung)}
    if status == "degraded":
        return gettext("Passes %(rung)d of 5 rungs, over a limit") % {"rung": rung}
    return gettext("Passes %(rung)d of 5 rungs") % {"rung": rung}


def pips_sentence(pips: tuple[str, ...]) -> str:
    """Say what the five pips show."""
    for number, word in enumerate(pips, start=1):
        if word == "fail":
            return gettext("Stopped at rung %(rung)d of 5") % {"rung": number}
        if word == "run":
            return gettext("Rung %(rung)d of 5 is running") % {"rung": number}
    passed = sum(word in ("pass", "warn") for word in pips)
    return gettext("%(passed)d of 5 rungs pass") % {"passed": passed}


def failure_mark(lane: LaneNow) -> str:
    """Say "1 of 2 failures" while a failure is not yet confirmed, that the state changes too often, or that a
    recovery is not confirmed; else nothing."""
    if lane.state != "down" and 0 < lane.failures < lane.failures_needed:
        return gettext("%(n)d of %(needed)d failures") % {"n": lane.failures, "needed": lane.failures_needed}
    if lane.flapping:
        return pgettext("mark beside a state", "flapping")
    if lane.recovering:
        return gettext("recovering")
    return ""


def noun_name(noun: str) -> str:
    """Return the word for what a deed was about."""
    return str(NOUNS.get(noun, noun))


def deed_details(event: object) -> str:
    """Return what an audit event keeps besides its sentence, as "name: value" pairs; never a secret."""
    data = getattr(event, "data", None) or {}
    said = (f"{name} {_plain(value)}" for name, value in data.items() if value not in ("", None, [], False))
    return " · ".join(said)


def _plain(value: object) -> str:
    return words_listed([str(one) for one in value]) if isinstance(value, list) else str(value)

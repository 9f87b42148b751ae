"""The words of hosts: what is true of one, and its facts as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext_lazy

from panel import dictionary
from panel.history import HostFinding, HostRow
from panel.rollups import WORST_FIRST
from panel.templatetags.host_facts import DRIVERS, gib, is_free

register = template.Library()

HOSTS_IN_A_LIST = 3
# By the names that `checks.hosts.findings` gives its values; the state of a driver is in the title.
FINDING_FACTS: dict[str, Promise] = {
    "seconds": pgettext_lazy("fact of a finding", "seconds off"),
    "complaint": pgettext_lazy("fact of a finding", "said"),
    "gpu": pgettext_lazy("fact of a finding", "GPU"),
    "pid": pgettext_lazy("fact of a finding", "process id"),
    "process": pgettext_lazy("fact of a finding", "process"),
    "user": pgettext_lazy("fact of a finding", "user"),
    "memory": pgettext_lazy("fact of a finding", "memory"),
    "found": pgettext_lazy("fact of a finding", "found"),
    "wanted": pgettext_lazy("fact of a finding", "wanted"),
    "python": pgettext_lazy("fact of a finding", "Python"),
    "port": pgettext_lazy("fact of a finding", "port"),
    "purpose": pgettext_lazy("fact of a finding", "wanted for"),
    "address": pgettext_lazy("fact of a finding", "address"),
    "what": pgettext_lazy("fact of a finding", "what listens"),
    "path": pgettext_lazy("fact of a finding", "path"),
    "free": pgettext_lazy("fact of a finding", "free"),
    "total": pgettext_lazy("fact of a finding", "in all"),
    "variable": pgettext_lazy("fact of a finding", "variable"),
    "proxy": pgettext_lazy("fact of a finding", "proxy"),
    "no_proxy": pgettext_lazy("fact of a finding", "exceptions"),
}


@register.filter
def host_state(row: HostRow) -> str:
    """Return the state that a host is drawn in now."""
    if row.key_changed:
        return "down"
    if not row.has_key or not row.host_key_accepted:
        return "unknown"
    if row.paused:
        return "paused"
    return "unknown" if row.stale else row.state


@register.filter
def host_why(row: HostRow) -> str:
    """Return in a few words why a host is in its state; empty where the state says it all."""
    if row.key_changed:
        return gettext("another host key")
    if not row.has_key:
        return gettext("no key yet")
    if not row.host_key_accepted:
        return gettext("host key not accepted")
    if row.stale and not row.paused:
        return gettext("no fresh reading") if row.read_at else gettext("no reading yet")
    return dictionary.entry(row.reason).title if row.reason else ""


@register.filter
def host_sentence(row: HostRow) -> str:
    """Say what is true of a host now."""
    name = {"name": row.name}
    if row.key_changed:
        return gettext("%(name)s is blocked: it shows another host key") % name
    if not row.has_key:
        return gettext("%(name)s needs a key before anybody logs in") % name
    if not row.host_key_accepted:
        return gettext("%(name)s waits until its host key is accepted") % name
    if row.paused:
        return gettext("Readings of %(name)s are paused") % name
    if row.stale:
        told = (
            gettext("%(name)s has told nothing lately")
            if row.read_at
            else gettext("%(name)s was not read yet")
        )
        return told % name
    if row.reason and row.state != "ok":
        return _with_reason(row)
    return _reports(row)


def _with_reason(row: HostRow) -> str:
    said = {"name": row.name, "what": dictionary.entry(row.reason).title}
    return gettext("%(name)s: %(what)s") % said


def _reports(row: HostRow) -> str:
    gpus = row.facts.gpus.gpus if row.facts else ()
    if row.facts is None or not gpus:
        return gettext("%(name)s reports") % {"name": row.name}
    free = sum(is_free(gpu, row.facts) for gpu in gpus)
    sentence = ngettext(
        "%(name)s reports: %(free)d of %(n)d GPU is free",
        "%(name)s reports: %(free)d of %(n)d GPUs are free",
        len(gpus),
    )
    return sentence % {"name": row.name, "free": free, "n": len(gpus)}


@register.filter
def hosts_headline(rows: Sequence[HostRow]) -> str:
    """Say what is true of the team's hosts now."""
    reporting, findings = reporting_count(rows), sum(finding_count(row) for row in rows)
    if reporting == len(rows):
        told = ngettext("The host reports", "All %(n)d hosts report", len(rows)) % {"n": len(rows)}
    else:
        told = gettext("%(reporting)d of %(n)d hosts report") % {"reporting": reporting, "n": len(rows)}
    if not findings:
        return told
    found = ngettext("%(told)s, with %(n)d finding", "%(told)s, with %(n)d findings", findings)
    return found % {"told": told, "n": findings}


@register.filter
def hosts_to_see(rows: Sequence[HostRow]) -> list[HostRow]:
    """Return the hosts that somebody should look at, the worst first, as many as fit a short list."""
    order = [state for state in WORST_FIRST if state not in ("ok", "paused")]
    unwell = [row for row in rows if host_state(row) in order]
    return sorted(unwell, key=lambda row: order.index(host_state(row)))[:HOSTS_IN_A_LIST]


@register.filter
def finding_count(row: HostRow) -> int:
    """Return how many findings ask for something; what only informs is left out."""
    return sum(finding.status != "not_testable" for finding in row.findings)


@register.filter
def reporting_count(rows: Iterable[HostRow]) -> int:
    """Return how many hosts told their facts as often as asked."""
    return sum(host_state(row) in ("ok", "degraded") for row in rows)


@register.filter
def gpus_line(row: HostRow) -> str:
    """Return "2 of 8 free" for a list; why there is no GPU to count; a dash before the first reading."""
    if row.facts is None:
        return "—"
    gpus = row.facts.gpus.gpus
    if not gpus:
        return str(DRIVERS.get(row.facts.gpus.state, "—"))
    free = sum(is_free(gpu, row.facts) for gpu in gpus)
    return gettext("%(free)d of %(n)d free") % {"free": free, "n": len(gpus)}


@register.filter
def driver_line(row: HostRow) -> str:
    """Return the driver's version with its CUDA."""
    gpus = row.facts.gpus if row.facts else None
    if gpus is None or not gpus.driver:
        return "—"
    if not gpus.cuda:
        return gpus.driver
    return gettext("%(driver)s, CUDA %(cuda)s") % {"driver": gpus.driver, "cuda": gpus.cuda}


@register.filter
def disk_line(row: HostRow) -> str:
    """Return what is free where a run writes: in the working directory, else on the system's disk."""
    disks = {disk.role: disk for disk in row.facts.disks} if row.facts else {}
    disk = disks.get("workdir") or disks.get("root")
    return gettext("%(size)s free") % {"size": gib(disk.free)} if disk else "—"


@register.filter
def finding_facts(finding: HostFinding) -> str:
    """Return the values of a finding, as the host gave them, under words for what they are."""
    pairs = ((FINDING_FACTS[name], value) for name, value in finding.say.items() if name in FINDING_FACTS)
    return " · ".join(
        gettext("%(name)s: %(value)s") % {"name": name, "value": value} for name, value in pairs if value
    )


@register.filter
def login_line(public_key: str, host: object) -> str:
    """Return the line for authorized_keys: nothing is forwarded, but to hosts reached through it."""
    rights = "restrict,port-forwarding" if getattr(host, "hosts_behind", 0) else "restrict"
    return f"{rights} {public_key.strip()}"

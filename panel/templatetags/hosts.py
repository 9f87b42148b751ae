"""The words of hosts: what is true of one, and its facts as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django import template
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from checks.hosts.facts import HostFacts, PythonFacts, Variable
from checks.hosts.gpus import Driver, Gpu, Holder
from panel import dictionary
from panel.history import HostFinding, HostRow
from panel.rollups import WORST_FIRST
from panel.templatetags import words
from panel.templatetags.clock import THIN

register = template.Library()

GIB = 1 << 30
HOSTS_IN_A_LIST = 3
IN_USE_SHARE = 0.05  # of a GPU's memory: below it, what a driver keeps for itself
ALMOST_FULL_SHARE = 0.95
DRIVERS: dict[Driver, Promise] = {
    Driver.ABSENT: _("no GPU tool found"),
    Driver.EMPTY: _("no GPU found"),
    Driver.MISMATCH: _("driver and library differ"),
    Driver.HUNG: _("the tool hangs"),
    Driver.BROKEN: _("the tool fails"),
}
DISKS: dict[str, Promise] = {
    "root": pgettext_lazy("disk", "System disk"),
    "workdir": pgettext_lazy("disk", "Working directory"),
    "models": pgettext_lazy("disk", "Model cache"),
    "temporary": pgettext_lazy("disk", "Temporary files"),
    "shared": pgettext_lazy("disk", "Shared memory"),
}
PARTS: dict[str, Promise] = {
    "memory": pgettext_lazy("part of a reading", "memory"),
    "disks": pgettext_lazy("part of a reading", "disks"),
    "gpus": pgettext_lazy("part of a reading", "GPUs"),
    "processes": pgettext_lazy("part of a reading", "processes"),
    "ports": pgettext_lazy("part of a reading", "ports"),
    "python": pgettext_lazy("part of a reading", "Python"),
    "team": pgettext_lazy("part of a reading", "the team's Python"),
    "conda": pgettext_lazy("part of a reading", "conda environments"),
    "environment": pgettext_lazy("part of a reading", "environment variables"),
    "system": pgettext_lazy("part of a reading", "system"),
}
TRAITS: dict[str, Promise] = {
    "gateway_no_key": _("a gateway without a key"),
    "vllm_dev": _("vLLM's development routes"),
}
EVERYWHERE = ("0.0.0.0", "::", "*")  # addresses that listen to the network  # noqa: S104


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
def is_free(gpu: Gpu, facts: HostFacts) -> bool:
    """Tell whether nothing holds memory on a GPU."""
    held = any(holder.gpu == gpu.index for holder in facts.gpus.holders)
    return not held and (gpu.used or 0) <= IN_USE_SHARE * (gpu.total or 0)


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
def gib(size: float | None) -> str:
    """Return bytes as "79.6 GiB"; a dash for None."""
    if size is None:
        return "—"
    value = size / GIB
    return f"{value:.0f}{THIN}GiB" if value >= 100 else f"{value:.1f}{THIN}GiB"


@register.simple_tag
def fill_bar(used: float | None, total: float | None) -> SafeString:
    """Return how full something is, drawn; the numbers stand beside it. Nothing where it is not known."""
    if not total or used is None:
        return SafeString("")
    share = min(1.0, max(0.0, used / total))
    return format_html(
        '<svg class="fill{}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="of" width="100" height="6"/><rect class="used" width="{}" height="6"/></svg>',
        " full" if share > ALMOST_FULL_SHARE else "",
        f"{share * 100:.1f}",
    )


@register.filter
def taken(disk: object) -> float:
    """Return the bytes of a disk that are not free."""
    return float(getattr(disk, "total", 0)) - float(getattr(disk, "free", 0))


@register.filter
def holders_of(gpu: Gpu, facts: HostFacts) -> list[Holder]:
    """Return the processes that hold memory on a GPU."""
    return [holder for holder in facts.gpus.holders if holder.gpu == gpu.index]


@register.filter
def homeless(facts: HostFacts) -> list[Holder]:
    """Return the processes of which no tool says on which GPU they are."""
    known = {gpu.index for gpu in facts.gpus.gpus}
    return [holder for holder in facts.gpus.holders if holder.gpu not in known]


@register.filter
def driver_word(facts: HostFacts) -> str:
    """Say what is wrong with the GPUs' driver; empty where nothing is."""
    return str(DRIVERS.get(facts.gpus.state, ""))


@register.filter
def disk_name(role: str) -> str:
    """Return the word for what a disk is used for."""
    return str(DISKS.get(role, role))


@register.filter
def packages_of(python: PythonFacts) -> list[tuple[str, str]]:
    """Return what matters in a Python, by name."""
    return sorted(python.packages.items())


@register.filter
def pythons(facts: HostFacts) -> list[PythonFacts]:
    """Return the Pythons of a host, the team's first, each path once."""
    found = {python.path: python for python in (facts.team, facts.python, *facts.conda) if python.path}
    return list(found.values())


@register.filter
def is_open(address: str) -> bool:
    """Tell whether who listens at this address is heard from the network."""
    return address in EVERYWHERE or not (address.startswith("127.") or address in ("::1", "localhost"))


@register.filter
def traits_said(traits: Iterable[str]) -> str:
    """Say what is known of a port."""
    return words.listed([str(TRAITS.get(trait, trait)) for trait in traits])


@register.filter
def variable_value(variable: Variable) -> str:
    """Return what is shown of a variable: addresses as they are, of keys their beginning and length alone."""
    if variable.value and variable.length <= len(variable.value):
        return variable.value
    return gettext("%(start)s… (%(n)d characters)") % {"start": variable.value, "n": variable.length}


@register.filter
def skew_said(facts: HostFacts) -> str:
    """Say how far the host's clock is from ours."""
    if facts.clock_skew is None:
        return "—"
    seconds = {"n": f"{abs(facts.clock_skew):.1f}"}
    if abs(facts.clock_skew) <= max(1.0, facts.skew_error):
        return gettext("agrees with ours")
    if facts.clock_skew > 0:
        return gettext("%(n)s s ahead of ours") % seconds
    return gettext("%(n)s s behind ours") % seconds


@register.filter
def parts_said(names: Iterable[str]) -> str:
    """Name the parts of a reading."""
    return words.listed([str(PARTS.get(name, name)) for name in names])


@register.filter
def finding_facts(finding: HostFinding) -> str:
    """Return the values of a finding, as the host gave them."""
    return " · ".join(f"{name}: {value}" for name, value in finding.say.items() if value)


@register.filter
def login_line(public_key: str, host: object) -> str:
    """Return the line for authorized_keys: nothing is forwarded, but to hosts reached through it."""
    rights = "restrict,port-forwarding" if getattr(host, "hosts_behind", 0) else "restrict"
    return f"{rights} {public_key.strip()}"

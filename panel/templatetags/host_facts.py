"""The facts of a host as a person reads them: GPUs, disks, Pythons, ports, variables, fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django import template
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from checks.hosts.facts import HostFacts, PythonFacts, Variable
from checks.hosts.gpus import Driver, Gpu, Holder
from checks.hosts.matrix import Clash, clashes
from panel.templatetags import words
from panel.templatetags.clock import THIN

register = template.Library()

GIB = 1 << 30
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
FITS: dict[str, Promise] = {
    "model": pgettext_lazy("line of a fit check", "Model"),
    "heads": pgettext_lazy("line of a fit check", "Attention heads"),
    "gpus": pgettext_lazy("line of a fit check", "GPUs"),
    "context": pgettext_lazy("line of a fit check", "Context"),
    "weights": pgettext_lazy("line of a fit check", "Weights a GPU"),
    "cache": pgettext_lazy("line of a fit check", "Cache a GPU"),
    "free_memory": pgettext_lazy("line of a fit check", "Free memory now"),
    "disk": pgettext_lazy("line of a fit check", "Disk for a checkpoint"),
    "ports": pgettext_lazy("line of a fit check", "Ports"),
}
FIT_FACTS: dict[str, Promise] = {
    "architecture": pgettext_lazy("fact of a fit check", "architecture"),
    "dtype": pgettext_lazy("fact of a fit check", "type"),
    "weights": pgettext_lazy("fact of a fit check", "files"),
    "missing": pgettext_lazy("fact of a fit check", "missing files"),
    "problem": pgettext_lazy("fact of a fit check", "could not be read"),
    "heads": pgettext_lazy("fact of a fit check", "heads"),
    "tensor_parallel": pgettext_lazy("fact of a fit check", "tensor parallel"),
    "gpus": pgettext_lazy("fact of a fit check", "GPUs"),
    "asked": pgettext_lazy("fact of a fit check", "asked"),
    "longest": pgettext_lazy("fact of a fit check", "longest"),
    "need": pgettext_lazy("fact of a fit check", "needs"),
    "budget": pgettext_lazy("fact of a fit check", "may use"),
    "free": pgettext_lazy("fact of a fit check", "free"),
    "at_once": pgettext_lazy("fact of a fit check", "sequences at once"),
    "ports": pgettext_lazy("fact of a fit check", "taken"),
}
EVERYWHERE = ("0.0.0.0", "::", "*")  # addresses that listen to the network  # noqa: S104


@register.filter
def is_free(gpu: Gpu, facts: HostFacts) -> bool:
    """Tell whether nothing holds memory on a GPU."""
    held = any(holder.gpu == gpu.index for holder in facts.gpus.holders)
    return not held and (gpu.used or 0) <= IN_USE_SHARE * (gpu.total or 0)


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
def clashes_of(python: PythonFacts, facts: HostFacts) -> list[Clash]:
    """Return the versions of a Python that do not go with its Agent-Lightning; none without one."""
    variables = {item.name: item.value for item in facts.environment if item.where != "session"}
    return clashes(python.packages, "", python.version, variables)


@register.filter
def pythons(facts: HostFacts) -> list[PythonFacts]:
    """Return the Pythons of a host, the team's first, each path once."""
    found: dict[str, PythonFacts] = {}
    for python in (facts.team, facts.python, *facts.conda):
        if python.path:
            found.setdefault(python.path, python)
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
def fit_name(name: str) -> str:
    """Return the word for one line of a fit check."""
    return str(FITS.get(name, name))


@register.filter
def fit_facts(say: Mapping[str, str]) -> str:
    """Return the numbers of one line of a fit check."""
    known = ((FIT_FACTS[name], value) for name, value in say.items() if name in FIT_FACTS and value)
    return " · ".join(
        gettext("%(name)s: %(value)s") % {"name": name, "value": value} for name, value in known
    )

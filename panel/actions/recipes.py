"""What people do to recipes: say how a profile is run, and run it dry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from checks.redact import redact
from panel import ledger, tasks
from panel.actions import Refused, host_grammar, within_limits
from panel.actions.audit import record
from panel.costs import Estimate
from panel.costs import estimate as cost_of
from panel.models import Check, Host, Lane, Membership, Profile, Recipe, Run

__all__ = ["Estimate", "RecipeDraft", "dry_run", "estimate", "save"]
LOWEST, HIGHEST = 3, 5
MOST_CLIENTS, MOST_ARGUMENTS, LONGEST_ARGUMENT = 6, 100, 4096
# (field, least, most) of the numbers; the rows' constraints say the same.
BOUNDS = (
    ("agent_deadline_s", 5, 1800),
    ("prompts", 1, 16),
    ("samples", 1, 16),
    ("command_deadline_s", 10, 7200),
    ("output_cap_kb", 1, 4096),
    ("tensor_parallel", 1, 64),
)
# What only a host can do.
_NEEDS_HOST: dict[str, Promise] = {
    "agent": gettext_lazy("The agent runs on a host. Choose one."),
    "command": gettext_lazy("The command runs on a host. Choose one."),
    "model_path": gettext_lazy("The model folder is read on a host. Choose one."),
}


@dataclass(frozen=True, slots=True)
class RecipeDraft:
    """What a form says of how a profile is run (`panel.models.Recipe`)."""

    host: Host | None = None
    where: str = "worker"
    clients: Sequence[str] = ()
    workdir: str = ""
    python: str = ""
    activate: str = ""
    agent: str = ""
    question: str = ""
    question_field: str = "question"
    agent_deadline_s: int = 120
    prompts: int = 2
    samples: int = 2
    even_when_busy: bool = False
    command: Sequence[str] = ()
    command_deadline_s: int = 600
    output_cap_kb: int = 256
    gpus: str = ""
    model_path: str = ""
    tensor_parallel: int = 1


@transaction.atomic
def save(*, actor: Membership, profile: Profile, draft: RecipeDraft) -> Recipe:
    """Store how a profile is run. It changes no bundle, so the profile gets no new version; what a lead has
    run on the host is in the record, argument by argument."""
    _judge(actor, draft)
    said = {name: getattr(draft, name) for name in RecipeDraft.__dataclass_fields__}
    said |= {"clients": list(draft.clients), "command": list(draft.command)}
    if draft.python:
        said["python"] = host_grammar.python(draft.python)
    said |= {
        "workdir": host_grammar.folder(draft.workdir),
        "model_path": host_grammar.folder(draft.model_path, "model_path"),
    }
    recipe, _made = Recipe.objects.update_or_create(profile=profile, defaults=said)
    record(
        team=actor.team, actor=actor.user, verb="save", noun="recipe", code=profile.code, label=profile.name,
        **(said | {"host": draft.host.code if draft.host else ""}),
    )  # fmt: skip
    return recipe


def estimate(*, profile: Profile, kind: str, top_rung: int = HIGHEST) -> Estimate:
    """Return what a dry run of the lane may cost at most: two queries, nothing is asked."""
    lane = Lane.objects.select_related("endpoint", "profile__endpoint").get(profile=profile, kind=kind)
    recipe = Recipe.objects.filter(profile=profile).first()
    return cost_of(lane, lane.effective_endpoint, recipe, top_rung)


@transaction.atomic
def dry_run(*, actor: Membership, profile: Profile, kind: str, top_rung: int = HIGHEST) -> Run:
    """Open a run of the lane up to this rung, and send it on commit; one that is under way is returned
    instead. Raises Refused for a lane that is not in use."""
    if not LOWEST <= top_rung <= HIGHEST:
        raise Refused(_("Choose a rung from 3 to 5."), "top_rung")
    within_limits(actor, "dry_run")
    order = Check.objects.filter(lane__profile=profile, lane__kind=kind, lane__in_use=True).first()
    if order is None:
        raise Refused(_("This lane is not in use."), "lane")
    run = ledger.open_deep(order, top_rung, now=datetime.now(UTC), user=actor.user)
    record(
        team=actor.team, actor=actor.user, verb="dry_run", noun="profile", code=profile.code,
        label=f"{profile.name} {kind}", run=run.code, top_rung=top_rung,
        estimate=asdict(estimate(profile=profile, kind=kind, top_rung=top_rung)),
    )  # fmt: skip
    transaction.on_commit(lambda: tasks.send([run]), robust=True)
    return run


def _judge(actor: Membership, draft: RecipeDraft) -> None:
    """Raises Refused for what no form lets through, and a host of another team."""
    if draft.host is not None and draft.host.team_id != actor.team_id:
        raise Refused(_("There is no such host in this team."), "host")
    if draft.where not in Recipe.Where.values:
        raise Refused(_("Choose from where to climb."), "where")
    for field, least, most in BOUNDS:
        if not least <= getattr(draft, field) <= most:
            raise Refused(
                _("This is a number from %(least)d to %(most)d.") % {"least": least, "most": most}, field
            )
    if draft.host is None:
        _judge_without_host(draft)
    _judge_lists(draft)
    _judge_secrets(draft)


def _judge_without_host(draft: RecipeDraft) -> None:
    if draft.where != Recipe.Where.WORKER:
        raise Refused(_("No host is chosen. Choose one, or climb from Preflight's workers."), "where")
    for field, why in _NEEDS_HOST.items():
        if getattr(draft, field):
            raise Refused(why, field)


def _judge_lists(draft: RecipeDraft) -> None:
    if len(draft.clients) > MOST_CLIENTS:
        raise Refused(_("Name at most %(n)d clients.") % {"n": MOST_CLIENTS}, "clients")
    too_long = any(len(argument) > LONGEST_ARGUMENT for argument in draft.command)
    if len(draft.command) > MOST_ARGUMENTS or too_long:
        raise Refused(
            _("Give at most %(n)d arguments of at most %(long)d characters.")
            % {"n": MOST_ARGUMENTS, "long": LONGEST_ARGUMENT},
            "command",
        )
    if any("\x00" in argument for argument in draft.command):
        raise Refused(_("The command holds a control character. Type it again."), "command")
    if any(not part.strip().isdecimal() for part in draft.gpus.split(",") if part.strip()):
        raise Refused(_("GPUs are numbers with commas between them, such as 0,1."), "gpus")


def _judge_secrets(draft: RecipeDraft) -> None:
    """A key in a command would stand in the record, and in the host's list of processes."""
    texts = (("command", draft.command), ("activate", [draft.activate]), ("question", [draft.question]))
    for field, parts in texts:
        if any(redact(part, ()) != part for part in parts):
            raise Refused(_("This holds a key. Take it out: keys come from the bundle's variables."), field)

"""What leads say of how a profile is run on its host."""

from __future__ import annotations

import shlex
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from checks.clients.libraries import UnknownLibrary, requirement
from panel.actions.recipes import RecipeDraft
from panel.forms.hosts import HostChoice, ShellText
from panel.models import Host, Recipe

LONGEST_COMMAND = 409_600
MOST_GPUS = 64
PROGRAM = {"class": "mono", "autocomplete": "off", "spellcheck": "false"}


class LinesField(forms.CharField):
    """A list of strings, one a line; blank lines and blanks at the ends of a line are dropped."""

    def __init__(self, *, rows: int, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs=PROGRAM | {"rows": rows}), required=False, **options)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return [line.strip() for line in text.splitlines() if line.strip()]


class RecipeForm(forms.Form):
    """How a profile is run on its host, and how far its dry run may go."""

    host = HostChoice(label=_("Host"), empty_label=_("none: what needs no host is run by the workers"))
    where = forms.ChoiceField(
        label=_("Climb rungs 1 and 2 from"),
        choices=Recipe.Where.choices,
        help_text=_("Training calls from the host: “both” shows where the two differ."),
    )
    clients = LinesField(
        label=_("Client libraries"),
        rows=3,
        max_length=2000,
        help_text=_(
            "One a line: openai, langchain-openai or litellm, with a version after == where it matters. "
            "Empty: the client of each lane."
        ),
    )
    workdir = ShellText(label=_("Working directory"), max_length=500, help_text=_("Empty: the host's."))
    python = ShellText(label=_("Python"), max_length=300, help_text=_("Empty: the host's."))
    activate = ShellText(
        label=_("Activate line"),
        max_length=500,
        help_text=_("A shell line that prepares the environment. Empty: the host's."),
    )
    agent = ShellText(
        label=_("Agent class"),
        max_length=200,
        help_text=_("package.module:Class, imported in the working directory. Empty: the reference agent."),
    )
    question = forms.CharField(
        label=_("Question"), max_length=4000, required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    question_field = ShellText(
        label=_("Name of the question's field"), max_length=60, help_text=_("As the agent's task names it.")
    )
    agent_deadline_s = forms.IntegerField(label=_("Deadline of the agent, s"), min_value=5, max_value=1800)
    prompts = forms.IntegerField(label=_("Prompts"), min_value=1, max_value=16)
    samples = forms.IntegerField(label=_("Samples a prompt"), min_value=1, max_value=16)
    even_when_busy = forms.BooleanField(
        label=_("Also when the gateway is busy or paused"),
        required=False,
        help_text=_("Otherwise the dry run leaves a gateway alone that other rollouts use."),
    )
    command = LinesField(
        label=_("Command"),
        rows=5,
        max_length=LONGEST_COMMAND,
        help_text=_(
            "One argument a line, without quotes; no shell reads it. It must update no weights. "
            "Keys come from the bundle's variables: write none here."
        ),
    )
    command_deadline_s = forms.IntegerField(
        label=_("Deadline of the command, s"), min_value=10, max_value=7200
    )
    output_cap_kb = forms.IntegerField(label=_("Output kept, kB"), min_value=1, max_value=4096)
    gpus = ShellText(
        label=_("GPUs"), max_length=60, help_text=_("Numbers with commas, such as 0,1. Empty: all.")
    )
    model_path = ShellText(
        label=_("Model folder"),
        max_length=500,
        help_text=_("On the host; its config.json is read."),
    )
    tensor_parallel = forms.IntegerField(label=_("Tensor parallel"), min_value=1, max_value=MOST_GPUS)

    def __init__(self, *args: Any, hosts: QuerySet[Host], **options: Any) -> None:
        super().__init__(*args, **options)
        cast(HostChoice, self.fields["host"]).queryset = hosts

    def clean_clients(self) -> list[str]:
        """Accept known libraries, each with a version or without."""
        said: list[str] = self.cleaned_data["clients"]
        for line in said:
            try:
                requirement(line)
            except UnknownLibrary:
                raise ValidationError(
                    _("%(line)s is no client that Preflight knows. Write openai, or openai==2.15.0."),
                    params={"line": line[:60]},
                ) from None
        return list(dict.fromkeys(said))

    def clean_agent(self) -> str:
        """Accept a dotted path to a class."""
        path: str = self.cleaned_data["agent"]
        module, _colon, name = path.partition(":") if ":" in path else path.rpartition(".")
        parts = [*module.split("."), name]
        if path and not all(part.isidentifier() for part in parts):
            raise ValidationError(_("This names no class. Write it as package.module:Class."))
        return path

    def clean_question_field(self) -> str:
        """Fall back to the usual name."""
        return self.cleaned_data["question_field"] or "question"

    def clean_gpus(self) -> str:
        """Accept numbers of GPUs, each once."""
        numbers = [part.strip() for part in self.cleaned_data["gpus"].split(",") if part.strip()]
        if not all(number.isascii() and number.isdigit() and len(number) < 3 for number in numbers):
            raise ValidationError(_("GPUs are numbers with commas between them, such as 0,1."))
        return ",".join(dict.fromkeys(str(int(number)) for number in numbers))

    def clean_command(self) -> list[str]:
        """Accept arguments; a whole command line in one line is told apart from a program's name."""
        said: list[str] = self.cleaned_data["command"]
        if any(not line.isprintable() for line in said):
            raise ValidationError(_("The command holds a control character. Type it again."))
        if said and " " in said[0]:
            raise ValidationError(
                _("The first line must be the program alone, %(first)s. Give each argument its own line."),
                params={"first": _first_word(said[0])},
            )
        return said

    def draft(self) -> RecipeDraft:
        """Return the recipe as the action takes it."""
        said = self.cleaned_data
        return RecipeDraft(**said | {"clients": tuple(said["clients"]), "command": tuple(said["command"])})


def initial_of(recipe: Recipe | None) -> dict[str, Any]:
    """Return a recipe as its form shows it; the defaults where there is none yet."""
    row = recipe or Recipe()
    plain = {name: getattr(row, name) for name in RecipeForm.base_fields if name != "host"}
    return plain | {"host": row.host.code if row.host else ""}


def _first_word(line: str) -> str:
    try:
        return shlex.split(line)[0]
    except (ValueError, IndexError):
        return line.split()[0]

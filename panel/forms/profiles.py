"""What people say of profiles and their lanes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from panel.actions.profiles import LaneDraft, ProfileDraft, used_by_default
from panel.forms.endpoints import Calls, calls_under, name_for
from panel.forms.fields import BaseUrlField, KeyField, edits_of, suggestions_of
from panel.forms.rhythm import RHYTHM, RhythmForm, initial_rhythm
from panel.models import Endpoint, Lane, Profile

INTERVALS = (30, 60, 300, 900, 3600)
INTERVAL_CHOICES = (
    (30, _("every 30 s")),
    (60, _("every minute")),
    (300, _("every 5 minutes")),
    (900, _("every 15 minutes")),
    (3600, _("every hour")),
)


HEIGHT_CHOICES = (
    (2, _("rung 2, the channel")),
    (3, _("rung 3, the SDK")),
    (4, _("rung 4, the agent")),
    (5, _("rung 5, the rollout dry run")),
)
UPPER_INTERVALS = (900, 3600, 21_600, 86_400)
UPPER_INTERVAL_CHOICES = (
    (900, _("every 15 minutes")),
    (3600, _("every hour")),
    (21_600, _("every 6 hours")),
    (86_400, _("every day")),
)
LONGEST = 100_000_000


class EndpointChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # not generic when it runs
    """One of the team's endpoints, by its code."""

    marks_optional = False  # the empty choice says what it means

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.name} ({obj.base_url})"


class ProfileForm(forms.Form):
    """A profile: four fields first; without a chosen endpoint a new one is made of base URL and key."""

    name = forms.CharField(
        label=_("Name"), max_length=60, help_text=_("The training project, such as grpo-prod.")
    )
    endpoint = EndpointChoice(
        label=_("Endpoint"),
        queryset=Endpoint.objects.none(),
        to_field_name="code",
        required=False,
        empty_label=_("A new endpoint"),
    )
    base_url = BaseUrlField(
        label=_("Base URL"), required=False, help_text=_("Up to and with its version segment, if it has one.")
    )
    key = KeyField(label=_("Key"), required=False, help_text=_("Sealed on save, and never shown again."))
    no_key = forms.BooleanField(label=_("This server needs no key"), required=False)
    model = forms.CharField(
        label=_("Model"),
        max_length=200,
        help_text=_("The id that the endpoint knows, such as qwen3-32b-instruct."),
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off", "spellcheck": "false"}),
    )
    environment = forms.ChoiceField(label=_("Environment"), choices=Profile.Environment.choices)
    generation = forms.ChoiceField(label=_("Framework"), choices=Profile.Generation.choices)
    engineers_take_keys = forms.BooleanField(
        label=_("Engineers may take keys"),
        required=False,
        help_text=_("Otherwise only leads and owners download bundles with keys."),
    )

    def __init__(self, *args: Any, endpoints: QuerySet[Endpoint], **options: Any) -> None:
        super().__init__(*args, **options)
        cast(EndpointChoice, self.fields["endpoint"]).queryset = endpoints
        self.taken = {endpoint.name for endpoint in endpoints}

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = self.cleaned_data
        if said.get("endpoint") is not None or "endpoint" in self.errors:
            return said
        if "base_url" not in self.errors and said.get("base_url") is None:
            self.add_error(
                "base_url", _("The base URL is empty. Give one, or choose an endpoint of the team.")
            )
        if "key" not in self.errors and said.get("key") is None and not said.get("no_key"):
            self.add_error("key", _("The key is empty. Paste it, or say that this server needs none."))
        return said

    def new_endpoint(self) -> dict[str, Any] | None:
        """Return what the new endpoint is made of, None when one was chosen."""
        said = self.cleaned_data
        if said["endpoint"] is not None:
            return None
        url, key = said["base_url"].url, said["key"]
        return {
            "name": name_for(url, self.taken),
            "kind": Endpoint.Kind.OPENAI,
            "base_url": url,
            "needs_key": key is not None or not said["no_key"],
            "key": key.value if key else None,
        }

    def edits(self) -> list[str]:
        """Say what was changed in the pasted values."""
        return edits_of(self.cleaned_data.get("base_url"), self.cleaned_data.get("key"))

    def suggestions(self) -> tuple[str, ...]:
        """Return base URLs that would be accepted, after a refusal."""
        return suggestions_of(self, "base_url")

    def calls(self) -> Calls:
        """Return what each client would call under the base URL as it stands in the form."""
        return calls_under(str(self["base_url"].value() or ""))


class ChosenNumber(forms.TypedChoiceField):
    """A number out of a list; None where a form says nothing of it, which leaves what is stored."""

    marks_optional = False

    def __init__(self, **options: Any) -> None:
        super().__init__(coerce=int, required=False, empty_value=None, **options)


class LaneForm(RhythmForm):
    """One lane: what it does not say is inherited from the profile."""

    in_use = forms.BooleanField(label=_("In use"), required=False, initial=True)
    endpoint = EndpointChoice(
        label=_("Endpoint"),
        queryset=Endpoint.objects.none(),
        to_field_name="code",
        required=False,
        empty_label=_("as the profile"),
    )
    model = forms.CharField(
        label=_("Model"),
        max_length=200,
        required=False,
        widget=forms.TextInput(
            attrs={"class": "mono", "autocomplete": "off", "placeholder": _("as the profile")}
        ),
    )
    latency_limit_ms = forms.IntegerField(
        label=_("Latency limit, ms"), required=False, min_value=1, max_value=600_000
    )
    prompt_length = forms.IntegerField(
        label=_("Longest prompt, tokens"),
        required=False,
        min_value=1,
        max_value=LONGEST,
        help_text=_("As training asks for it: compared with the server's window."),
    )
    response_length = forms.IntegerField(
        label=_("Longest response, tokens"), required=False, min_value=1, max_value=LONGEST
    )
    interval_s = forms.TypedChoiceField(label=_("Checked"), choices=INTERVAL_CHOICES, coerce=int, initial=300)
    top_rung = ChosenNumber(
        label=_("Climbs to"),
        choices=HEIGHT_CHOICES,
        initial=2,
        help_text=_("The upper rungs cost tokens and time: see the profile's recipe and dry run."),
    )
    upper_interval_s = ChosenNumber(label=_("Rungs 3 to 5"), choices=UPPER_INTERVAL_CHOICES, initial=3600)

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        kind: str,
        initial: dict[str, Any],
        endpoints: QuerySet[Endpoint],
    ) -> None:
        super().__init__(data, prefix=kind, initial=initial)
        self.kind = kind
        if kind != Lane.Kind.ROLLOUT:
            del self.fields["prompt_length"], self.fields["response_length"]
        cast(EndpointChoice, self.fields["endpoint"]).queryset = endpoints
        interval = cast(forms.TypedChoiceField, self.fields["interval_s"])
        kept = self.initial.get("interval_s", 300)
        if kept not in INTERVALS:  # set by other means than this form: offered, so that saving keeps it
            interval.choices = [*INTERVAL_CHOICES, (kept, _("every %(n)d s") % {"n": kept})]
        upper = cast(ChosenNumber, self.fields["upper_interval_s"])
        kept = self.initial.get("upper_interval_s", 3600)
        if kept not in UPPER_INTERVALS:
            upper.choices = [*UPPER_INTERVAL_CHOICES, (kept, _("every %(n)d s") % {"n": kept})]

    def draft(self) -> LaneDraft:
        """Return the lane as the action takes it."""
        said = {name: self.cleaned_data[name] for name in self.fields if name not in RHYTHM}
        return LaneDraft(**said, rhythm=self.rhythm())


class ProfileEditor:
    """The profile's form with its three lanes' forms, validated as one."""

    def __init__(
        self, data: Mapping[str, Any] | None, endpoints: QuerySet[Endpoint], profile: Profile | None = None
    ) -> None:
        lanes = {lane.kind: lane for lane in profile.lanes.all()} if profile else {}
        initial = (
            _profile_initial(profile)
            if profile
            else {"environment": Profile.Environment.DEV, "generation": Profile.Generation.ONE}
        )
        self.form = ProfileForm(data, initial=initial, endpoints=endpoints)
        self.lanes = [
            LaneForm(
                data,
                kind=kind,
                initial=_lane_initial(lanes[kind])
                if kind in lanes
                else {"in_use": kind in used_by_default(initial["generation"])},
                endpoints=endpoints,
            )
            for kind in Lane.Kind.values
        ]

    def is_valid(self) -> bool:
        """Validate all four forms, so that every error is shown at once."""
        return not [form for form in (self.form, *self.lanes) if not form.is_valid()]

    def draft(self, endpoint: Endpoint | None) -> ProfileDraft:
        """Return the profile as the action takes it; `endpoint` is the one just made, else the chosen one."""
        said = self.form.cleaned_data
        return ProfileDraft(
            name=said["name"],
            environment=said["environment"],
            generation=said["generation"],
            endpoint=endpoint or said["endpoint"],
            model=said["model"],
            engineers_take_keys=said["engineers_take_keys"],
            lanes={form.kind: form.draft() for form in self.lanes},
        )


def _profile_initial(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "endpoint": profile.endpoint.code if profile.endpoint else "",
        "model": profile.model,
        "environment": profile.environment,
        "generation": profile.generation,
        "engineers_take_keys": profile.engineers_take_keys,
    }


def _lane_initial(lane: Lane) -> dict[str, Any]:
    return {
        "in_use": lane.in_use,
        "endpoint": lane.endpoint.code if lane.endpoint else "",
        "model": lane.model,
        "latency_limit_ms": lane.latency_limit_ms,
        "interval_s": lane.check_order.interval_s,
        "top_rung": lane.check_order.top_rung,
        "upper_interval_s": lane.check_order.upper_interval_s,
        "prompt_length": lane.prompt_length,
        "response_length": lane.response_length,
    } | initial_rhythm(lane.check_order)

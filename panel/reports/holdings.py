"""Keys that are due, and bundles: those taken in a period, and those that hold what is no longer in use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from panel.models import Download, KeyVersion, Team
from panel.reports.shapes import KeyDue, Taken

KEY_DUE_WITHIN = timedelta(days=30)
DOWNLOADS_READ = 2000  # the newest ones: who holds an older bundle has most likely taken another since
LISTED = 50


class Holdings:
    """What a team's people and endpoints hold at `until`: two queries."""

    def __init__(self, team: Team, begins: datetime, until: datetime) -> None:
        active = KeyVersion.objects.filter(endpoint__team=team, state=KeyVersion.State.ACTIVE)
        keys = list(active.select_related("endpoint").order_by("expires_at", "endpoint__name"))
        self.keys_due = tuple(
            _due(key, key.expires_at)
            for key in keys
            if key.expires_at is not None and key.expires_at <= until + KEY_DUE_WITHIN
        )[:LISTED]
        in_use = {f"{key.endpoint.name} v{key.number}" for key in keys}
        downloads = Download.objects.filter(profile_version__profile__team=team, at__lt=until)
        rows = downloads.select_related("user", "profile_version__profile").order_by("-at")[:DOWNLOADS_READ]
        seen = [(row, _taken(row, in_use)) for row in rows]
        self.taken = tuple(taken for row, taken in seen if row.at >= begins)[:LISTED]
        self.holders = _holders(seen)


def _due(key: KeyVersion, expires_at: datetime) -> KeyDue:
    return KeyDue(key.endpoint.name, key.endpoint.code, key.number, iso(expires_at))


def _taken(row: Download, in_use: set[str]) -> Taken:
    version = row.profile_version
    stale = "key" if set(row.key_versions) - in_use else ""
    if not stale and version.number < version.profile.version:
        stale = "version"
    return Taken(
        person=str(row.user), profile=version.profile.name, profile_code=version.profile.code,
        version=version.number, newest_version=version.profile.version, with_keys=row.with_keys,
        at=iso(row.at), stale=stale,
    )  # fmt: skip


def _holders(seen: list[tuple[Download, Taken]]) -> tuple[Taken, ...]:
    """Return who holds something stale: only the newest bundle of a person and a profile counts."""
    newest: dict[tuple[int, str], Taken] = {}
    for row, taken in seen:
        newest.setdefault((row.user_id, taken.profile_code), taken)
    stale = [taken for taken in newest.values() if taken.stale]
    return tuple(sorted(stale, key=lambda taken: (taken.stale != "key", taken.at)))[:LISTED]


def iso(moment: datetime) -> str:
    """Return a moment as reports keep it."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")

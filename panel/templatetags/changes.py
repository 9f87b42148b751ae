"""What differs between the last pass and a failure, in words."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from panel.history import Changed

PATH: dict[str, Promise] = {
    "peer": _("the address that answers went from %(before)s to %(after)s"),
    "certificate": _("the certificate went from %(before)s to %(after)s"),
    "server": _("the server's software went from %(before)s to %(after)s"),
}


def what_changed(changed: Changed) -> str:
    """Return all differences as one clause after a colon."""
    return pgettext("between two clauses", "; ").join(_clauses(changed)) + pgettext("ends a sentence", ".")


def _clauses(changed: Changed) -> Iterator[str]:
    (old_version, version), (old_key, key) = changed.profile, changed.key
    if old_version != version:
        said = {"before": old_version, "after": version}
        yield gettext("the profile went from version %(before)s to %(after)s") % said
    if old_key != key and key is None:
        yield gettext("the key is gone")
    elif old_key != key and old_key is None:
        yield gettext("key v%(after)s was added") % {"after": key}
    elif old_key != key:
        yield gettext("the key went from v%(before)s to v%(after)s") % {"before": old_key, "after": key}
    for name, before, after in changed.path:
        yield str(PATH[name]) % {"before": before, "after": after}

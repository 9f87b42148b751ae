"""What an endpoint said of the money behind its key, in words."""

from __future__ import annotations

from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

WHY: dict[str, Promise] = {
    "no_adapter": _("This kind of endpoint tells no balance."),
    "no_key": _("There is no key to ask with."),
    "no_route": _("The endpoint has no page for balances."),
    "no_limit": _("The key has no limit of its own."),
    "odd_answer": _("The endpoint answered in an unknown form."),
    "refused": _("The endpoint does not tell this key its balance."),
    "rate_limited": _("The endpoint was asked too often. Ask again later."),
    "server_fault": _("The endpoint failed to answer."),
    "unreachable": _("The endpoint could not be reached."),
    "egress_denied": _("The operator's outbound rules do not allow this address."),
}


def balance_sentence(told: Any) -> str:
    """Say the amount, or why there is none; an unknown balance is never a number."""
    if told.state == "asking":
        return gettext("Asked; the answer is on its way.")
    if told.state != "value":
        return str(WHY.get(told.why, WHY["odd_answer"]))
    amount = number_format(told.amount, decimal_pos=2, use_l10n=True)
    said = {"amount": amount, "currency": told.currency}
    if told.of == "account":
        return gettext("%(amount)s %(currency)s on the account") % said
    return gettext("%(amount)s %(currency)s on the key") % said

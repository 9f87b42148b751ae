"""The sentences on why a notice was not sent, or was not needed any more."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from panel.notices.message import Trouble

_SENTENCES: dict[str, Promise] = {
    Trouble.DENIED: _("The egress policy of this instance refuses the address %(address)s."),
    Trouble.NO_NAME: _("The name of the server does not resolve."),
    Trouble.UNREACHABLE: _("No connection to the server was made."),
    Trouble.TLS: _("The server's certificate was not accepted."),
    Trouble.TIMEOUT: _("No connection was made in time."),
    Trouble.REDIRECT: _("The server sent us to another address (status %(status)s), where we do not follow."),
    Trouble.REFUSED: _("The server refused the message with status %(status)s."),
    Trouble.RATE_LIMITED: _("The server takes no more messages for a while."),
    Trouble.SERVER_FAULT: _("The server failed with status %(status)s."),
    Trouble.SAID_NO: _("The server answered 200 and refused the message with its code %(code)s."),
    Trouble.ODD_ANSWER: _("The server answered 200, but not in the form of this product."),
    Trouble.UNCLEAR: _("The message left, and no answer came: it may have arrived."),
    Trouble.SEAL_BROKEN: _("The sealed secret of the channel does not open. Give it again."),
    Trouble.NO_MAIL: _("This instance has no mail server."),
    Trouble.MAIL_REFUSED: _("The mail server refused the message."),
    Trouble.OFF: _("The channel was taken out of use."),
    Trouble.OVER: _("It was over before the time came to tell."),
    Trouble.TAKEN: _("Somebody had taken it."),
    Trouble.UNTOLD: _("The channel was never told that it began."),
    Trouble.BY_HAND: _("Somebody said that it is not needed."),
}


def sentence(failure: str, say: Mapping[str, str]) -> str:
    """Return the sentence of one trouble in the reader's language; empty for none."""
    if failure not in _SENTENCES:
        return ""
    facts = {"address": "", "status": "", "code": ""} | dict(say)
    return str(_SENTENCES[failure]) % facts

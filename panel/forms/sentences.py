"""Why a pasted value was changed or refused, as a person reads it."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from checks.addresses import AddressError, AddressProblem
from checks.keys import KeyProblem, KeyRefused
from checks.pasted import Edit

EDITS: dict[Edit, Promise] = {
    Edit.STRIPPED_BLANKS: _("Blanks or invisible characters at the ends were taken off."),
    Edit.STRIPPED_QUOTES: _("The quotes around the value were taken off."),
    Edit.LOWER_CASED_SCHEME: _("The scheme was written in lower case."),
    Edit.LOWER_CASED_HOST: _("The host name was written in lower case."),
    Edit.REWROTE_IPV6: _("The IPv6 address was written in its short form."),
    Edit.COLLAPSED_SLASHES: _("Doubled slashes in the path were made one."),
    Edit.DROPPED_TRAILING_SLASH: _("The slash at the end was dropped."),
    Edit.CUT_OPERATION: _("The operation at the end was cut: each client appends its own."),
}
ADDRESSES: dict[AddressProblem, Promise] = {
    AddressProblem.EMPTY: _("The base URL is empty. Give one such as https://relay.example/v1."),
    AddressProblem.TOO_LONG: _("The base URL is too long. Give at most 2048 characters."),
    AddressProblem.KEY_PASTED: _("This looks like a key. Paste the base URL here and the key below."),
    AddressProblem.ASSIGNMENT_PASTED: _(
        "The name of a variable was pasted with the base URL. Paste what follows the = sign."
    ),
    AddressProblem.USER_INFO: _(
        "The base URL holds a user name or password, which would replace the key. Remove all before the @."
    ),
    AddressProblem.NON_ASCII: _("The base URL holds a character that is not ASCII. Type it again in Latin."),
    AddressProblem.CONTROL_CHARACTER: _("The base URL holds a control character. Type it again."),
    AddressProblem.INNER_BLANK: _("There is a blank inside the base URL. Remove it."),
    AddressProblem.FORBIDDEN_CHARACTER: _("The base URL holds a character that no URL may hold. Remove it."),
    AddressProblem.MISSING_SCHEME: _("The base URL does not begin with https:// or http://. Add it."),
    AddressProblem.UNSUPPORTED_SCHEME: _("Only https:// and http:// can be called. Begin with one of them."),
    AddressProblem.NO_HOST: _("The base URL names no host. Give one such as https://relay.example/v1."),
    AddressProblem.BAD_HOST: _("The base URL names no valid host. Give a host name or an IP address."),
    AddressProblem.BAD_PORT: _("The port in the base URL is not a number from 1 to 65535. Correct it."),
    AddressProblem.QUERY: _("The base URL has a query, which each client garbles. Remove all from the ? on."),
    AddressProblem.FRAGMENT: _("The base URL has a fragment, which clients drop. Remove all from the # on."),
    AddressProblem.BAD_ESCAPE: _("A percent sign in the base URL begins no usable escape. Correct it."),
    AddressProblem.DOT_SEGMENT: _("The base URL's path holds . or .. as a segment. Write the path out."),
}
KEYS: dict[KeyProblem, Promise] = {
    KeyProblem.EMPTY: _("The key is empty. Paste it."),
    KeyProblem.TOO_LONG: _("The key is too long. Paste one of at most 4096 bytes."),
    KeyProblem.BEARER: _("The key begins with the word Bearer. Paste it without: clients add it themselves."),
    KeyProblem.ASSIGNMENT: _("The name of a variable was pasted with the key. Paste what follows the sign."),
    KeyProblem.MASKED: _("The middle of the key is hidden, as some pages show it. Copy the whole key."),
    KeyProblem.PLACEHOLDER: _("This is a placeholder from an example. Paste the key itself."),
    KeyProblem.INNER_BLANK: _(
        "There is a blank or a line break inside the key. Copy it again, in one piece."
    ),
    KeyProblem.CONTROL_CHARACTER: _(
        "The key holds a control character, which no header can carry. Copy it again."
    ),
    KeyProblem.NON_ASCII: _(
        "The key holds a character that is not ASCII, which no header can carry. Copy it again."
    ),
}


def edit_sentence(edit: Edit) -> str:
    """Say what was changed in a pasted value."""
    return str(EDITS[edit])


def address_sentence(error: AddressError) -> str:
    """Say why a base URL is refused, what to do, and which piece is to blame where one is."""
    return _with_piece(str(ADDRESSES[error.problem]), error.detail, error.position)


def key_sentence(error: KeyRefused) -> str:
    """Say why a key is refused and what to do; of the key itself only an offending character is named."""
    return _with_piece(str(KEYS[error.problem]), error.character, error.position)


def _with_piece(sentence: str, piece: str, position: int | None) -> str:
    if position is not None and piece:
        return gettext("%(sentence)s Character %(position)d: %(piece)s") % {
            "sentence": sentence, "position": position, "piece": piece,
        }  # fmt: skip
    if piece:
        return gettext("%(sentence)s Found: %(piece)s") % {"sentence": sentence, "piece": piece}
    return sentence

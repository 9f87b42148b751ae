"""How allauth is bent to this house: accounts come from invitations, never from a sign-up page."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Closes the public sign-up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody signs up unasked."""
        return False

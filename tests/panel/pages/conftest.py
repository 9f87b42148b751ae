"""A team to look at, and browsers without JavaScript that are signed in to it.

Rows are imported inside: pytest reads this file before Django is set up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.utils import timezone

if TYPE_CHECKING:
    from panel.models import Membership
    from tests.panel.pages.scene import Scene


@pytest.fixture
def atlas(db: None) -> Scene:
    """The team of the scene, as it stands now."""
    from tests.panel.pages.scene import scene

    return scene(timezone.now())


@pytest.fixture
def browse() -> Callable[[Membership], Client]:
    """Sign somebody in."""

    def signed_in(member: Membership) -> Client:
        client = Client()
        client.force_login(member.user)
        return client

    return signed_in

"""One Chromium for the session, and a server that it talks to."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from tests.parts import require

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.panel.pages.scene import Scene

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-dev-shm-usage",
]  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives Chromium."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright, which keeps a loop running in this thread: it ends with the
    module, so that other tests can run loops of their own."""
    sync_api = pytest.importorskip("playwright.sync_api")
    require(CHROMIUM, "Chromium")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def atlas(transactional_db: Any) -> Scene:
    """The team of the scene, as it stands now."""
    from tests.panel.pages.scene import scene

    return scene(timezone.now())

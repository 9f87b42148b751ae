"""The surroundings of every test process: nothing of the caller's shell, and files that go away."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

KEPT = (
    *("PREFLIGHT_TEST_DATABASE_URL", "PREFLIGHT_TEST_REDIS_URL", "PREFLIGHT_REQUIRE_ALL"),
    *("PREFLIGHT_TEST_VLLM", "PREFLIGHT_TEST_VLLM_FIND_LINKS"),
    *("PREFLIGHT_TEST_PYTHON312", "PREFLIGHT_TEST_AGL0"),
)
FOREIGN = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "GUNICORN_CMD_ARGS", "SSL_CERT_FILE")
FOREIGN_PREFIXES = ("PREFLIGHT_", "OPENAI_", "AGL_", "CELERY_")


def clean() -> Path:
    """Take the caller's settings and proxies out of the environment; return the fresh data folder."""
    for name in list(os.environ):
        foreign = name in FOREIGN or name.startswith(FOREIGN_PREFIXES) or name.lower().endswith("_proxy")
        if foreign and name not in KEPT:
            del os.environ[name]
    folder = Path(tempfile.mkdtemp(prefix="pf-"))
    os.environ["PREFLIGHT_DATA_DIR"] = str(folder)
    (folder / "static-root").mkdir()  # the middleware warns without it, and warnings are errors
    os.environ["DJANGO_SETTINGS_MODULE"] = "panel.settings"
    for ours, theirs in (
        ("PREFLIGHT_TEST_DATABASE_URL", "DATABASE_URL"),
        ("PREFLIGHT_TEST_REDIS_URL", "REDIS_URL"),
    ):
        if os.environ.get(ours):
            os.environ[theirs] = os.environ[ours]
    return folder


def remove(folder: Path) -> None:
    """Take the data folder away."""
    shutil.rmtree(folder, ignore_errors=True)

"""How gunicorn serves the panel: `gunicorn --config python:panel.web_server panel.wsgi`."""

from __future__ import annotations

import os
from typing import Any

from panel.logs import logging_settings
from panel.orphans import die_with_parent, watch_parent

worker_class = "gthread"
threads = 8
timeout = 60
graceful_timeout = 5
control_socket_disable = True  # nobody steers it from outside
logconfig_dict = logging_settings(os.environ.get("PREFLIGHT_LOG_LEVEL", "INFO"))


def on_starting(server: Any) -> None:
    """End with the supervisor that started this server, where there is one."""
    if parent := os.environ.get("PREFLIGHT_SUPERVISOR"):
        watch_parent(int(parent))


def post_fork(server: Any, worker: Any) -> None:
    """A worker whose master is gone would keep the port."""
    die_with_parent(server.pid)
    watch_parent(server.pid)


def post_worker_init(worker: Any) -> None:
    """Watch from here whether the workers still check."""
    from django.conf import settings

    if settings.WATCHDOG:
        from panel import watchdog

        watchdog.start()

"""The Celery application; its settings are those of `panel.settings` under CELERY_."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
app = Celery("preflight")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["panel"])

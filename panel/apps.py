"""The one Django application."""

from __future__ import annotations

from django.apps import AppConfig


class PanelConfig(AppConfig):
    """Registers the system checks when Django is ready."""

    name = "panel"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from panel import system_checks  # noqa: F401 - importing it registers the checks

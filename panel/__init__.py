"""The web project and its only app; the Celery application loads with it."""

from panel.celery import app as celery_app

__all__ = ["celery_app"]

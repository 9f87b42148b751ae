"""Every address of the panel, grouped under its prefix."""

from __future__ import annotations

from django.urls import path

urlpatterns: list[object] = []

"""Why it failed: evidence in, one reason out; pure, standard library only."""

from __future__ import annotations

from checks.verdict.classify import classify

__all__ = ["classify"]

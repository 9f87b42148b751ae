"""What an error report may say: names of fields and variables, never what they held."""

from __future__ import annotations

from collections.abc import ItemsView
from types import FrameType
from typing import Any

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter

from checks.redact import MASK


class SilentReporterFilter(SafeExceptionReporterFilter):
    """Keeps what people typed and what functions held out of error reports, whatever the mode."""

    def is_active(self, request: HttpRequest | None) -> bool:
        """Always: a report is read by more people than a key."""
        return True

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, Any]:
        """Name the fields, without their content."""
        return dict.fromkeys(request.POST, MASK) if request else {}

    def get_traceback_frame_variables(
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> ItemsView[str, Any]:
        """Name the variables of a frame, without their content."""
        return dict.fromkeys(tb_frame.f_locals, MASK).items()

"""The ASGI entry for other servers; it refuses to serve with settings that a system check turns down."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
application = get_asgi_application()

from panel.system_checks import insist  # noqa: E402 - Django is set up first

insist()

"""Notices that were taken, with their messages in words and their channels' secrets unsealed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from django.conf import settings

from checks import Masked
from panel import notices, reports, vault
from panel.models import Channel, Notice, Report
from panel.notices import Message, Sending, Target, Trouble

logger = logging.getLogger(__name__)


def brief_notices(taken: Sequence[Notice]) -> list[Sending]:
    """Return what to send for notices that `notices.start` took; one that cannot be sent says why."""
    rows = Report.objects.select_related("team").in_bulk(
        [each.data["report"] for each in taken if each.kind == Notice.Kind.REPORT]
    )
    return [_sending(each, rows.get(each.data.get("report", 0))) for each in taken]


def _sending(notice: Notice, report: Report | None) -> Sending:
    channel = notice.channel
    if notice.kind == Notice.Kind.REPORT and report is None:
        gone = Message(notice.code, notice.kind, "", notice.made_at)
        return Sending(notice.pk, notice.attempts, gone, Target(channel.kind), Trouble.OVER)
    message = _report_message(notice, report) if report else notices.message_for(notice)
    try:
        target = Target(channel.kind, channel.settings, *_secrets(channel))
    except vault.SealBroken:
        logger.exception("The secret of channel %s does not open.", channel.code)
        return Sending(notice.pk, notice.attempts, message, Target(channel.kind), Trouble.SEAL_BROKEN)
    return Sending(notice.pk, notice.attempts, message, target)


def _secrets(channel: Channel) -> Iterable[Masked | None]:
    for part, sealed in (("secret", channel.sealed_secret), ("sign", channel.sealed_sign)):
        context = vault.channel_context(channel.code, part, channel.secret_number, channel.origin)
        yield vault.unseal(sealed, team=channel.team, context=context) if sealed else None


def _report_message(notice: Notice, report: Report) -> Message:
    language, site = notice.channel.language, settings.PUBLIC_URL
    mail = reports.mail(report, language=language, site=site)
    return Message(
        code=notice.code,
        kind=notice.kind,
        title=mail.subject,
        made_at=notice.made_at,
        language=language,
        team=notice.channel.team.slug,
        link=f"{site}/t/{report.team.slug}/reports/{report.code}/" if site else "",
        link_label=mail.subject,
        facts={"report": report.code, "period": report.period},
        html=mail.html,
        text=mail.text,
        markdown=reports.chat(report, language=language, site=site),
    )

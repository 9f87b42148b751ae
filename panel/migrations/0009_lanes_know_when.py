"""Lanes know when their evidence grows old, and when they are in maintenance."""

from datetime import timedelta

from django.db import migrations, models

STALE_AFTER = 2  # intervals, as panel.timetable says


def age_evidence(apps, schema_editor):
    LaneState = apps.get_model("panel", "LaneState")
    rows = LaneState.objects.filter(evidence_at__isnull=False).values_list(
        "pk", "evidence_at", "lane__check_order__interval_s"
    )
    for pk, evidence_at, interval_s in list(rows):
        stale_at = evidence_at + STALE_AFTER * timedelta(seconds=interval_s or 300)
        LaneState.objects.filter(pk=pk).update(stale_at=stale_at)


class Migration(migrations.Migration):
    dependencies = [("panel", "0008_notices_have_codes")]

    operations = [
        migrations.AddField("lanestate", "stale_at", models.DateTimeField(null=True)),
        migrations.AddField("lanestate", "maintained_since", models.DateTimeField(null=True)),
        migrations.AddField("lanestate", "maintained_until", models.DateTimeField(null=True)),
        migrations.RunPython(age_evidence, migrations.RunPython.noop),
        migrations.AddIndex(
            "lanestate",
            models.Index(
                fields=["maintained_until"],
                condition=models.Q(maintained_until__isnull=False),
                name="lane_maintained",
            ),
        ),
        migrations.AddIndex(
            "check",
            models.Index(
                fields=["paused_until"], condition=models.Q(paused_until__isnull=False), name="check_resumes"
            ),
        ),
    ]

"""More kinds of lines on a timeline; and what changed before incidents were kept makes none of them."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def call_followed(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Nobody is told today of what broke and mended long ago; what still is broken is found by its state."""
    apps.get_model("panel", "Transition").objects.filter(followed=False).update(followed=True)


class Migration(migrations.Migration):
    dependencies = [("panel", "0009_lanes_know_when")]

    operations = [
        migrations.AlterField(
            model_name="incidententry",
            name="kind",
            field=models.CharField(
                max_length=10,
                choices=[
                    ("opened", "opened"),
                    ("joined", "lane joined"),
                    ("changed", "state changed"),
                    ("recovered", "lane recovered"),
                    ("closed", "closed"),
                    ("taken", "taken"),
                    ("handed", "handed over"),
                    ("note", "note"),
                    ("muted", "muted"),
                    ("unmuted", "no longer muted"),
                    ("told", "told"),
                    ("escalated", "escalated"),
                ],
            ),
        ),
        migrations.RunPython(call_followed, migrations.RunPython.noop),
    ]

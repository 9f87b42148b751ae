from django.db import migrations, models

import panel.models.codes


class Migration(migrations.Migration):
    # No row of these tables can be older than this: 0007 made them.
    dependencies = [
        ("panel", "0007_incidents_notices_reports"),
    ]

    operations = [
        migrations.AddField(
            model_name="channel",
            name="origin",
            field=models.CharField(blank=True, default="", editable=False, max_length=300),
            preserve_default=False,
        ),
        migrations.AddField(model_name="channel", name="say", field=models.JSONField(default=dict)),
        migrations.AddField(
            model_name="route",
            name="code",
            field=models.CharField(
                default=panel.models.codes.new_code, editable=False, max_length=12, unique=True
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="code",
            field=models.CharField(
                default=panel.models.codes.new_code, editable=False, max_length=12, unique=True
            ),
        ),
        migrations.AddField(model_name="notice", name="say", field=models.JSONField(default=dict)),
    ]

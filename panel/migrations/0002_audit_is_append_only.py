"""The database itself refuses to change or delete an audit event."""

from django.db import migrations

POSTGRESQL = """
CREATE FUNCTION panel_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'audit events are append-only'; END $$;
CREATE TRIGGER panel_audit_append_only BEFORE UPDATE OR DELETE ON panel_auditevent
FOR EACH ROW EXECUTE FUNCTION panel_audit_refuse();
"""
SQLITE_UPDATE = """
CREATE TRIGGER panel_audit_no_update BEFORE UPDATE ON panel_auditevent
BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
"""
SQLITE_DELETE = """
CREATE TRIGGER panel_audit_no_delete BEFORE DELETE ON panel_auditevent
BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
"""


def guard(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL.replace("%", "%%"), params=None)
    else:
        schema_editor.execute(SQLITE_UPDATE)
        schema_editor.execute(SQLITE_DELETE)


class Migration(migrations.Migration):
    dependencies = [("panel", "0001_house")]
    operations = [migrations.RunPython(guard, migrations.RunPython.noop)]

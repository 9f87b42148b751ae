"""Many rows by one statement: on PostgreSQL from one JSON parameter, elsewhere by the ORM.

The ORM resolves and quotes each value of each row as an expression of its own, which for a result costs more
processor time than to ask for it; here `json` writes the values and PostgreSQL reads them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from django.db import connection, models

Names = tuple[str, ...]
Model = type[models.Model]


def update_rows(rows: Sequence[models.Model], fields: Names) -> None:
    """Write these fields of rows that are there, by primary key."""
    if connection.vendor == "postgresql":
        _execute(_update, rows, ("pk", *fields), fields)
    elif rows:  # an insert that meets its row each time: no CASE of all values, as an update would be
        _manager(rows).bulk_create(rows, update_conflicts=True, unique_fields=["pk"], update_fields=fields)


def upsert_rows(rows: Sequence[models.Model], unique: Names, fields: Names) -> None:
    """Insert rows that are not there by their unique fields, and write `fields` of those that are; no other
    field is written, and no primary key filled in."""
    if connection.vendor == "postgresql":
        _execute(_upsert, rows, (*unique, *fields), fields)
    elif rows:
        for row in rows:
            row.pk = None
        _manager(rows).bulk_create(rows, update_conflicts=True, unique_fields=unique, update_fields=fields)


def insert_rows(rows: Sequence[models.Model], fields: Names) -> None:
    """Insert new rows of these fields alone; no primary key is filled in."""
    if connection.vendor == "postgresql":
        _execute(_insert, rows, fields, ())
    elif rows:
        _manager(rows).bulk_create(rows)


def insert_new(rows: Sequence[models.Model], fields: Names, code: str) -> None:
    """Insert new rows of these fields, `code` (a text of its own for each row) among them, and fill in their
    primary keys."""
    if connection.vendor == "postgresql":
        keys = dict(_execute(_insert_telling, rows, (code, *(name for name in fields if name != code)), ()))
        for row in rows:
            row.pk = keys[getattr(row, code)]
            row._state.adding, row._state.db = False, connection.alias
    elif rows:
        _manager(rows).bulk_create(rows)


def _manager(rows: Sequence[models.Model]) -> models.Manager[models.Model]:
    return type(rows[0])._default_manager


def _execute(sql: Any, rows: Sequence[models.Model], names: Names, fields: Names) -> list[Any]:
    """Run the statement of this kind, with the rows as a list of lists in the order of `names`; return what
    it tells."""
    if not rows:
        return []
    model = type(rows[0])
    attributes = [_field(model, name).attname for name in names]
    values = [[getattr(row, attribute) for attribute in attributes] for row in rows]
    with connection.cursor() as cursor:
        cursor.execute(sql(model, names, fields), [json.dumps(values, default=_plain, separators=(",", ":"))])
        return cursor.fetchall() if cursor.description else []


@lru_cache(maxsize=64)
def _update(model: Model, names: Names, fields: Names) -> str:
    table, key = _quoted(model._meta.db_table), _columns(model, ("pk",))[0]
    new = ", ".join(f"{column} = given.{column}" for column in _columns(model, fields))
    return (
        f"UPDATE {table} SET {new} FROM ({_given(model, names)}) AS given WHERE {table}.{key} = given.{key}"  # noqa: S608 - names of ours
    )


@lru_cache(maxsize=64)
def _upsert(model: Model, names: Names, fields: Names) -> str:
    unique = ", ".join(_columns(model, names[: len(names) - len(fields)]))
    new = ", ".join(f"{column} = EXCLUDED.{column}" for column in _columns(model, fields))
    return f"{_insert(model, names, ())} ON CONFLICT ({unique}) DO UPDATE SET {new}"


@lru_cache(maxsize=64)
def _insert(model: Model, names: Names, fields: Names) -> str:
    columns = ", ".join(_columns(model, names))
    return f"INSERT INTO {_quoted(model._meta.db_table)} ({columns}) {_given(model, names)}"


@lru_cache(maxsize=64)
def _insert_telling(model: Model, names: Names, fields: Names) -> str:
    """Tell the first field of each new row, and its primary key."""
    return f"{_insert(model, names, fields)} RETURNING {', '.join(_columns(model, (names[0], 'pk')))}"


def _given(model: Model, names: Names) -> str:
    """A query that reads the parameter as rows of these fields."""
    columns = []
    for place, name in enumerate(names):
        field = _field(model, name)
        arrow = "->" if isinstance(field, models.JSONField) else "->>"
        columns.append(f"(row {arrow} {place})::{field.db_type(connection)} AS {_quoted(field.column)}")
    return f"SELECT {', '.join(columns)} FROM jsonb_array_elements(%s::jsonb) AS row"  # noqa: S608 - names of ours


def _columns(model: Model, names: Names) -> list[str]:
    return [_quoted(_field(model, name).column) for name in names]


def _field(model: Model, name: str) -> models.Field[Any, Any]:
    found = model._meta.pk if name == "pk" else model._meta.get_field(name)
    assert isinstance(found, models.Field)  # noqa: S101 - a column, not the far end of a relation
    return found


def _quoted(name: str | None) -> str:
    return connection.ops.quote_name(name or "")


def _plain(value: object) -> str:
    """Write what JSON has no form for as PostgreSQL reads it."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (bytes, memoryview)):
        return f"\\x{bytes(value).hex()}"
    return str(value)

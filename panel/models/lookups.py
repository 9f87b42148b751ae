"""Lists of keys in queries: on PostgreSQL one value, since each placeholder costs more than its row."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.fields.related_lookups import RelatedIn
from django.db.models.lookups import In
from django.db.models.sql.compiler import SQLCompiler

BIGGEST = 2**63
Compiled = tuple[str, list[Any]]


class _OneValue:
    """Makes `in` an array; a list that is empty, or not of whole numbers, is left to Django."""

    def as_postgresql(self: Any, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Compiled:
        keys = self.rhs if self.rhs_is_direct_value() else None
        if not keys or not all(type(key) is int and -BIGGEST <= key < BIGGEST for key in keys):
            compiled: Compiled = self.as_sql(compiler, connection)
            return compiled
        column, params = self.process_lhs(compiler, connection)
        return f"{column} = ANY (%s::bigint[])", [*params, f"{{{','.join(map(str, keys))}}}"]


@models.AutoField.register_lookup
@models.BigAutoField.register_lookup
class KeyIn(_OneValue, In):
    """`pk__in` of a list."""


@models.ForeignKey.register_lookup
class ForeignKeyIn(_OneValue, RelatedIn):
    """`lane__in` of a list."""

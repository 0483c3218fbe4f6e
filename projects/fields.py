"""Model fields that every app may use."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class ExactCharField(models.CharField):  # type: ignore[type-arg]
    """A CharField that compares byte by byte on every database.

    MySQL's default collations make all emoji equal, Foo = foo and か = カ; SQLite compares exactly and does not
    know MySQL's collations by name. So the collation is chosen by the connection, not by the migration.
    """

    def db_parameters(self, connection: BaseDatabaseWrapper) -> Any:
        parameters = super().db_parameters(connection)
        if connection.vendor == "mysql":
            parameters["collation"] = "utf8mb4_bin"
        return parameters

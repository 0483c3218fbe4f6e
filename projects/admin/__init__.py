"""Operators' pages for projects, people, keys and the audit; and what other apps' pages are made from."""

from projects.admin.logins import FailedLoginAdmin
from projects.admin.pages import (
    CodeFilter,
    ProjectFilter,
    ReadableAdmin,
    StoreAdmin,
    StoreForm,
    actor,
    visible,
)
from projects.admin.people import GroupAdmin, UserAdmin
from projects.admin.projects import ApiKeyAdmin, ProjectAdmin, ProjectGrantAdmin
from projects.admin.trail import AuditEventAdmin, IdempotencyRecordAdmin

__all__ = [
    "ApiKeyAdmin",
    "AuditEventAdmin",
    "CodeFilter",
    "FailedLoginAdmin",
    "GroupAdmin",
    "IdempotencyRecordAdmin",
    "ProjectAdmin",
    "ProjectFilter",
    "ProjectGrantAdmin",
    "ReadableAdmin",
    "StoreAdmin",
    "StoreForm",
    "UserAdmin",
    "actor",
    "visible",
]

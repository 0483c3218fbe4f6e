"""What the admin's theme says in pages that we show, and Django's own Chinese does not cover.

Nothing reads this module. It names the sentences to `makemessages`, which would otherwise forget their translations.
"""

from django.utils.translation import gettext_noop, ngettext_lazy

UNFOLD = (
    gettext_noop("Select record"),
    gettext_noop("Select action"),
    gettext_noop("From"),
    gettext_noop("To"),
    gettext_noop("Date from"),
    gettext_noop("Date to"),
    gettext_noop("Not enough data."),
    gettext_noop("Select action to run"),
    gettext_noop("Select value"),
    gettext_noop("After you've created a user, you’ll be able to edit more user options."),
    gettext_noop(
        'Raw passwords are not stored, so there is no way to see this user’s password, but you can change the password using <a href="{}" class="text-primary-600 dark:text-primary-500">this form</a>.'  # noqa: E501 (theirs, word for word)
    ),
    gettext_noop("Run"),
    gettext_noop("Type to search"),
    gettext_noop("You have been successfully logged out from the administration"),
    gettext_noop("No data"),
    gettext_noop("All applications"),
    gettext_noop("True"),
    gettext_noop("False"),
    gettext_noop("Apply Filters"),
    gettext_noop("Select"),
    gettext_noop("Recent searches"),
    gettext_noop("Nothing matched your search"),
    gettext_noop("Cancel"),
    gettext_noop("This item will be deleted."),
    gettext_noop("Click to cancel"),
    gettext_noop("No results found"),
    gettext_noop("This page yielded into no results."),
    gettext_noop("Reset filters"),
    gettext_noop("Click to download"),
    gettext_noop("Go back"),
    gettext_noop("Previous"),
    gettext_noop("Next"),
    gettext_noop("Search apps and models..."),
    gettext_noop("Available shortcuts"),
    gettext_noop("Global shortcuts"),
    gettext_noop("Open command tool"),
    gettext_noop("Open shortcuts list"),
    gettext_noop("Toggle sidebar"),
    gettext_noop("Toggle dark/light mode"),
    gettext_noop("Changelist shortcuts"),
    gettext_noop("Toggle filter"),
    gettext_noop("Create new record"),
    gettext_noop("Command tool shortcuts"),
    gettext_noop("Navigate"),
    gettext_noop("Open selection"),
    gettext_noop("Open selection in new tab"),
    gettext_noop("General"),
    gettext_noop("Light"),
    gettext_noop("Dark"),
    gettext_noop("System"),
    gettext_noop("Return to site"),
    gettext_noop("Toggle password visibility"),
    gettext_noop("Date"),
    gettext_noop("Welcome"),
    gettext_noop("Welcome back to"),
    # Django has Chinese for these; this reads better beside the rest.
    gettext_noop(" By %(filter_title)s "),
    gettext_noop("Filters"),
    ngettext_lazy("Please correct the error below.", "Please correct the errors below.", 1),
    ngettext_lazy(
        '\n            Found <span class="font-medium text-important">%(counter)s</span> result in %(time)s seconds\n        ',  # noqa: E501 (theirs, word for word)
        '\n            Found <span class="font-medium text-important">%(counter)s</span> results in %(time)s seconds\n        ',  # noqa: E501 (theirs, word for word)
        1,
    ),
)
# The rows that django-axes counts failed log-ins in.
AXES = (
    gettext_noop("access attempt"),
    gettext_noop("access attempts"),
)

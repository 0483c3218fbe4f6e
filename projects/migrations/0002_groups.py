"""The groups of the staff, with the rights to look at what this app holds; their other rights come with the
apps that they are about."""

from django.db import migrations

VIEWS = {
    "superadmins": ("project", "projectgrant", "apikey", "auditevent"),
    "operators": ("project", "apikey"),
    "auditors": ("project", "auditevent"),
}


def add_groups(apps, schema_editor):
    ContentType = apps.get_model("contenttypes", "ContentType")
    Permission = apps.get_model("auth", "Permission")
    Group = apps.get_model("auth", "Group")
    for name, models in VIEWS.items():
        group, _created = Group.objects.get_or_create(name=name)
        for model in models:
            # Django makes permissions only after all migrations; it then finds these.
            content_type, _created = ContentType.objects.get_or_create(app_label="projects", model=model)
            verbose_name = apps.get_model("projects", model)._meta.verbose_name
            permission, _created = Permission.objects.get_or_create(
                content_type=content_type, codename=f"view_{model}", defaults={"name": f"Can view {verbose_name}"}
            )
            group.permissions.add(permission)


def remove_groups(apps, schema_editor):
    apps.get_model("auth", "Group").objects.filter(name__in=VIEWS).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(add_groups, remove_groups)]

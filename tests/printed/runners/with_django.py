"""Makes Django's test database and its clones for two parallel processes, and draws from each."""
import os

import django
from django.conf import settings
from django.db import connections
from django.db.migrations import RunSQL
from django.db.migrations.state import ProjectState
from django.test.utils import setup_databases, teardown_databases

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "shop",
        "TEST": {"TEMPLATE": "shop_template"},
    }
}

DATABASES["default"].update(HOST=os.environ["PGHOST"], PORT=os.environ["PGPORT"], USER=os.environ["PGUSER"])
settings.configure(DATABASES=DATABASES, INSTALLED_APPS=[])
django.setup()

made = setup_databases(verbosity=0, interactive=False, parallel=2)
connection = connections["default"]
with open("pgflurry.sql") as printed, connection.schema_editor() as editor:
    RunSQL(printed.read()).database_forwards("shop", editor, ProjectState(), ProjectState())
test_database = connection.settings_dict["NAME"]
for suffix in ("", "_1", "_2"):
    connection.close()
    connection.settings_dict["NAME"] = test_database + suffix
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO item (name) SELECT 'tea' FROM generate_series(1, 100) RETURNING id")
        assert len({row[0] for row in cursor.fetchall()}) == 100
connection.close()
connection.settings_dict["NAME"] = test_database
teardown_databases(made, verbosity=0, parallel=2)

"""pgflurry"""

# snippet: pgflurry
import os
import pathlib

from django.db import migrations

TEXT = pathlib.Path(os.environ["FRAMEWORK_MIGRATION"])  # what "pgflurry migrate print" wrote


class Migration(migrations.Migration):
    initial = True
    operations = [migrations.RunSQL(TEXT.read_text(), reverse_sql=migrations.RunSQL.noop)]
# snippet: end

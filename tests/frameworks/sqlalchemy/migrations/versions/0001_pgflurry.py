"""pgflurry"""

import os
import pathlib

revision, down_revision = "0001", None
FILE = os.environ["FRAMEWORK_MIGRATION"]

# snippet: pgflurry
from alembic import op


def upgrade():
    """Runs the text of "pgflurry migrate print" as it is. op.execute(text) would take :name in it for a parameter,
    and psycopg 2 would take %."""
    plainly = op.get_bind().execution_options(no_parameters=True)
    plainly.exec_driver_sql(pathlib.Path(FILE).read_text())
# snippet: end

"""pgflurry"""

revision, down_revision = "0001", None

# snippet: pgflurry
import os
import pathlib

from alembic import op

TEXT = pathlib.Path(os.environ["FRAMEWORK_MIGRATION"])  # what "pgflurry migrate print" wrote


def upgrade():
    op.execute(TEXT.read_text())
# snippet: end

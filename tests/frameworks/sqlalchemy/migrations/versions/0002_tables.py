"""author and book"""

revision, down_revision = "0002", "0001"

import sqlalchemy as sa
from alembic import op


def upgrade():
    op.create_table("author", snowflake(), sa.Column("name", sa.Text, nullable=False))
    op.create_table(
        "book", snowflake(), sa.Column("author_id", sa.BigInteger, sa.ForeignKey("author.id"), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
    )


def snowflake():
    return sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False,
                     server_default=sa.text("next_snowflake()"))

-- Creates schema pgflurry with the record of the applied migrations. It runs before the first migration, because that
-- one is recorded, too.
CREATE SCHEMA IF NOT EXISTS pgflurry;
COMMENT ON SCHEMA pgflurry IS
'pgflurry: the ID space of this database (namespace), who may issue IDs (worker), the other ways to make an ID, '
'and the inside of next_snowflake(). What every application calls is in public.';

CREATE TABLE IF NOT EXISTS pgflurry.migration (
    version    integer     NOT NULL
        CONSTRAINT migration_pkey PRIMARY KEY
        CONSTRAINT migration_version_range CHECK (version > 0),
    applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE pgflurry.migration IS 'Which migrations were applied to this schema; kept by "pgflurry migrate".';
COMMENT ON COLUMN pgflurry.migration.version IS 'Number of the migration.';
COMMENT ON COLUMN pgflurry.migration.applied_at IS 'When it was applied.';

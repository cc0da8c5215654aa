-- +goose Up

-- Who held which worker before its present holder: an ID names a worker and a time, and this says whose it was.
CREATE TABLE pgflurry.worker_history (
    worker         integer NOT NULL,
    term           bigint  NOT NULL CONSTRAINT worker_history_term_range CHECK (term > 0),
    kind           text    NOT NULL,
    node           text,
    address        text,
    version        text,
    acquired_at    timestamptz,
    renewed_at     timestamptz,
    released_at    timestamptz,
    reserved_until bigint  NOT NULL,
    CONSTRAINT worker_history_pkey PRIMARY KEY (worker, term)
);

COMMENT ON TABLE pgflurry.worker_history IS
'Former holders of workers, the last 100 of each. Written by a trigger when another takes the worker; nothing depends on it.';
COMMENT ON COLUMN pgflurry.worker_history.worker IS 'The number in datacenter and worker bits together.';
COMMENT ON COLUMN pgflurry.worker_history.term IS 'Which acquisition of the worker it was.';
COMMENT ON COLUMN pgflurry.worker_history.kind IS 'proxy or database, as in pgflurry.worker.';
COMMENT ON COLUMN pgflurry.worker_history.node IS 'Name of the holder: the node of a proxy, or the database of a function.';
COMMENT ON COLUMN pgflurry.worker_history.address IS 'Where the holder could be reached, for people.';
COMMENT ON COLUMN pgflurry.worker_history.version IS 'Version of the holder, for people.';
COMMENT ON COLUMN pgflurry.worker_history.acquired_at IS 'When it took the worker.';
COMMENT ON COLUMN pgflurry.worker_history.renewed_at IS 'When it last raised reserved_until.';
COMMENT ON COLUMN pgflurry.worker_history.released_at IS 'When it gave the worker back in order; NULL: it vanished, or lost it.';
COMMENT ON COLUMN pgflurry.worker_history.reserved_until IS 'Tick, exclusive: no ID of this holder at or after it exists. Of a function: see pgflurry.worker.';

-- +goose StatementBegin
-- With the owner's rights, so that who may take a worker can remember nothing but that.
CREATE FUNCTION pgflurry.remember_holder() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
    INSERT INTO pgflurry.worker_history (worker, term, kind, node, address, version, acquired_at, renewed_at, released_at, reserved_until)
    VALUES (OLD.worker, OLD.term, OLD.kind, OLD.node, OLD.address, OLD.version, OLD.acquired_at, OLD.renewed_at, OLD.released_at, OLD.reserved_until)
    ON CONFLICT (worker, term) DO NOTHING;
    DELETE FROM pgflurry.worker_history AS h WHERE h.worker = OLD.worker AND h.term <= OLD.term - 100;
    RETURN NULL;
END $fn$;
-- +goose StatementEnd
COMMENT ON FUNCTION pgflurry.remember_holder() IS 'Puts the former holder of a worker into pgflurry.worker_history when another takes it.';
REVOKE ALL ON FUNCTION pgflurry.remember_holder() FROM PUBLIC;

-- A reseed leaves no renewed_at, and nobody who holds the worker.
CREATE TRIGGER remember_holder AFTER UPDATE OF term ON pgflurry.worker
    FOR EACH ROW WHEN (OLD.term > 0 AND NEW.term > OLD.term AND (OLD.kind = 'database' OR OLD.renewed_at IS NOT NULL))
    EXECUTE FUNCTION pgflurry.remember_holder();

-- +goose Down
DROP TRIGGER remember_holder ON pgflurry.worker;
DROP FUNCTION pgflurry.remember_holder();
DROP TABLE pgflurry.worker_history;

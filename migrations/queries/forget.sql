-- What the namespace row and the workers' rows say is true of the region that this database is a copy of.
-- The guards are for originals. What is made next has them again.
ALTER TABLE pgflurry.namespace DISABLE TRIGGER USER;
ALTER TABLE pgflurry.worker DISABLE TRIGGER USER;
DELETE FROM pgflurry.namespace;
DELETE FROM pgflurry.worker;
DELETE FROM pgflurry.worker_history;
ALTER TABLE pgflurry.namespace
    ENABLE ALWAYS TRIGGER guard_namespace,
    ENABLE ALWAYS TRIGGER guard_namespace_truncate;
ALTER TABLE pgflurry.worker
    ENABLE ALWAYS TRIGGER guard_worker,
    ENABLE ALWAYS TRIGGER guard_worker_truncate,
    ENABLE TRIGGER remember_holder;

-- Removes the namespace row and the worker rows from a copy of a region that becomes another region: they describe the
-- original. The guards refuse such a change, so they are switched off meanwhile. The new rows are guarded again.
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

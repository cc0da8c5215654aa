-- Lets the function begin with its new worker at the mark of that worker, tick %[1]d. No ID of the worker is beyond it.
-- Tokens of locks must not fall with the IDs. So first of all they get a floor: no ID of the former worker is at or
-- after its mark, tick %[2]d.
-- The function sees that something else has moved its marks, and begins anew. If the session ends between the two, the
-- stand-in waits for its old mark.
SELECT setval('pgflurry.fencing_floor'::regclass, greatest(f.last_value,
           (%[2]d::bigint - 1) << b.bits | (1::bigint << b.bits) - 1))
FROM pgflurry.fencing_floor AS f, pgflurry.namespace AS n,
     LATERAL (SELECT n.datacenter_bits + n.worker_bits + n.sequence_bits AS bits) AS b;
SELECT setval('pgflurry.mark'::regclass, %[1]d), setval('pgflurry.mark_stand_in'::regclass, %[1]d);

-- Roles that may set the function's sequences or draw from them, and are neither superusers nor members of their owner:
-- of pg_write_all_data they cannot be kept, and any other grant the next "migrate up" takes back.
SELECT r.rolname::text
FROM pg_roles AS r, pg_class AS c
WHERE c.oid = to_regclass('pgflurry.lane')
  AND NOT r.rolsuper AND r.rolname <> 'pg_write_all_data' AND NOT pg_has_role(r.oid, c.relowner, 'MEMBER')
  AND (has_sequence_privilege(r.oid, c.oid, 'USAGE, UPDATE')
       OR has_sequence_privilege(r.oid, 'pgflurry.mark', 'USAGE, UPDATE'))
ORDER BY 1

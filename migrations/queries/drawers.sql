-- Lists the roles that can cause duplicates: they may draw from the function's sequences, or set them. Superusers and
-- members of the sequences' owner are left out. The next "migrate up" revokes such grants. It cannot revoke what
-- members of pg_write_all_data may do.
SELECT r.rolname::text
FROM pg_roles AS r, pg_class AS c
WHERE c.oid = to_regclass('pgflurry.lane')
  AND NOT r.rolsuper AND r.rolname <> 'pg_write_all_data' AND NOT pg_has_role(r.oid, c.relowner, 'MEMBER')
  AND (has_sequence_privilege(r.oid, c.oid, 'USAGE, UPDATE')
       OR has_sequence_privilege(r.oid, 'pgflurry.mark', 'USAGE, UPDATE'))
ORDER BY 1

cp "$PRINTED" 0001.pgflurry.sql
/usr/bin/python3 -m yoyo apply --batch --no-config-file --database "$DATABASE_URL" .

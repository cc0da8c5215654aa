cp "$PRINTED" 000001_pgflurry.up.sql
"$GO/golang-migrate" "pgx5${DATABASE_URL#postgres}" .

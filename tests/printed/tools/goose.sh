{ echo '-- +goose Up'; cat "$PRINTED"; } >00001_pgflurry.sql
"$GO/goose" "$DATABASE_URL" .

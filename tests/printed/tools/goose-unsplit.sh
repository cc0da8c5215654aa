{
	printf '%s\n' '-- +goose Up' '-- +goose StatementBegin'
	cat "$PRINTED"
	echo '-- +goose StatementEnd'
} >00001_pgflurry.sql
"$GO/goose" "$DATABASE_URL" .

mkdir -p db/migrations
{ echo '-- migrate:up'; cat "$PRINTED"; echo '-- migrate:down'; } >db/migrations/20261123000000_pgflurry.sql
"$NODE/.bin/dbmate" --no-dump-schema --url "$DATABASE_URL" up

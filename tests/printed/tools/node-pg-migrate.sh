mkdir migrations
{ echo '-- Up Migration'; cat "$PRINTED"; } >migrations/1_pgflurry.sql
ln -s "$NODE" node_modules
node_modules/.bin/node-pg-migrate up

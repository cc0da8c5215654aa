export SQITCH_FULLNAME=Tests SQITCH_EMAIL=tests@localhost
sqitch init shop --engine pg
sqitch add pgflurry --note 'IDs'
cp "$PRINTED" deploy/pgflurry.sql
echo 'SELECT next_snowflake();' >verify/pgflurry.sql
sqitch deploy --verify "db:pg://$PGUSER@$PGHOST:$PGPORT/$PGDATABASE"

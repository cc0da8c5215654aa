#!/bin/sh
# Does the part of the official entry point that the tests use: PGDATA, PGPORT, POSTGRES_USER, POSTGRES_PASSWORD,
# POSTGRES_HOST_AUTH_METHOD, "postgres -c name=value", started as root or with --user.
set -eu
PGDATA=${PGDATA:-/var/lib/postgresql/data}
mkdir -p "$PGDATA"
if [ "$(id -u)" = 0 ]; then
	chown -R postgres:postgres "$PGDATA"
	chmod 700 "$PGDATA"
	exec su -s "$0" -- postgres "$@"
fi
if ! grep -q "^[^:]*:[^:]*:$(id -u):" /etc/passwd; then
	# PostgreSQL needs an entry in passwd. The official image fakes one, too.
	echo "stand-in:x:$(id -u):$(id -g)::/:/bin/sh" >>/etc/passwd
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
	echo "${POSTGRES_PASSWORD-unused}" >/tmp/password
	initdb -D "$PGDATA" -U "${POSTGRES_USER:-postgres}" --encoding=UTF8 \
		--auth-local=trust --auth-host="$method" --pwfile=/tmp/password
	rm /tmp/password
	echo "host all all all $method" >>"$PGDATA/pg_hba.conf"
	echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
fi
exec "$@" -D "$PGDATA"

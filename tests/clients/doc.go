// Package clients runs real drivers, each in its own language,
// directly against PostgreSQL and through the proxy, and compares.
//
// A driver's program stands in the folder of its language and speaks as package deeds says. These are the deeds:
//
//	password     log in as client_password (cleartext method), then with a wrong password
//	scram        the same as CLIENT_ROLE (SCRAM-SHA-256)
//	tls          the same over TLS, the certificate verified against CLIENT_CA
//	unprepared   SELECT next_snowflake() in the driver's plainest way: column name, type, command tag
//	prepared     the same, prepared once and executed 20 times, in text and binary where there is a choice
//	pipeline     50 IDs in one batch
//	mixed        20 IDs in one batch with 20 other statements between them
//	transaction  an ID and a row that uses it, rolled back; an error; an ID refused in the failed transaction; rolled
//	             back; an ID
//	commit       an ID in a transaction that is committed, one in one that is rolled back; one, an error, and an ID
//	             refused in the failed transaction; rolled back; an ID
//	copy         COPY into item, whose key is DEFAULT next_snowflake(), and out of it; an ID
//	notify       LISTEN, an ID, NOTIFY from another connection
//	cancel       cancel a running pg_sleep in the driver's way; an ID on the same connection
//	default      INSERT with the key returned in the driver's way
//	pool         100 IDs, each on a connection that is taken from the driver's pool and given back; by four borrowers
//	             at once if the language has threads or their like
//	parallel     1,000 IDs on each of four connections at once: those of the first in the order they came, then the
//	             second's, and so on
//
// The environment names the server in PGHOST, PGPORT, PGDATABASE, PGUSER (a superuser without a password) and
// PGSSLMODE=disable. Both roles have the password "right". CLIENT_CA is a file of certificates. The table is
// item (id bigint DEFAULT next_snowflake() PRIMARY KEY, name text).
//
// CLIENT_BARE is set where there are no tables, as in the proxy's ID database. PGUSER is CLIENT_ROLE then, PGPASSWORD
// its password, and the deeds leave out what they would do with rows. Each driver has a role of its own there, because
// the proxy limits the wrong passwords of each.
//
// The programs named ids_in_json, and one of tests/frameworks, report what a driver makes of an ID in a column and in a
// document. node/ids_in_json_report.js describes their line of JSON. json_test.go lists the programs.
//
// With the flag -update the tests write their results into docs/clients.md and docs/json.md. Without it they compare
// the results with those pages.
package clients

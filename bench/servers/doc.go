// Package servers starts the servers that are measured, or finds out what is known of those that run already:
// PostgreSQL, the proxy and PgBouncer in front of it, Redis and MariaDB.
package servers

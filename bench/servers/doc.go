// Package servers starts the servers to measure, or asks given servers for their versions. They are PostgreSQL, the
// proxy and PgBouncer in front of it, Redis and MariaDB.
package servers

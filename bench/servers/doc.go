// Package servers starts the servers to measure, or asks given servers for their versions. They are PostgreSQL, the
// proxy, PgBouncer and HAProxy in front of it, Redis, and a program in C that answers fixed bytes.
package servers

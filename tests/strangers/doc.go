// Package strangers has twenty thousand connections at a proxy that never log in, of each kind there is, and asks what
// an ordinary client notices and what they cost. The proxy is the real program, against the real PostgreSQL.
package strangers

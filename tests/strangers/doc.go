// Package strangers opens twenty thousand connections to a proxy that never log in, of each kind there is. It asks
// whether an ordinary client notices them, and what they cost. The proxy is the real program, against a real
// PostgreSQL.
package strangers

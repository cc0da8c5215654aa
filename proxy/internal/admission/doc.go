// Package admission limits clients that have not logged in. Each costs a descriptor and some memory, and there may be
// any number. The names are those of the proxy's settings:
//
//	MaxClients            all connections: descriptors
//	MaxLogins, …PerAddress  from accept until the first packet is read, or for a client that needs no upstream until
//	                      it has logged in; as many more that wait for a place at PostgreSQL: memory
//	maxHandshakes         those inside a TLS handshake that do not wait for their client: processors
//	MaxUpstreamLogins     from connecting to PostgreSQL until that has let the client in (AuthenticationOk)
//	MaxSessions           connections to PostgreSQL: those that are still logging in give way
//	MaxCancels            those that only cancel a statement: connections to PostgreSQL
//	MaxUnread             those beyond the limits, until they have said whether they only cancel a statement
//
// For all but the first, a Limit decides who gives way (limit.go). The limits end at AuthenticationOk, where
// PostgreSQL's authentication_timeout ends, too. What comes between it and the first ReadyForQuery is PostgreSQL's
// time, or that of a pooler's queue.
//
// The package closes nothing: a connection that has to give way ends by its own function, away.
package admission

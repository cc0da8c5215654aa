// Package scram does SCRAM-SHA-256 as PostgreSQL does, on both sides (RFC 5802, RFC 7677). It makes what a server keeps
// of a password, the verifier. It runs the exchange in which a client proves that it knows the password. Package proxy
// uses the client's side, idserver the server's, and account the verifiers.
//
//	password ──saslprep.go──► prepared ──verifier.go──► SCRAM-SHA-256$4096:salt$StoredKey:ServerKey
//	                              │                                    │
//	                          client.go ◄──── the exchange ────► server.go
//	                              └────────── binding.go ──────────────┘
//
// The exchange has four messages. The server's last one proves that the server has the verifier, too.
//
//	client                                         server
//	n,,n=,r=NONCE                          ──►
//	                                       ◄──     r=NONCE+MORE,s=SALT,i=ITERATIONS
//	c=BINDING,r=NONCE+MORE,p=PROOF         ──►
//	                                       ◄──     v=SIGNATURE
//
// The first letter is the client's position on channel binding. With p it binds, with n it does not. With y it would
// bind, but believes that the server cannot. The binding is a hash of the server's certificate. So a client gets in
// only if both sides see the same certificate.
//
// The library xdg-go/scram does the arithmetic. This package adds PostgreSQL's deviations, its checks and its error
// texts. It is stricter in one thing: it refuses a name in SCRAM with a "=" that does not begin =2C or =3D. PostgreSQL
// ignores the name. The invariants:
//
//  1. A verifier of PostgreSQL accepts the same password here, and one of ours accepts it there. It does not contain
//     the password. No message and no log repeats a verifier.
//  2. The server takes the user of the startup packet. It ignores the one in SCRAM, and refuses another identity.
//  3. The size of a client's message is checked before its contents are read. Every part of an exchange is limited.
//  4. A client is refused if it believes that the server cannot bind, although the server can: somebody stands in
//     between.
//  5. Every wrong proof is the same error, ErrProof. Any other error says what PostgreSQL would say.
//
// The package does no I/O, and knows nothing of messages around the exchange.
package scram

// Package scram is SCRAM-SHA-256 as PostgreSQL has it, on both sides: what a server keeps of a password, and the
// exchange by which a client proves that it knows the password (RFC 5802, RFC 7677).
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
// The first letter tells what the client thinks of channel binding: p, it binds; n, it does not; y, it would, but the
// server cannot. The binding is a hash of the server's certificate, so only one that both sides see lets a client in.
//
// The library xdg-go/scram does the arithmetic. This package adds what PostgreSQL does otherwise, and the checks of
// PostgreSQL with its words. It is stricter in one thing: a name in SCRAM with a "=" that does not begin =2C or =3D is
// refused, and PostgreSQL reads over it. What holds:
//
//  1. A verifier that PostgreSQL has made lets the same password in here, and one of ours lets it in there. It does
//     not contain the password, and neither a message nor a log repeats it.
//  2. The server takes the user of the startup packet. It ignores the one in SCRAM, and refuses another identity.
//  3. Nothing of a client is read before its size is checked, and all of an exchange is bounded.
//  4. A client that believes that the server cannot bind, where it can, is refused: somebody stands in between.
//  5. A wrong proof is one error for all, ErrProof. Any other error tells what PostgreSQL would say.
//
// The package does no input or output, and knows nothing of messages around the exchange.
package scram

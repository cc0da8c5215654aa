package scram

import "bytes"

// Names of the mechanisms in PostgreSQL's protocol, https://www.postgresql.org/docs/current/sasl-authentication.html.
const (
	Plain = "SCRAM-SHA-256"
	Plus  = "SCRAM-SHA-256-PLUS" // with channel binding
)

// WithoutPlus removes Plus from a list of mechanisms. A zero byte ends each of them, and another one the list.
func WithoutPlus(mechanisms []byte) (offer []byte, cut bool) {
	for len(mechanisms) > 0 && mechanisms[0] != 0 {
		name, rest, ok := bytes.Cut(mechanisms, []byte{0})
		if !ok {
			return nil, false
		}
		if string(name) == Plus {
			cut = true
		} else {
			offer = append(append(offer, name...), 0)
		}
		mechanisms = rest
	}
	return offer, cut
}

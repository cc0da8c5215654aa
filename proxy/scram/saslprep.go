package scram

import (
	"maps"

	"github.com/xdg-go/stringprep"
)

// PostgreSQL prepares passwords by RFC 4013, with rules of its own (pg_saslprep). A character that is both a space and
// mapped to nothing is a space. Prohibited characters are looked for before normalisation. A password that cannot be
// prepared, or that becomes empty, stays as it is. Any deviation would make a right password wrong.
var (
	passwordMapping = func() stringprep.Mapping {
		m := maps.Clone(stringprep.TableB1)
		m[mongolianHyphen] = nil
		for _, r := range stringprep.TableC1_2 {
			for c := r[0]; c <= r[1]; c++ {
				m[c] = []rune{' '}
			}
		}
		return m
	}()
	passwordMapped = stringprep.Profile{
		Mappings: []stringprep.Mapping{passwordMapping}, Prohibits: stringprep.SASLprep.Prohibits, CheckBiDi: true,
	}
	passwordNormalized = stringprep.Profile{Normalize: true}
)

// mongolianHyphen is mapped to nothing, and stringprep.TableB1 lacks it. Otherwise its tables are those of PostgreSQL
// 15: each code point was compared, alone and between letters of both directions.
const mongolianHyphen = 0x1806

// Prepare returns a password in the form that PostgreSQL's SCRAM hashes.
func Prepare(password string) string {
	mapped, err := passwordMapped.Prepare(password)
	if err != nil || mapped == "" {
		return password
	}
	normalized, err := passwordNormalized.Prepare(mapped)
	if err != nil {
		return password
	}
	return normalized
}

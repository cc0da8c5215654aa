package scram

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"
)

// PostgreSQL's defaults for a verifier.
const (
	DefaultIterations = 4096
	saltSize          = 16 // bytes
)

// maxVerifier is the longest text of a verifier, in bytes. PostgreSQL has the same limit. Its own verifiers have 133.
const maxVerifier = 512

// Verifier is what a server keeps of a password. With it you can check whether a client knows the password, and play
// the server, but not log in. The zero value is no verifier: nobody can log in with it, and it must not be used.
//
// It is a secret all the same, since with it one can try passwords offline. So it prints itself only by Text.
type Verifier struct {
	stored scram.StoredCredentials
	mock   bool
}

// NewVerifier makes a Verifier for a password, with a random salt. iterations 0 means DefaultIterations. PostgreSQL
// takes its text, too: ALTER ROLE … PASSWORD.
func NewVerifier(password string, iterations int) (Verifier, error) {
	if iterations == 0 {
		iterations = DefaultIterations
	}
	switch {
	case password == "":
		return Verifier{}, errors.New("the password is empty")
	case strings.ContainsRune(password, 0):
		return Verifier{}, errors.New("the password has a zero byte, which no client can send")
	case iterations < 1 || iterations > maxIterations:
		return Verifier{}, fmt.Errorf("%d iterations; expected 1 to %d", iterations, maxIterations)
	}
	client, err := scram.SHA256.NewClientUnprepped("", Prepare(password), "")
	if err != nil {
		return Verifier{}, err
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // it never fails
	stored, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: iterations})
	if err != nil {
		return Verifier{}, err
	}
	return Verifier{stored: stored}, nil
}

// Mock is the verifier for a name that has none. To a client it looks like a real user's: the same name always gets the
// same salt. No password fits it. All processes that a client may reach must have the same secret.
func Mock(secret []byte, name string, iterations int) Verifier {
	derive := func(what string) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(what + "\x00" + name))
		return mac.Sum(nil)
	}
	return Verifier{mock: true, stored: scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(derive("salt")[:saltSize]), Iters: iterations},
		StoredKey:  derive("stored key"), ServerKey: derive("server key"),
	}}
}

// IsZero says that there is no verifier.
func (v Verifier) IsZero() bool { return v.stored.Iters == 0 }

// Iterations is how often a client has to hash its password.
func (v Verifier) Iterations() int { return v.stored.Iters }

// Text is the verifier as in pg_authid.rolpassword; "" without a verifier. It is a secret.
func (v Verifier) Text() string {
	if v.IsZero() {
		return ""
	}
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s$%d:%s$%s:%s", Plain, v.stored.Iters, text([]byte(v.stored.Salt)), text(v.stored.StoredKey),
		text(v.stored.ServerKey))
}

// String describes the verifier without its secrets, because logs print whatever they get.
func (v Verifier) String() string {
	if v.IsZero() {
		return "no verifier"
	}
	return fmt.Sprintf("%s verifier of %d iterations", Plain, v.stored.Iters)
}

func (v Verifier) GoString() string { return v.String() }

// These tell some frequent mistakes from others. count has at most nine digits: a client would hash for minutes.
var (
	md5Hash = regexp.MustCompile(`^md5[0-9a-f]{32}$`)
	count   = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
)

// ParseVerifier reads the text of a verifier exactly as PostgreSQL writes it. Its errors repeat nothing of the text,
// which may be a password.
func ParseVerifier(text string) (Verifier, error) {
	rest, ours := strings.CutPrefix(text, Plain+"$")
	switch {
	case md5Hash.MatchString(text):
		return Verifier{}, errors.New("it is an md5 hash; expected a SCRAM-SHA-256 verifier")
	case !ours:
		return Verifier{}, errors.New("it is not a SCRAM-SHA-256 verifier, and may be a password in clear text")
	case len(text) > maxVerifier:
		return Verifier{}, fmt.Errorf("it has %d bytes; expected a SCRAM-SHA-256 verifier of at most %d",
			len(text), maxVerifier)
	}
	factors, keys, _ := strings.Cut(rest, "$")
	iterations, salt, _ := strings.Cut(factors, ":")
	storedKey, serverKey, _ := strings.Cut(keys, ":")
	broken := ""
	decode := func(what, encoded string, right func(size int) bool) []byte {
		decoded, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if broken == "" && (err != nil || !right(len(decoded)) || strings.ContainsAny(encoded, "\r\n")) {
			broken = what
		}
		return decoded
	}
	if !count.MatchString(iterations) {
		broken = "number of iterations"
	}
	isKey := func(size int) bool { return size == sha256.Size }
	v := Verifier{stored: scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(decode("salt", salt, func(size int) bool { return size > 0 }))},
		StoredKey:  decode("stored key", storedKey, isKey), ServerKey: decode("server key", serverKey, isKey),
	}}
	if broken != "" {
		return Verifier{}, fmt.Errorf("it is a SCRAM-SHA-256 verifier with a malformed %s; "+
			"expected SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey, all but the first in base64", broken)
	}
	v.stored.Iters, _ = strconv.Atoi(iterations) // count allows nine digits at most
	return v, nil
}

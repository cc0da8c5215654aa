package idserver

import (
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"pgflurry/internal/account"
	"pgflurry/internal/fault"

	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/scram"
)

// The login. PostgreSQL determines the order of messages, their words and the reasons for a refusal (auth.c,
// auth-sasl.c). https://www.postgresql.org/docs/current/sasl-authentication.html

// maxLogin is the largest body of a message, in bytes, that a client may send before it has logged in. PostgreSQL has
// the same limit for SASL.
const maxLogin = 1024

// refused is why a login failed.
type refused struct {
	sent fault.Error // what the client reads
	// cause is for the log alone. It is called after the client has its error: making the text takes a different time
	// for each cause, and a client could measure that.
	cause  func() string
	result result
}

func (r refused) Error() string { return r.sent.Message }
func (r refused) Unwrap() error { return r.sent }

// refuse refuses a login. The client does not see the cause.
func refuse(r result, p fault.Error, cause func() string) error {
	return refused{sent: p, cause: cause, result: r}
}

// refuseWith refuses a login with a cause that the client may see.
func refuseWith(r result, p fault.Error) error { return refuse(r, p, p.Error) }

// login is a client that is logging in.
type login struct {
	*conditions
	accounts func() *account.List
	attempts *attempts
	binder   *scram.Binder
	now      func() time.Time

	conn net.Conn
	in   *frame.Inbox
	to   *frame.Writer
	from netip.Prefix // the client's address, as limits count it
	user string
	out  []byte // to be written with the next message that needs an answer, or with the last one
}

// account finds out who the client is. The account may log in. It may still have too many sessions.
func (l *login) account(user string) (account.Account, error) {
	now, rules := l.now(), l.rules.Load()
	l.user = user
	if rules.Method == Trust {
		if err := account.CheckName(user); err != nil { // SHOW SESSIONS shows it to others
			return account.Account{}, fault.Errorf("28000", "Give a name of 1 to 63 bytes in UTF-8.",
				"invalid user name: %v", err)
		}
		return account.Account{Name: user, ConnectionLimit: account.NoLimit}, nil
	}
	list := l.accounts()
	switch {
	case list == nil:
		return account.Account{}, refuseWith(loginUnready, errAccountsUnread)
	case list.Len() == 0: // that is no wrong password, and must not count as one
		return account.Account{}, refuseWith(loginUnready, errNoAccounts)
	case rules.MaxAge > 0 && now.Sub(list.Read()) > rules.MaxAge:
		return account.Account{}, refuseWith(loginUnready, accountsTooOld(now.Sub(list.Read()), rules.MaxAge))
	}
	known, _ := list.Find(user)
	if rules.Method == Certificate {
		return known, l.checkCertificate(known, now)
	}
	return known, l.proveSCRAM(list, known, now)
}

// checkCertificate checks that the client's certificate names the user, and that the user may log in.
func (l *login) checkCertificate(known account.Account, now time.Time) error {
	conn, _ := l.conn.(pgtls.Conn)
	if conn.Conn == nil || conn.ClientCertificate() == nil {
		return fault.Errorf("28000", "Let the client show one: sslcert and sslkey of libpq.",
			"connection requires a valid client certificate")
	}
	names := namesOf(conn.ClientCertificate())
	_, several := pgtls.CommonName(conn.ClientCertificate())
	if !several && slices.Contains(names, l.user) && known.Name != "" && known.MayLogIn(now) {
		return nil
	}
	p := fault.Errorf("28000", "", `certificate authentication failed for user "%s"`, l.user)
	return refuse(loginWrong, p, func() string {
		if several {
			return "its certificate has several common names, and only one could be the user"
		}
		if !slices.Contains(names, l.user) {
			return fmt.Sprintf("its certificate names %q", names)
		}
		return whyNot(known, now)
	})
}

// namesOf returns the users that a certificate names: its common name, and the alternative names that are text.
func namesOf(c *x509.Certificate) []string {
	names := append([]string{c.Subject.CommonName}, c.DNSNames...)
	names = append(names, c.EmailAddresses...)
	for _, uri := range c.URIs {
		names = append(names, uri.String())
	}
	slices.Sort(names)
	return slices.Compact(names) // a common name is often an alternative name, too
}

// whyNot is why an account may not log in, for the log.
func whyNot(known account.Account, now time.Time) string {
	switch {
	case known.Name == "":
		return "there is no such account"
	case !known.MayLogIn(now):
		return fmt.Sprintf("the account has expired at %s", known.ValidUntil.Format(time.RFC3339))
	case known.Verifier.IsZero():
		return "the account has no verifier, so it logs in with a certificate alone"
	}
	return "the password is wrong"
}

// proveSCRAM asks the client for a proof that it knows the password. All steps are the same for every name: a user
// without a password is asked for one that does not exist.
func (l *login) proveSCRAM(list *account.List, known account.Account, now time.Time) error {
	if err := l.checkAttempts(now); err != nil {
		return err
	}
	exchange := scram.NewServer(list.Challenge(l.user, now), l.binding())
	mechanisms := []byte(strings.Join(exchange.Mechanisms(), "\x00") + "\x00\x00")
	first, err := l.ask(wire.AuthSASL, mechanisms)
	if err != nil {
		return err
	}
	message, err := readInitial(exchange, first)
	if err == nil && message == nil {
		message, err = l.ask(wire.AuthSASLContinue, nil)
	}
	if err != nil {
		return err
	}
	challenge, err := exchange.Step(message)
	if err != nil {
		return err
	}
	if message, err = l.ask(wire.AuthSASLContinue, challenge); err != nil {
		return err
	}
	if err := l.checkAttempts(l.now()); err != nil { // others may have tried meanwhile
		return err
	}
	signature, err := exchange.Step(message)
	switch {
	case errors.Is(err, scram.ErrProof):
		l.attempts.Wrong(l.from, l.user, l.now())
		p := fault.Errorf("28P01", "", `password authentication failed for user "%s"`, l.user)
		return refuse(loginWrong, p, func() string { return whyNot(known, now) })
	case err != nil:
		return err
	case !exchange.Done():
		return fault.Internal
	}
	l.out = appendAuthentication(l.out, wire.AuthSASLFinal, signature)
	return nil
}

// checkAttempts refuses a client after too many wrong passwords, before it checks another one.
func (l *login) checkAttempts(now time.Time) error {
	wait, all := l.attempts.Wait(l.from, l.user, now)
	if wait == 0 {
		return nil
	}
	return refuseWith(loginAttempts, tooManyAttempts(l.user, wait, all))
}

// binding is what the client may bind the login to.
func (l *login) binding() scram.Binding {
	if conn, inside := l.conn.(pgtls.Conn); inside {
		return l.binder.To(conn.Certificate())
	}
	return scram.Binding{}
}

// readInitial reads a SASLInitialResponse: the mechanism, and the first message of the exchange. The message is nil if
// the client waits for the server to ask.
func readInitial(exchange *scram.Server, body []byte) ([]byte, error) {
	at := slices.Index(body, 0)
	if at < 0 {
		return nil, fault.Errorf("08P01", "", "invalid string in message")
	}
	mechanism, rest := string(body[:at]), body[at+1:]
	if err := exchange.Choose(mechanism); err != nil {
		return nil, err
	}
	if len(rest) < 4 {
		return nil, fault.Errorf("08P01", "", "insufficient data left in message")
	}
	size, rest := int32(binary.BigEndian.Uint32(rest)), rest[4:]
	switch {
	case size == -1 && len(rest) == 0:
		return nil, nil
	case size < -1 || int(size) > len(rest):
		return nil, fault.Errorf("08P01", "", "insufficient data left in message")
	case int(size) != len(rest):
		return nil, fault.Errorf("08P01", "", "invalid message format")
	}
	return rest, nil
}

// ask writes a request of the login, and waits for the client's answer.
func (l *login) ask(request int, data []byte) ([]byte, error) {
	if err := l.to.Write(appendAuthentication(l.out, request, data)); err != nil {
		return nil, err
	}
	l.out = nil
	f, err := l.in.Await()
	switch {
	case errors.As(err, new(frame.LengthError)):
		return nil, fault.Errorf("08P01", "", "invalid message length")
	case errors.Is(err, os.ErrDeadlineExceeded) && l.draining.Load():
		return nil, fault.NotAccepting
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fault.LoginTime
	case err != nil:
		return nil, err
	case f.Kind != wire.FrontendPassword:
		return nil, fault.Errorf("08P01", "", "expected SASL response, got message type %d", f.Kind)
	}
	body := slices.Clone(f.Body)
	l.in.Drop(f.Size)
	return body, nil
}

// appendAuthentication writes a message of the login.
func appendAuthentication(b []byte, request int, data []byte) []byte {
	b, at := wire.Begin(b, wire.BackendAuthentication)
	b = binary.BigEndian.AppendUint32(b, uint32(request))
	return wire.End(append(b, data...), at)
}

package idserver

import (
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"pgflurry/account"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/scram"
	"pgflurry/proxy/wire"
)

// The login. PostgreSQL determines the order of messages, their words and the reasons for a refusal (auth.c,
// auth-sasl.c). https://www.postgresql.org/docs/current/sasl-authentication.html

// maxLogin is the largest body of a message, in bytes, that a client may send before it has logged in. PostgreSQL has
// the same limit for SASL.
const maxLogin = 1024

// refused is why a login failed.
type refused struct {
	problem // what the client reads
	detail  string
	// cause is for the log alone. It is called after the client has its error: making the text takes a different time
	// for each cause, and a client could measure that.
	cause  func() string
	result result
}

// refuse refuses a login. The client does not see the cause.
func refuse(r result, p problem, cause func() string) error {
	return refused{problem: p, cause: cause, result: r}
}

// refuseWith refuses a login with a cause that the client may see.
func refuseWith(r result, p problem) error { return refuse(r, p, p.Error) }

// door is a client that is logging in.
type door struct {
	*session
	loggedIn func() // to be called as soon as the client has proved who it is
	out      []byte // to be written with the next message that needs an answer, or with the last one
}

// logIn lets a client in, up to and including the first ReadyForQuery.
func (d *door) logIn(startup []byte) error {
	w, err := parseStartup(startup)
	if err != nil {
		return err
	}
	d.out = w.appendNegotiation(nil)
	switch {
	case w.user == "":
		return problemf("28000", "", "no PostgreSQL user name specified in startup packet")
	case !d.server.Has(w.database):
		return problemf("3D000", "", `database "%s" does not exist`, w.database)
	}
	d.user, d.log = w.user, d.log.With("user", w.user, "database", w.database)
	allows, err := d.authenticate()
	if err != nil {
		return err
	}
	d.out = appendAuthentication(d.out, wire.AuthDone, nil)
	v := d.server
	if err := v.register.take(d.session, v.rules.Load().maxSessions, allows); err != nil {
		return refuseWith(loginLimit, err.(problem))
	}
	if !v.stillListed(d.user) {
		return refuseWith(loginRefused, errRemoved)
	}
	d.loggedIn() // the place is taken, so a drain that waits for logins may begin
	settings, err := w.settings()
	if err != nil {
		return err
	}
	return d.greet(w.version, settings)
}

// stillListed is false if the account was removed since the login began. The client decides how long a login takes.
func (v *Server) stillListed(user string) bool {
	if v.rules.Load().method == Trust {
		return true
	}
	list := v.settings.Accounts()
	if list == nil || list.Len() == 0 {
		return true
	}
	_, found := list.Find(user)
	return found
}

// greet sends everything that a client expects after its login.
func (d *door) greet(version uint32, settings []option) (err error) {
	out := append(d.server.buffers.GetReplies(), d.out...)
	defer func() { d.server.buffers.PutReplies(out) }()
	begun, err := d.begin(settings, out)
	if err != nil {
		return err
	}
	out, d.out = begun, nil
	var secret []byte
	d.pid, secret = d.server.keys.take(d.session, version)
	out = wire.AppendReady(appendKey(out, d.pid, secret), wire.StatusIdle)
	d.since = d.server.now()
	d.status.Store(wire.StatusIdle) // from here on the others see the session
	d.in.SetMax(frame.MaxBody)
	return d.toClient.Write(out)
}

// authenticate finds out who the client is. allows says whether the client may have one more session than so many.
func (d *door) authenticate() (allows func(sessions int) bool, err error) {
	v, now := d.server, d.server.now()
	rules := v.rules.Load()
	if rules.method == Trust {
		if err := account.CheckName(d.user); err != nil { // SHOW SESSIONS shows it to others
			return nil, problemf("28000", "Give a name of 1 to 63 bytes in UTF-8.", "invalid user name: %v", err)
		}
		return func(int) bool { return true }, nil
	}
	list := v.settings.Accounts()
	switch {
	case list == nil:
		return nil, refuseWith(loginUnready, errAccountsUnread)
	case list.Len() == 0: // that is no wrong password, and must not count as one
		return nil, refuseWith(loginUnready, errNoAccounts)
	case rules.maxAge > 0 && now.Sub(list.Read()) > rules.maxAge:
		return nil, refuseWith(loginUnready, accountsTooOld(now.Sub(list.Read()), rules.maxAge))
	}
	known, _ := list.Find(d.user)
	if rules.method == Certificate {
		return known.Allows, d.checkCertificate(known, now)
	}
	return known.Allows, d.proveSCRAM(list, known, now)
}

// checkCertificate checks that the client's certificate names the user, and that the user may log in.
func (d *door) checkCertificate(known account.Account, now time.Time) error {
	conn, _ := d.conn.(pgtls.Conn)
	if conn.Conn == nil || conn.ClientCertificate() == nil {
		return problemf("28000", "Let the client show one: sslcert and sslkey of libpq.",
			"connection requires a valid client certificate")
	}
	names := namesOf(conn.ClientCertificate())
	_, several := pgtls.CommonName(conn.ClientCertificate())
	if !several && slices.Contains(names, d.user) && known.Name != "" && known.MayLogIn(now) {
		return nil
	}
	p := problemf("28000", "", `certificate authentication failed for user "%s"`, d.user)
	return refuse(loginWrong, p, func() string {
		if several {
			return "its certificate has several common names, and only one could be the user"
		}
		if !slices.Contains(names, d.user) {
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
func (d *door) proveSCRAM(list *account.List, known account.Account, now time.Time) error {
	v := d.server
	if err := d.checkAttempts(now); err != nil {
		return err
	}
	exchange := scram.NewServer(list.Challenge(d.user, now), d.binding())
	mechanisms := []byte(strings.Join(exchange.Mechanisms(), "\x00") + "\x00\x00")
	first, err := d.ask(wire.AuthSASL, mechanisms)
	if err != nil {
		return err
	}
	message, err := readInitial(exchange, first)
	if err == nil && message == nil {
		message, err = d.ask(wire.AuthSASLContinue, nil)
	}
	if err != nil {
		return spelled(err)
	}
	challenge, err := exchange.Step(message)
	if err != nil {
		return spelled(err)
	}
	if message, err = d.ask(wire.AuthSASLContinue, challenge); err != nil {
		return err
	}
	if err := d.checkAttempts(v.now()); err != nil { // others may have tried meanwhile
		return err
	}
	signature, err := exchange.Step(message)
	switch {
	case errors.Is(err, scram.ErrProof):
		v.attempts.wrong(d.from, d.user, v.now())
		p := problemf("28P01", "", `password authentication failed for user "%s"`, d.user)
		return refuse(loginWrong, p, func() string { return whyNot(known, now) })
	case err != nil:
		return spelled(err)
	case !exchange.Done():
		return errInternal
	}
	d.out = appendAuthentication(d.out, wire.AuthSASLFinal, signature)
	return nil
}

// checkAttempts refuses a client after too many wrong passwords, before it checks another one.
func (d *door) checkAttempts(now time.Time) error {
	wait, all := d.server.attempts.wait(d.from, d.user, now)
	if wait == 0 {
		return nil
	}
	return refuseWith(loginAttempts, tooManyAttempts(d.user, wait, all))
}

// binding is what the client may bind the login to.
func (d *door) binding() scram.Binding {
	if conn, inside := d.conn.(pgtls.Conn); inside {
		return d.server.binder.To(conn.Certificate())
	}
	return scram.Binding{}
}

// spelled turns an error of the exchange into one that the client reads.
func spelled(err error) error {
	var e *scram.Error
	if errors.As(err, &e) {
		return refused{
			problem: problem{sqlstate: e.SQLSTATE, message: e.Message}, detail: e.Detail, cause: e.Error,
			result: loginRefused,
		}
	}
	return err
}

// readInitial reads a SASLInitialResponse: the mechanism, and the first message of the exchange. The message is nil if
// the client waits for the server to ask.
func readInitial(exchange *scram.Server, body []byte) ([]byte, error) {
	at := slices.Index(body, 0)
	if at < 0 {
		return nil, problemf("08P01", "", "invalid string in message")
	}
	mechanism, rest := string(body[:at]), body[at+1:]
	if err := exchange.Choose(mechanism); err != nil {
		return nil, err
	}
	if len(rest) < 4 {
		return nil, problemf("08P01", "", "insufficient data left in message")
	}
	size, rest := int32(binary.BigEndian.Uint32(rest)), rest[4:]
	switch {
	case size == -1 && len(rest) == 0:
		return nil, nil
	case size < -1 || int(size) > len(rest):
		return nil, problemf("08P01", "", "insufficient data left in message")
	case int(size) != len(rest):
		return nil, problemf("08P01", "", "invalid message format")
	}
	return rest, nil
}

// ask writes a request of the login, and waits for the client's answer.
func (d *door) ask(request int, data []byte) ([]byte, error) {
	if err := d.toClient.Write(appendAuthentication(d.out, request, data)); err != nil {
		return nil, err
	}
	d.out = nil
	f, err := d.in.Await()
	switch {
	case errors.As(err, new(frame.LengthError)):
		return nil, problemf("08P01", "", "invalid message length")
	case errors.Is(err, os.ErrDeadlineExceeded) && d.server.draining.Load():
		return nil, errNotAccepting
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errLoginTime
	case err != nil:
		return nil, err
	case f.Kind != wire.FrontendPassword:
		return nil, problemf("08P01", "", "expected SASL response, got message type %d", f.Kind)
	}
	body := slices.Clone(f.Body)
	d.in.Drop(f.Size)
	return body, nil
}

// appendAuthentication writes a message of the login.
func appendAuthentication(b []byte, request int, data []byte) []byte {
	b, at := wire.Begin(b, wire.BackendAuthentication)
	b = binary.BigEndian.AppendUint32(b, uint32(request))
	return wire.End(append(b, data...), at)
}

// left says that the client left by itself, or that its connection was closed without a word.
func left(err error) bool {
	_, _, told := toldOf(err)
	return !told
}

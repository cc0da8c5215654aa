package idserver

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/internal/account"
	"pgflurry/internal/draw"
	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/scram"
)

func TestAPasswordThatIsSentBeforeItIsAskedForCountsAsInPostgreSQL(t *testing.T) {
	h := newHall(t)
	client, err := scram.NewClient([]byte(scram.Plain+"\x00\x00"), password, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := client.Step("")
	v := h.comes(nil)
	v.send(append(hello(3<<16, "user", "ann", "database", "ids"), initial(scram.Plain, first)...))
	v.asked(wire.AuthSASL)
	final, err := client.Step(string(v.asked(wire.AuthSASLContinue)))
	if err != nil {
		t.Fatal(err)
	}
	// What follows the proof belongs to the session.
	v.send(append(passwordMessage([]byte(final)), wire.Encoded(&query{"SELECT 1"})...))
	v.asked(wire.AuthSASLFinal)
	v.isIn()
	for kind := byte(0); kind != 'Z'; {
		kind, _ = v.next()
	}
	v.leaves()
}

func TestWhatStandsBehindAWrongProofIsNotLookedAt(t *testing.T) {
	h := newHall(t)
	v := h.knocks("ann")
	nonce := nonceOf(v.begins())
	wrong := passwordMessage([]byte("c=biws,r=" + nonce + ",p=" + strings.Repeat("A", 43) + "="))
	v.send(append(wrong, wire.Encoded(&query{"SELECT next_snowflake()"})...))
	v.refused("28P01", "password authentication failed") // and nothing after it
}

// nonceOf is the nonce in the server's first message.
func nonceOf(challenge string) string {
	nonce, _, _ := strings.Cut(strings.TrimPrefix(challenge, "r="), ",")
	return nonce
}

func TestARecordedLoginLetsNobodyIn(t *testing.T) {
	h := newHall(t)
	var recorded []byte
	record := h.knocks("ann")
	record.conn = recording{record.conn, &recorded}
	record.enters(password)
	record.leaves()
	v := h.knocks("ann")
	v.send(recorded)
	v.refused("08P01", "invalid SCRAM response")
	if h.known.Load() != 1 {
		t.Errorf("%d have logged in", h.known.Load())
	}
}

// recording is a connection that keeps what is sent.
type recording struct {
	net.Conn
	sent *[]byte
}

func (r recording) Write(b []byte) (int, error) {
	*r.sent = append(*r.sent, b...)
	return r.Conn.Write(b)
}

func TestAClientThatWaitsToBeAskedForItsFirstMessageIsAsked(t *testing.T) {
	h := newHall(t)
	client, err := scram.NewClient([]byte(scram.Plain+"\x00\x00"), password, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := h.knocks("ann")
	v.asked(wire.AuthSASL)
	v.send(passwordMessage([]byte(scram.Plain+"\x00"), []byte{0xff, 0xff, 0xff, 0xff}))
	if challenge := v.asked(wire.AuthSASLContinue); len(challenge) > 0 {
		t.Errorf("the challenge is %q; expected none", challenge)
	}
	first, _ := client.Step("")
	v.send(passwordMessage([]byte(first)))
	final, err := client.Step(string(v.asked(wire.AuthSASLContinue)))
	if err != nil {
		t.Fatal(err)
	}
	v.send(passwordMessage([]byte(final)))
	v.asked(wire.AuthSASLFinal)
	v.isIn()
	v.leaves()
}

func TestNeitherClearTextNorMD5NorLengthsThatLieLetAnybodyIn(t *testing.T) {
	h := newHall(t)
	const mechanism = scram.Plain + "\x00"
	for name, c := range map[string]struct{ message, sqlstate, text string }{
		"clear text":             {password + "\x00", "08P01", "invalid SASL authentication mechanism"},
		"md5":                    {"md5" + strings.Repeat("0", 32) + "\x00", "08P01", "invalid SASL"},
		"nothing":                {"", "08P01", "invalid string in message"},
		"no end of the name":     {scram.Plain, "08P01", "invalid string in message"},
		"binding without TLS":    {scram.Plus + "\x00\x00\x00\x00\x00", "08P01", "invalid SASL"},
		"no length":              {mechanism, "08P01", "insufficient data left in message"},
		"half a length":          {mechanism + "\x00\x00", "08P01", "insufficient data left in message"},
		"a length too large":     {mechanism + "\x00\x00\x00\x09n,,n=,r=", "08P01", "insufficient data"},
		"the largest length":     {mechanism + "\x7f\xff\xff\xffn,,n=,r=a", "08P01", "insufficient data"},
		"a length below nothing": {mechanism + "\xff\xff\xff\xfen,,n=,r=a", "08P01", "insufficient data"},
		"a length too small":     {mechanism + "\x00\x00\x00\x01n,,n=,r=a", "08P01", "invalid message format"},
		"none, and something":    {mechanism + "\xff\xff\xff\xffn", "08P01", "invalid message format"},
		"nothing behind":         {mechanism + "\x00\x00\x00\x00", "08P01", "malformed SCRAM message"},
		"an identity":            {mechanism + "\x00\x00\x00\x0cn,a=x,n=,r=a", "0A000", "authorization identity"},
		"a zero byte within":     {mechanism + "\x00\x00\x00\x0an,,n=,r=a\x00", "08P01", "malformed SCRAM message"},
	} {
		v := h.knocks("ann")
		v.asked(wire.AuthSASL)
		v.send(passwordMessage([]byte(c.message)))
		m := v.fatal()
		if m.Code != c.sqlstate || !strings.Contains(m.Message, c.text) {
			t.Errorf("%s: refused with %s %q; expected %s %q", name, m.Code, m.Message, c.sqlstate, c.text)
		}
	}
	for name, message := range map[string][]byte{
		"a body of 1025 bytes":      append([]byte{'p', 0, 0, 4, 5}, make([]byte, 1025)...),
		"the largest body":          {'p', 0xff, 0xff, 0xff, 0xff},
		"a length of three":         {'p', 0, 0, 0, 3},
		"a long nonce, in pieces":   append([]byte{'p', 0x3f, 0, 0, 0}, bytes.Repeat([]byte("n"), 8000)...),
		"a large message of others": {'Q', 0x3f, 0, 0, 0},
	} {
		v := h.knocks("ann")
		v.asked(wire.AuthSASL)
		v.send(message)
		if m := v.fatal(); m.Code != "08P01" {
			t.Errorf("%s: refused with %s %q", name, m.Code, m.Message)
		}
	}
	if h.known.Load() != 0 {
		t.Error("somebody is in")
	}
	if st := h.server.Stats(); st.Logins["password"] != 0 {
		t.Errorf("what is no password counts as a wrong one: %v", st.Logins)
	}
}

func TestAClientThatLeavesWithinItsLoginIsNoNews(t *testing.T) {
	h := newHall(t)
	v := h.knocks("ann")
	v.asked(wire.AuthSASL)
	v.conn.Close() // psql without a password
	h.empties()
	h.counts("left", 1)
	if log := h.log.String(); strings.Contains(log, "level=INFO") || strings.Contains(log, "level=WARN") {
		t.Errorf("the log says:\n%s", log)
	}
}

func TestAFaultInALoginEndsThatLoginAlone(t *testing.T) {
	h := newHall(t, func(s *Settings) {
		broken := false
		s.Parameters = func() map[string]string {
			if broken = !broken; broken {
				panic("a fault")
			}
			return real
		}
	})
	v := h.knocks("ann")
	v.proves(password)
	v.asked(wire.AuthSASLFinal)
	v.refused("XX000", "internal error")
	h.logged("a fault")
	v = h.knocks("ann")
	v.enters(password)
	v.leaves()
	if st := h.server.Stats(); st.Closed["fault"] != 1 {
		t.Errorf("closed: %v", st.Closed)
	}
}

// inMemory is a connection whose other side has sent everything already. The bytes come in pieces, once it is asked.
type inMemory struct {
	net.Conn
	mu    sync.Mutex
	says  []byte
	final []byte // sent after the challenge, with its nonce in place of NONCE
	piece int
	heard bytes.Buffer
}

func (m *inMemory) Read(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.says) == 0 && len(m.final) > 0 {
		nonce := "none"
		if _, challenge, found := strings.Cut(m.heard.String(), "r="); found {
			nonce = nonceOf(challenge)
		}
		m.says, m.final = passwordMessage(bytes.ReplaceAll(m.final, []byte("NONCE"), []byte(nonce))), nil
	}
	if len(m.says) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), m.piece)], m.says)
	m.says = m.says[n:]
	return n, nil
}

func (m *inMemory) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard.Write(b)
}

func (*inMemory) Close() error                     { return nil }
func (*inMemory) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (*inMemory) SetDeadline(time.Time) error      { return nil }
func (*inMemory) SetReadDeadline(time.Time) error  { return nil }
func (*inMemory) SetWriteDeadline(time.Time) error { return nil }

// FuzzWhateverAClientSaysItDoesNotLogIn lets a client that knows no password send anything. The server must not let it
// in. Its login ends, it gets nothing after a FATAL, and nothing of it is left.
func FuzzWhateverAClientSaysItDoesNotLogIn(f *testing.F) {
	begin := initial(scram.Plain, "n,,n=,r=abc")
	for _, seed := range []struct {
		startup []byte
		says    []byte
		final   string
	}{
		{hello(3<<16, "user", "ann", "database", "ids"), begin, "c=biws,r=NONCE,p=" + strings.Repeat("A", 43) + "="},
		{hello(3<<16, "user", "crt", "database", "ids"), begin, "c=biws,r=NONCE,p=" + strings.Repeat("A", 43) + "="},
		{hello(3<<16|7, "user", "nobody", "database", "ids", "_pq_.x", ""), begin, "c=biws,r=NONCE,x=y,p=AAAA"},
		{hello(3<<16, "user", "ann", "database", "ids", "options", "-c a=b"), initial(scram.Plus, "p=x,,n=,r=a"), ""},
		{hello(3<<16, "user", "old"), passwordMessage([]byte(scram.Plain + "\x00\xff\xff\xff\xff")), "n,,n=,r=a"},
		{hello(3<<16, "database", "ids"), []byte{'X', 0, 0, 0, 4}, ""},
		{hello(3<<16, "user", "ann", "database", "ids"), []byte("Q\x00\x00\x00\x0dSELECT 1\x00"), ""},
	} {
		f.Add(seed.startup, seed.says, []byte(seed.final), 7)
	}
	log := new(safeBuffer)
	list := account.NewList(residents(), []byte("secret"), noon)
	server, err := New(Settings{
		Database: "ids", IDs: draw.New(noIDs{}, nil), Accounts: func() *account.List { return list },
		Unavailable: func(error) fault.Error { return fault.Error{} },
		Parameters:  func() map[string]string { return real },
		Log:         slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		f.Fatal(err)
	}
	var hours atomic.Int64
	server.now = func() time.Time { return noon.Add(time.Duration(hours.Load()) * time.Hour) } // nobody has to wait
	f.Fuzz(func(t *testing.T, startup, says, final []byte, piece int) {
		late := time.AfterFunc(giveUp, func() { panic("the login does not end") })
		defer late.Stop()
		hours.Add(1)
		conn := &inMemory{says: says, final: final, piece: 1 + max(piece, -(piece+1))%2000}
		known := func() bool { t.Error("it is known who it is"); return true }
		server.Serve(conn, wanted(t, startup), time.Now().Add(giveUp), known, server.log)
		if fault := log.String(); fault != "" {
			t.Fatal(fault)
		}
		server.nothingIsLeft(t, nil)
		for heard := conn.heard.Bytes(); len(heard) > 0; {
			size := 1 + int(heard[1])<<24 + int(heard[2])<<16 + int(heard[3])<<8 + int(heard[4])
			if heard[0] == 'E' && len(heard) > size || strings.IndexByte("RvE", heard[0]) < 0 {
				t.Fatalf("read %q", heard)
			}
			if heard[0] == 'R' && heard[8] == wire.AuthDone {
				t.Fatal("it is in")
			}
			heard = heard[size:]
		}
	})
}

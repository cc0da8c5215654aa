package proxy

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/internal/draw"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/statement"
)

// The states that a session may be in when its peers begin to send anything.
const (
	fromTheFirstByte = iota
	beforeLogin      // the client's startup packet has reached upstream
	afterLogin       // upstream has sent ReadyForQuery
	moments
)

// FuzzWhateverPeersSayASessionEnds lets both peers of a session send anything, in pieces of any size, and hang up. The
// session must end, with nothing left of it (goleak). The client must get nothing after a FATAL of the proxy's.
func FuzzWhateverPeersSayASessionEnds(f *testing.F) {
	reply := join(parseDone, bindDone, ourRow, dataRow("1"), complete("SELECT 1"), ready('I'))
	for _, seed := range []struct{ client, upstream []byte }{
		{join(startup("user", "u", "database", "d"), ourQuery), join(authOK, ready('I'))},
		{join(ourParse, bindIt, describeIt, executeAll, syncIt), nil},
		{join(parse("s", "SELECT 1"), bind("", "s"), executeAll, executeAll, syncIt, ourQuery), reply},
		{
			join(query("COPY t FROM STDIN"), copyData, syncIt, copyDone, ourQuery),
			join(copyIn, complete("COPY 1"), ready('I')),
		},
		{
			join(ourParse, bindIt, executeAll, parse("s", "x"), executeAll, syncIt),
			join(parseDone, theirFailure, ready('E')),
		},
		{[]byte{'Q', 0, 0, 0, 3}, []byte{'D', 0xff, 0xff, 0xff, 0xff}},
		{
			message('p', z("secret")),
			join(
				message('R', []byte{0, 0, 0, 10}, z("SCRAM-SHA-256-PLUS"), z("SCRAM-SHA-256"), []byte{0}),
				message('v', []byte{0, 3, 0, 0, 0, 0, 0, 0}),
			),
		},
		{[]byte{0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0}, nil},
		{message('F', []byte{0, 0, 0, 1}), message('E', z("VFATAL"), []byte{0})},
	} {
		for moment := range moments {
			f.Add(moment, 100, seed.client, seed.upstream)
		}
	}
	p, upstream := newFuzzed(f)
	f.Fuzz(func(t *testing.T, moment, piece int, fromClient, fromUpstream []byte) {
		late := time.AfterFunc(giveUp, func() { panic("the session does not end") })
		defer late.Stop()
		moment, piece = max(moment, -moment)%moments, 1+max(piece, -piece)%frame.BufferSize
		upstream.Store(&part{moment, piece, fromUpstream})
		client, far := net.Pipe()
		over := make(chan struct{})
		go func() { defer close(over); p.serve(far, 1, p.welcome(far)) }()
		if moment > fromTheFirstByte {
			client.Write(startup("user", "u", "database", "d"))
		}
		if moment == afterLogin {
			io.ReadFull(client, make([]byte, len(authOK)+len(ready('I'))))
		}
		go func() {
			say(client, fromClient, piece)
			client.Close()
		}()
		told, _ := io.ReadAll(client)
		<-over
		for _, fatal := range fatals(told) {
			if !bytes.HasSuffix(told, fatal) && !bytes.Contains(fromUpstream, fatal) {
				t.Fatalf("after its FATAL the client was told %q", told)
			}
		}
	})
}

// fatals are the FATALs among these bytes, in the form of the proxy's own.
func fatals(b []byte) (all [][]byte) {
	for at := 0; ; at++ {
		next := bytes.Index(b[at:], []byte("SFATAL\x00VFATAL\x00"))
		if next < 0 {
			return all
		}
		if at += next; at < frame.HeaderSize || b[at-frame.HeaderSize] != wire.BackendErrorResponse {
			continue
		}
		message := b[at-frame.HeaderSize:]
		if size := uint64(binary.BigEndian.Uint32(message[1:])) + 1; size <= uint64(len(message)) {
			all = append(all, message[:size])
		}
	}
}

// part is what upstream does in the present session.
type part struct {
	moment, piece int
	says          []byte
}

// newFuzzed makes a proxy whose upstream is a Unix socket, which leaves no port behind. Upstream plays the part that
// the pointer has.
func newFuzzed(f *testing.F) (*Proxy, *atomic.Pointer[part]) {
	address := filepath.Join(f.TempDir(), "upstream")
	back, err := net.Listen("unix", address)
	if err != nil {
		f.Fatal(err)
	}
	upstream := new(atomic.Pointer[part])
	var playing sync.WaitGroup
	playing.Go(func() {
		for {
			c, err := back.Accept()
			if err != nil {
				return
			}
			playing.Go(func() { upstream.Load().play(c) })
		}
	})
	all := &statement.Permission{}
	all.Set(statement.AllNames)
	p, err := New(Settings{
		Upstream: []Host{{Network: "unix", Address: address}}, UnixUpstreamTrustsClients: true,
		IDs: draw.New(&counter{}, nil),
		Permission: func(string) *statement.Permission {
			return all
		},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { back.Close(); playing.Wait() })
	return p, upstream
}

func (p *part) play(c net.Conn) {
	defer c.Close()
	heard := make(chan struct{})
	go func() { defer close(heard); io.Copy(io.Discard, c) }()
	if p.moment == afterLogin {
		c.Write(join(authOK, ready('I')))
	}
	say(c, p.says, p.piece)
	c.(*net.UnixConn).CloseWrite()
	<-heard
}

func say(to io.Writer, b []byte, piece int) {
	for len(b) > 0 {
		n, err := to.Write(b[:min(len(b), piece)])
		if err != nil {
			return
		}
		b = b[n:]
	}
}

package idserver

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgflurry/internal/account"
	"pgflurry/internal/draw"
	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/scram"
)

// The cost of a login. These are benchmarks, since tests do not judge speed:
//
//	go test ./idserver -run '^$' -bench Login

// proving is a client in memory that sends what a login needs. It measures the time that it needs itself.
type proving struct {
	inMemory
	password string
	client   *scram.Client
	step     int
	own      time.Duration
}

func (p *proving) Read(b []byte) (int, error) {
	if len(p.says) == 0 {
		began := time.Now()
		err := p.next()
		p.own += time.Since(began)
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, p.says)
	p.says = p.says[n:]
	return n, nil
}

func (p *proving) next() (err error) {
	said := ""
	switch p.step++; p.step {
	case 1:
		p.client, err = scram.NewClient([]byte(scram.Plain+"\x00\x00"), p.password, nil)
		if err != nil {
			return err
		}
		said, err = p.client.Step("")
		p.says = initial(scram.Plain, said)
	case 2:
		heard := p.heard.Bytes()
		offer := int(heard[4]) + 1 // its length is below 256
		said, err = p.client.Step(string(heard[offer+9:]))
		p.says = passwordMessage([]byte(said))
	default:
		return io.EOF
	}
	return err
}

// benchServer is a Server whose accounts are residents.
func benchServer(b *testing.B) *Server {
	list := account.NewList(residents(), []byte("secret"), noon)
	v, err := New(Settings{
		Database: "ids", IDs: draw.New(noIDs{}, nil), Accounts: func() *account.List { return list },
		Unavailable: func(error) fault.Error { return fault.Error{} },
		Parameters:  func() map[string]string { return real },
	})
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// BenchmarkLogin measures the server's own share of a login: all computation, without sockets and TLS. server-ns/op
// does not include the client's share, but the allocations do.
func BenchmarkLogin(b *testing.B) {
	v := benchServer(b)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	packet := wanted(b, hello(3<<16, "user", "ann", "database", "ids", "application_name", "shop"))
	var own time.Duration
	b.ReportAllocs()
	for b.Loop() {
		client := &proving{password: password}
		v.Serve(client, packet, time.Time{}, func() bool { return true }, log)
		own += client.own
	}
	if ok := v.Stats().Logins["ok"]; ok != int64(b.N) {
		b.Fatalf("%d of %d logged in: %v", ok, b.N, v.Stats().Logins)
	}
	b.ReportMetric(float64((b.Elapsed()-own).Nanoseconds())/float64(b.N), "server-ns/op")
}

// BenchmarkLoginMemory measures the memory of a client of the ID database: heap and stack, with its half of the
// connection.
func BenchmarkLoginMemory(b *testing.B) {
	const clients = 2000
	for b.Loop() {
		h := newHall(b)
		all := make([]*client, clients)
		none := inUse()
		for i := range all {
			all[i] = h.knocks("ann")
			all[i].asked(wire.AuthSASL)
			all[i].heard = nil
		}
		asked := inUse()
		for _, v := range all {
			client, err := scram.NewClient([]byte(scram.Plain+"\x00\x00"), password, nil)
			if err != nil {
				b.Fatal(err)
			}
			first, _ := client.Step("")
			v.send(initial(scram.Plain, first))
			final, err := client.Step(string(v.asked(wire.AuthSASLContinue)))
			if err != nil {
				b.Fatal(err)
			}
			v.send(passwordMessage([]byte(final)))
			v.asked(wire.AuthSASLFinal)
			v.isIn()
			v.heard = nil
		}
		in := inUse()
		b.ReportMetric(float64(asked-none)/clients, "B/login")
		b.ReportMetric(float64(in-none)/clients, "B/session")
		for _, v := range all {
			v.conn.Close()
		}
		h.empties()
	}
}

// inUse is the memory of heap and stacks in bytes, without garbage.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// BenchmarkLoginOfNames measures how long the refusal of a wrong password takes, for each kind of name. The time runs
// from the client's proof to the refusal. There are no sockets, because their noise would hide the difference. The
// kinds take turns in random order, so that all see the same machine.
func BenchmarkLoginOfNames(b *testing.B) {
	names := []string{"ann", "old", "crt", "nob"}
	v := benchServer(b)
	hours := 0
	v.now = func() time.Time { return noon.Add(time.Duration(hours) * time.Hour) } // nobody has to wait
	log := slog.New(slog.DiscardHandler)
	in := func() bool { return true }
	took := make(map[string][]time.Duration)
	for b.Loop() {
		for _, i := range rand.Perm(len(names)) {
			hours++
			client := &timing{proving: proving{password: "wrong"}}
			v.Serve(client, wanted(b, hello(3<<16, "user", names[i], "database", "ids")), time.Time{}, in, log)
			took[names[i]] = append(took[names[i]], client.took)
		}
	}
	for _, name := range names {
		slices.Sort(took[name])
		b.ReportMetric(float64(took[name][len(took[name])/2].Nanoseconds()), name+"-ns")
	}
}

// timing is a client that measures the time from its last message to the answer.
type timing struct {
	proving
	last time.Time
	took time.Duration
}

func (c *timing) Read(b []byte) (int, error) {
	n, err := c.proving.Read(b)
	c.last = time.Now()
	return n, err
}

func (c *timing) Write(b []byte) (int, error) {
	c.took = time.Since(c.last)
	return c.proving.Write(b)
}

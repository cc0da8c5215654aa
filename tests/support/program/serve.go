package program

import (
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// Proxy is a running "pgflurry serve".
type Proxy struct {
	*Process
	Address string // host:port of its listener
	URL     string // of the database, through this proxy
}

// Serve starts a proxy in front of the database of a URL. It waits until the proxy has a worker and answers from
// memory. The flags in more override its own.
func Serve(t testing.TB, direct, node string, more ...string) *Proxy {
	t.Helper()
	p := ServeUnleased(t, direct, node, more...)
	p.Leased()
	return p
}

// ServeUnleased only waits until the proxy accepts clients.
func ServeUnleased(t testing.TB, direct, node string, more ...string) *Proxy {
	t.Helper()
	return Start(t, ServeArgs(t, direct, node, more...)...).Proxy(direct)
}

// ServeArgs returns the arguments of a proxy in front of the database of a URL.
func ServeArgs(t testing.TB, direct, node string, more ...string) []string {
	t.Helper()
	return append([]string{
		"serve", "--listen", "127.0.0.1:0", "--upstream", server.Parse(t, direct).Host, "--lease-database",
		direct, "--node", node,
	}, more...)
}

// Proxy waits until a process with the arguments of ServeArgs accepts clients.
func (p *Process) Proxy(direct string) *Proxy {
	p.t.Helper()
	through := server.Parse(p.t, direct)
	through.Host = Field(p.Line("msg=listening"), "address")
	return &Proxy{Process: p, Address: through.Host, URL: through.String()}
}

// Leased waits until the proxy has a worker and answers from memory.
func (p *Proxy) Leased() {
	p.t.Helper()
	p.Line("worker acquired")
	p.Line("are answered from memory") // all calls, or only qualified ones
}

// Field returns the value of a field in a line of the log, or "" without that field.
func Field(line, name string) string {
	_, value, _ := strings.Cut(line, " "+name+"=")
	value, _, _ = strings.Cut(value, " ")
	return value
}

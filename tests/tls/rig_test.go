package tls

import (
	"strings"
	"sync"
	"testing"

	"pgflurry/proxy"
	"pgflurry/proxy/pgtls"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/proxytest"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

const ours = "SELECT next_snowflake()"

// hba decides how the roles of these tests log in. For all other roles the lines of package server follow. Those ask
// login_scram and its like for a password, with TLS or without, and trust everybody else.
const hba = `hostssl all +login_cert 127.0.0.1/32 cert
hostssl all +login_both 127.0.0.1/32 scram-sha-256 clientcert=verify-ca
hostssl all +only_plain 127.0.0.1/32 reject
hostnossl all +only_tls 127.0.0.1/32 reject
`

// stand is the server of this package, with TLS, and the certificates that its clients and proxies need.
type stand struct {
	serverCA, proxyCA, clientCA *authority.Authority
	server                      authority.Pair // for localhost and 127.0.0.1, as all certificates here
}

var (
	once   sync.Once
	shared *stand
)

// secured switches TLS on in the package's server.
func secured(t testing.TB) *stand {
	t.Helper()
	once.Do(func() {
		cluster := server.Cluster(t)
		s := &stand{
			serverCA: authority.New(t, "server CA"), proxyCA: authority.New(t, "proxy CA"),
			clientCA: authority.New(t, "client CA"),
		}
		s.server = s.serverCA.Issue(t, local)
		for _, group := range []string{"login_cert", "login_both", "only_plain", "only_tls"} {
			server.Exec(t, cluster.URL("postgres"), "CREATE ROLE "+group)
		}
		server.EnableTLS(t, cluster,
			server.TLS{Cert: s.server.Cert, Key: s.server.Key, ClientCA: s.clientCA.PEM, HBA: hba})
		shared = s
	})
	if shared == nil {
		t.Fatal("the server could not be made to speak TLS; an earlier test says why")
	}
	return shared
}

// local is a certificate for the addresses that everything uses.
var local = authority.Leaf{CommonName: "local", Hosts: []string{"localhost", "127.0.0.1"}}

// role makes a role in a group with the password "right", and returns its name.
func role(t testing.TB, direct, group, encryption string) string {
	t.Helper()
	u := server.Parse(t, direct)
	name := u.Path[1:] + "_" + group
	server.Exec(t, direct,
		"SET password_encryption = '"+encryption+"'; CREATE ROLE "+name+" LOGIN PASSWORD 'right' IN ROLE "+group)
	t.Cleanup(func() { server.Exec(t, direct, "DROP OWNED BY "+name+"; DROP ROLE "+name) })
	return name
}

// inFront starts a proxy in front of url's server. It answers in every database. inFront returns url through the proxy,
// without parameters of TLS.
func inFront(t testing.TB, direct string, change func(*proxy.Settings)) string {
	t.Helper()
	u := server.Parse(t, direct)
	settings := proxytest.Settings(u.Host)
	change(&settings)
	u.Host, _ = proxytest.Start(t, settings)
	u.RawQuery = ""
	return u.String()
}

// offer returns the proxy's settings for TLS towards clients.
func offer(t testing.TB, pair authority.Pair) *pgtls.Client {
	t.Helper()
	made, err := pgtls.NewClient(pair.TLS, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// with adds parameters (name=value) to a URL.
func with(at string, parameters ...string) string {
	separator := "?"
	if strings.Contains(at, "?") {
		separator = "&"
	}
	return at + separator + strings.Join(parameters, "&")
}

package servers

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"pgflurry/bench/driver"
)

// startLogins makes a role with a password of this run, and the file that says so to PgBouncer and pgflurry: both read
// the verifier as PostgreSQL keeps it.
func (p *Private) startLogins(ctx context.Context) error {
	password := rand.Text()
	verifier, err := driver.CreateLogin(ctx, p.Postgres.URL, password)
	if err != nil {
		return fmt.Errorf("the role that clients log in as cannot be made: %w", err)
	}
	p.Login, p.logins = url.UserPassword(driver.Login, password), filepath.Join(p.Folder, "logins.txt")
	return writePublic(p.logins, fmt.Sprintf("%q %q\n", driver.Login, verifier))
}

// idDatabase is the name of the virtual database.
const idDatabase = "pgflurry"

// startIDDatabase runs a second proxy, for its virtual database alone.
func (p *Private) startIDDatabase(ctx context.Context) (err error) {
	p.IDDatabase, err = p.serve(ctx, "the ID database", "ids", "--id-database", idDatabase, "--id-auth-file", p.logins)
	if err != nil {
		return err
	}
	u, err := url.Parse(p.IDDatabase.URL)
	if err != nil {
		return err
	}
	u.User, u.Path = p.Login, "/"+idDatabase
	p.IDDatabase.URL, p.IDDatabase.Setting = u.String(), "SCRAM-SHA-256"
	return nil
}

// As is a server's URL for clients that log in as Login, where there is one.
func (s Servers) As(of Server) string {
	if s.Login == nil || !strings.HasPrefix(of.URL, "postgres") {
		return of.URL
	}
	u, err := url.Parse(of.URL)
	if err != nil {
		return of.URL // its user finds out by connecting
	}
	u.User = s.Login
	return u.String()
}

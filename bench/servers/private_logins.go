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

// startLogins creates a role with a password for this run. It writes the role's verifier, as PostgreSQL stores it, into
// a file that both PgBouncer and pgflurry read.
func (p *Private) startLogins(ctx context.Context) error {
	password := rand.Text()
	verifier, err := driver.CreateLogin(ctx, p.Postgres.URL, password)
	if err != nil {
		return fmt.Errorf("the role that clients log in as cannot be made: %w", err)
	}
	p.Login, p.logins = url.UserPassword(driver.Login, password), filepath.Join(p.Folder, "logins.txt")
	return writePublic(p.logins, fmt.Sprintf("%q %q\n", driver.Login, verifier))
}

// idDatabase is the name of the ID database.
const idDatabase = "pgflurry"

// startIDDatabase starts a second proxy, only for its ID database.
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

// As is a server's URL for clients that log in as Login, if there is such a role.
func (s Servers) As(of Server) string {
	if s.Login == nil || !strings.HasPrefix(of.URL, "postgres") {
		return of.URL
	}
	u, err := url.Parse(of.URL)
	if err != nil {
		return of.URL // connecting will show the error
	}
	u.User = s.Login
	return u.String()
}

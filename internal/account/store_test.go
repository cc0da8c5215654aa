package account

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/migrations"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// read reads the table.
func read(t testing.TB, conn *pgx.Conn) *List {
	t.Helper()
	l, err := Read(server.Within(t), conn, now)
	if err != nil {
		t.Fatalf("%v (%s)", err, server.Hint(err))
	}
	return l
}

func TestATableIsReadInOneStatement(t *testing.T) {
	conn := server.Connect(t, server.Migrated(t))
	empty := read(t, conn)
	if empty.Len() != 0 || !empty.Read().Equal(now) {
		t.Errorf("a new table has %d accounts, read at %v", empty.Len(), empty.Read())
	}
	v := verifier(t, "right", 0)
	server.Do(t, conn, `INSERT INTO pgflurry.client (name, verifier, valid_until, connection_limit)
		VALUES ('full', '`+v.Text()+`', '2030-01-01 00:00Z', 5), ('bare', NULL, NULL, NULL)`)
	l := read(t, conn)
	full, _ := l.Find("full")
	if full.Verifier.Text() != v.Text() || !full.ValidUntil.Equal(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)) ||
		full.ConnectionLimit != 5 || time.Since(full.Created) > time.Hour || full.Changed.Before(full.Created) {
		t.Errorf("read as %+v", full)
	}
	bare, found := l.Find("bare")
	if !found || !bare.Verifier.IsZero() || !bare.ValidUntil.IsZero() || bare.ConnectionLimit >= 0 {
		t.Errorf("read as %+v", bare)
	}
	if l.Len() != 2 || l.Mock("x").Text() != empty.Mock("x").Text() {
		t.Errorf("%d accounts; the mock of a name stays: %v", l.Len(), l.Mock("x").Text() == empty.Mock("x").Text())
	}
}

func TestAccountInvariant3EachDatabaseHasASecretOfItsOwnAndKeepsIt(t *testing.T) {
	url, other := server.Migrated(t), server.Migrated(t)
	before := read(t, server.Connect(t, url)).Mock("x").Text()
	if read(t, server.Connect(t, other)).Mock("x").Text() == before {
		t.Error("two databases have one secret")
	}
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	if read(t, server.Connect(t, url)).Mock("x").Text() != before {
		t.Error("another migrate up has changed the secret")
	}
}

func TestASchemaThatWasRestoredWithoutItsRowsGetsASecret(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "DELETE FROM pgflurry.client_secret")
	_, err := Read(server.Within(t), conn, now)
	server.Says(t, err, "pgflurry.client_secret", "is empty", "migrate up")
	if fault.KindOf(err) != fault.NotInPlace {
		t.Errorf("the outcome is %v", fault.KindOf(err))
	}
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	read(t, conn)
}

func TestOnlyTheOwnerAndARoleOfGrantLeaseReadVerifiers(t *testing.T) {
	url := server.Database(t)
	owner := server.Connect(t, url)
	curious := server.Connect(t, server.Role(t, url, "curious"))
	// some owners grant an application rights on everything that they make later
	server.Do(t, owner, "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO curious, PUBLIC")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	_, err := Read(server.Within(t), curious, now)
	server.Says(t, err, `role "curious" may not do that`, "CALL pgflurry.grant_lease('curious');")
	for _, table := range []string{"client", "client_secret"} {
		server.Refused(t, curious, "42501", "SELECT FROM pgflurry."+table)
		server.Refused(t, curious, "42501", "DELETE FROM pgflurry."+table)
	}
	server.Do(t, owner, "CALL pgflurry.grant_lease('curious')")
	read(t, curious)
	_, err = Add(server.Within(t), curious, New{Name: "a"}, false)
	server.Says(t, err, "permission denied for table client", "as the owner of schema pgflurry")
	server.Refused(t, curious, "42501", "DELETE FROM pgflurry.client_secret")
}

func TestAccountInvariant4TheTableAndTheProgramTakeTheSameNames(t *testing.T) {
	conn := server.Connect(t, server.Migrated(t))
	for _, name := range []string{
		"", "a", " ", "a b", `"`, "'", "\\", "\t", "a\n", "\x1f", "\x7f", "\u00e9", "\u0080", "\U0001f642",
		strings.Repeat("n", 63), strings.Repeat("n", 64), strings.Repeat("\u00e9", 31), strings.Repeat("\u00e9", 32),
	} {
		_, err := conn.Exec(server.Within(t), "INSERT INTO pgflurry.client (name) VALUES ($1)", name)
		if own := CheckName(name); (own == nil) != (err == nil) {
			t.Errorf("%q: the program says %v, the table %v", name, own, err)
		}
	}
}

func TestAccountInvariant4TheTableAndTheProgramTakeTheSameVerifiers(t *testing.T) {
	conn := server.Connect(t, server.Migrated(t))
	key := base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
	var texts []string
	for _, salt := range []string{
		"", "A", "AA", "AA==", "AB==", "AAA=", "AAB=", "AAAA", "AAAA====", "AAAA=AAA", "AA\n==", "AA==\n", "A-AA",
		"c2FsdA==",
		strings.Repeat("A", 400), strings.Repeat("A", 404), strings.Repeat("A", 408), strings.Repeat("A", 412),
	} {
		texts = append(texts, "SCRAM-SHA-256$4096:"+salt+"$"+key+":"+key)
	}
	for _, count := range []string{"", "0", "1", "01", "-1", "+1", " 1", "1 ", "999999999", "1000000000", "1e3", "x"} {
		texts = append(texts, "SCRAM-SHA-256$"+count+":c2FsdA==$"+key+":"+key)
	}
	for _, keys := range []string{
		"", key, key + ":", ":" + key, key + ":" + key + ":", key + ":" + key + "\n", key + ":" + key[:43],
		key[:43] + "A:" + key, key + "$" + key, key + ":" + key[:42] + "Z=", key + key + ":" + key,
	} {
		texts = append(texts, "SCRAM-SHA-256$4096:c2FsdA==$"+keys)
	}
	texts = append(texts, "", "sesame", "md5"+strings.Repeat("0", 32), "scram-sha-256$1:c2FsdA==$"+key+":"+key,
		" SCRAM-SHA-256$1:c2FsdA==$"+key+":"+key, "x\nSCRAM-SHA-256$1:c2FsdA==$"+key+":"+key)
	for i, text := range texts {
		_, err := conn.Exec(server.Within(t), "INSERT INTO pgflurry.client (name, verifier) VALUES ($1, $2)",
			fmt.Sprint(i), text)
		if _, own := scram.ParseVerifier(text); (own == nil) != (err == nil) {
			t.Errorf("%q: the program says %v, the table %v", text, own, err)
		}
	}
	read(t, conn)
}

func TestClientsAreAddedChangedExpiredAndRemoved(t *testing.T) {
	conn := server.Connect(t, server.Migrated(t))
	ctx := server.Within(t)
	one, two := verifier(t, "one", 1), verifier(t, "two", 1)
	limit, none := 3, NoLimit
	year := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	put, err := Add(ctx, conn, New{Name: "a", Verifier: one, End: &End{At: year}, Limit: &limit}, false)
	if err != nil || !put.Added || !put.Until.Equal(year) || put.Limit != 3 {
		t.Fatalf("added: %+v, %v", put, err)
	}
	made, _ := read(t, conn).Find("a")
	var exists *ExistsError
	if _, err = Add(ctx, conn, New{Name: "a", Verifier: two}, false); !errors.As(err, &exists) || exists.Name != "a" {
		t.Errorf("a second of the name: %v", err)
	}
	if again, _ := read(t, conn).Find("a"); again.Verifier.Text() != one.Text() || !again.Changed.Equal(made.Changed) {
		t.Errorf("a refused one changed %+v to %+v", made, again)
	}
	put, err = Add(ctx, conn, New{Name: "a", Verifier: two}, true) // the password alone
	if err != nil || put.Added || !put.Until.Equal(year) || put.Limit != 3 {
		t.Errorf("changed: %+v, %v", put, err)
	}
	changed, _ := read(t, conn).Find("a")
	if changed.Verifier.Text() != two.Text() || !changed.Created.Equal(made.Created) ||
		!changed.Changed.After(made.Changed) {
		t.Errorf("changed to %+v", changed)
	}
	put, err = Add(ctx, conn, New{Name: "a", End: &End{}, Limit: &none}, true)
	if a, _ := read(t, conn).Find("a"); err != nil || put.Added || !a.Verifier.IsZero() || !a.ValidUntil.IsZero() ||
		a.ConnectionLimit != NoLimit {
		t.Errorf("changed to %+v: %v", a, err)
	}
	put, err = Add(ctx, conn, New{Name: "b", Verifier: one, End: &End{In: time.Hour}}, true) // new: it is added
	if left := time.Until(put.Until); err != nil || !put.Added || left > time.Hour || left < 50*time.Minute {
		t.Errorf("added: %+v, %v", put, err)
	}
	until, past, err := Expire(ctx, conn, "b", End{At: now.AddDate(-10, 0, 0)})
	if err != nil || !past || !until.Equal(now.AddDate(-10, 0, 0)) {
		t.Errorf("expired: %v, past %v, %v", until, past, err)
	}
	if b, _ := read(t, conn).Find("b"); b.MayLogIn(now) {
		t.Error("who is expired may log in")
	}
	if until, past, err = Expire(ctx, conn, "b", End{}); err != nil || past || !until.IsZero() {
		t.Errorf("for ever: %v, past %v, %v", until, past, err)
	}
	if err := Remove(ctx, conn, "b"); err != nil {
		t.Error(err)
	}
	var unknown *UnknownError
	if err := Remove(ctx, conn, "b"); !errors.As(err, &unknown) || fault.KindOf(err) != fault.Usage {
		t.Errorf("removing who is not there: %v", err)
	}
	if _, _, err := Expire(ctx, conn, "b", End{}); !errors.As(err, &unknown) {
		t.Errorf("expiring who is not there: %v", err)
	}
	if l := read(t, conn); l.Len() != 1 {
		t.Errorf("%d are left", l.Len())
	}
}

func TestAccountInvariant5AnErrorOfTheDatabaseHasNoVerifierInIt(t *testing.T) {
	conn := server.Connect(t, server.Migrated(t))
	v := verifier(t, "right", 1)
	// the database says "Failing row contains (…)" as detail
	server.Do(t, conn, "ALTER TABLE pgflurry.client ADD CONSTRAINT nobody CHECK (name = '')")
	_, err := Add(server.Within(t), conn, New{Name: "a", Verifier: v}, false)
	server.Says(t, err, "nobody")
	if said := fmt.Sprintf("%v %+v %s", err, err, fault.HintOf(err)); strings.Contains(said, v.Text()[30:]) {
		t.Errorf("it says %s", said)
	}
}

func TestThePageSaysHowClientsBecomeOfRoles(t *testing.T) {
	page, err := os.ReadFile("../../docs/id-database.md")
	if err != nil {
		t.Fatal(err)
	}
	_, statement, _ := strings.Cut(string(page), "```sql\nINSERT INTO pgflurry.client")
	statement, _, found := strings.Cut(statement, "```")
	if !found {
		t.Fatal("docs/id-database.md has no block of SQL that inserts into pgflurry.client")
	}
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, "SET password_encryption = 'scram-sha-256'; CREATE ROLE shop PASSWORD 'sesame';"+
		"SET password_encryption = 'md5'; CREATE ROLE billing PASSWORD 'sesame'")
	defer server.Do(t, conn, "DROP ROLE shop, billing")
	server.Do(t, conn, "INSERT INTO pgflurry.client"+statement)
	l := read(t, conn)
	shop, is := l.Find("shop")
	if !is || l.Len() != 1 || shop.Verifier.IsZero() {
		t.Errorf("it makes %d clients: %v", l.Len(), shop)
	}
}

func TestAMigrateDownKeepsClientsThatMayLogIn(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "INSERT INTO pgflurry.client (name, valid_until) VALUES ('valid', NULL), ('expired', now())")
	removed, err := migrations.Down(server.Within(t), url, false)
	server.Says(t, err, "client (1)", "pgflurry clients remove")
	if removed || read(t, conn).Len() != 2 {
		t.Error("it has removed something")
	}
	if err := Remove(server.Within(t), conn, "valid"); err != nil {
		t.Fatal(err)
	}
	if removed, err := migrations.Down(server.Within(t), url, false); err != nil || !removed {
		t.Errorf("removed %v, %v (%s)", removed, err, server.Hint(err))
	}
}

//go:build full

package operate

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/browser"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// page starts a proxy with the flags, and opens its status page.
func page(t *testing.T, direct string, more ...string) (*browser.Tab, *program.Proxy) {
	t.Helper()
	b := browser.Start(t)
	p := program.ServeUnleased(t, direct, "shown", append([]string{
		"--admin-listen", "127.0.0.1:0", "--window", window.String(),
	}, more...)...)
	return b.Open("http://"+program.Field(p.Line("listening for operators"), "address")+"/", browser.View{}), p
}

// warns waits until the page has a warning of this kind, with this text and this command.
func warns(t *testing.T, tab *browser.Tab, kind, text, command string) {
	t.Helper()
	tab.Await(fmt.Sprintf(`[...document.querySelectorAll("[data-kind=%s]")].some((w) =>
		w.textContent.includes(%q) && [...w.querySelectorAll("code")].some((c) => c.textContent.startsWith(%q)))`,
		kind, text, command))
	tab.Picture("real-" + kind)
}

func TestAProxyInGoodHealthHasItsSentenceItsCellAndItsIDsDecoded(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tab, p := page(t, direct)
	p.Leased()
	tab.Await(fmt.Sprintf(`/^Database %s gets IDs from memory, \d+ a second$/.test(
		document.querySelector("#sentence span:last-child").textContent)`, server.Name(t, direct)))
	tab.Await(`/Worker \d+, renewed \d+ s ago, IDs would go on for \d s without/.test(
		document.querySelector("#part-state").textContent)`)
	tab.Await(`document.querySelectorAll(".map .mine").length === 1`)
	worker := browser.Evaluate[string](tab,
		`document.querySelector(".map .mine").getAttribute("href").split("/").pop()`)

	client := server.Connect(t, p.URL)
	id := server.Value[int64](t, client, "SELECT next_snowflake()")
	tab.Run(chromedp.SetValue("#id", fmt.Sprint(id), chromedp.ByQuery),
		chromedp.Click(".decoder button", chromedp.ByQuery))
	tab.Await(`document.querySelector("#decoded")?.textContent.includes("shown")`)
	if text := tab.Text("#decoded a"); text != worker {
		t.Errorf("the ID is of worker %s, and the page says %s", worker, text)
	}
	inside := server.Value[string](t, server.Connect(t, direct), "SELECT snowflake_base32(next_snowflake(), true)")
	tab.Run(chromedp.SetValue("#id", strings.ToLower(inside), chromedp.ByQuery),
		chromedp.Click(".decoder button", chromedp.ByQuery))
	tab.Await(`document.querySelector("#decoded")?.textContent.includes("the function of a database")`)
	if text := tab.Text("#decoded"); !strings.Contains(text, inside[:13]) {
		t.Errorf("the page does not show %s in %q", inside[:13], text)
	}

	tab.Run(chromedp.Click("#workers > summary", chromedp.ByQuery), chromedp.Click(".map .mine", chromedp.ByQuery))
	tab.Await(`document.querySelector("#detail table")?.textContent.includes("shown")`)
	tab.Await(`document.querySelector("#part-warnings").hidden`)
	tab.Await(`document.querySelector("#part-rates").textContent.includes(" IDs given since")`)
	tab.Picture("real-healthy")
}

func TestAClosedGateIsToldUntilItOpens(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Exec(t, direct, "UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp()) + 90000")
	tab, _ := page(t, direct)
	warns(t, tab, "gate", "The gate is closed until", "pgflurry workers reseed")
	tab.Await(`document.querySelector("#sentence").textContent.includes("the gate is closed until")`)
}

func TestACopyIsReportedWithTheThreeThingsThatItMayBe(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	copied := server.TemplateCopy(t, direct, server.Name(t, direct)+"_copy")
	tab, _ := page(t, copied)
	warns(t, tab, "copy", "is a copy", "pgflurry namespace move")
	text := tab.Text("[data-kind=copy]")
	if !strings.Contains(text, "--home HOME") || !strings.Contains(text, "namespace separate") {
		t.Errorf("the copy is told as %q", text)
	}
}

func TestATableWithoutAFreeWorkerIsToldAndSoAreRetiredOnes(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Exec(t, direct, "UPDATE pgflurry.worker SET retired_at = now() WHERE kind = 'proxy'")
	tab, _ := page(t, direct)
	warns(t, tab, "none_free", "No worker is free", "pgflurry workers list")
	tab.Await(`document.querySelectorAll(".map .retired").length === 1024 - 16`)
}

func TestAFunctionThatIsAheadIsToldWithTheCommandForAnotherWorker(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.FunctionClock(t, direct, "'1 hour'")
	server.Value[int64](t, server.Connect(t, direct), "SELECT next_snowflake()")
	server.FunctionClock(t, direct, "'0'")
	tab, _ := page(t, direct)
	warns(t, tab, "function_ahead", "min ahead", "pgflurry namespace set --database")
}

func TestACertificateThatEndsIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours := authority.New(t, "ours")
	cert, key := ours.Issue(t, authority.Leaf{Hosts: []string{"127.0.0.1"}, Valid: 9*24*time.Hour + time.Hour}).
		Write(t, dir, "server")
	tab, _ := page(t, server.Migrated(t), "--client-tls-cert", cert, "--client-tls-key", key)
	warns(t, tab, "certificate", "in 9 days", "openssl x509")
}

func TestALeaseDatabaseThatDoesNotAnswerIsToldAsAShortReserve(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	if err := migrations.Up(t.Context(), direct, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	// The warning stands for a third of the window. The page reads every two seconds, on a busy machine less often.
	tab, _ := page(t, direct, "--window", "24s")
	tab.Await(`/IDs would go on for [12]\d s without/.test(document.querySelector("#part-state").textContent)`)
	server.Freeze(t, cluster)
	tab.Await(`/IDs from memory last until \S+Z, for \d+ s/.test(document.querySelector("#sentence").textContent)`)
	warns(t, tab, "reserve", "under a third of the window", "pgflurry migrate status")
	tab.Await(`document.querySelector("#sentence").textContent.includes("PostgreSQL, which does not answer")`)
	tab.Await(`document.querySelector("[data-kind=upstream]")`)
	tab.Picture("real-frozen")
}

func TestADatabaseThatIsNotAnsweredIsToldWithItsCause(t *testing.T) {
	t.Parallel()
	direct, other := server.Migrated(t), server.Database(t)
	tab, _ := page(t, direct, "--databases", server.Name(t, direct)+","+server.Name(t, other))
	warns(t, tab, "database", "database "+server.Name(t, other), "pgflurry migrate status")
	tab.Await(`document.querySelector("#part-databases").textContent.includes("✕ from PostgreSQL")`)
}

func TestALayoutThatEndsWithinAYearIsTold(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	direct := server.MigratedWith(t, migrations.Settings{ // 36 bits are 795 days
		Layout: "36/0/10/12", Epoch: time.Now().Add(-300 * day).Truncate(time.Second),
	})
	server.StepClock(t, server.Connect(t, direct), 295*day)
	tab, _ := page(t, direct)
	warns(t, tab, "layout_end", "The layout ends at", "pgflurry migrate status")
}

func TestAFreeWorkerIsHeldOnThePageOfEveryOtherProxy(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tab, p := page(t, direct)
	p.Leased()
	program.Serve(t, direct, "the other")
	tab.Await(`document.querySelector(".map .held")?.getAttribute("aria-label").endsWith("held, the other")`)
}

func TestTheIDDatabaseIsToldWithItsSessionsAndWhatItsAccountsLack(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	tab, p := page(t, direct, "--id-database", "ids")
	p.Leased()
	tab.Await(`document.querySelector("#part-ids").textContent.includes("0 in pgflurry.client, read ")`)
	server.Exec(t, direct, "INSERT INTO pgflurry.client (name, verifier) SELECT 'shop', "+
		"'SCRAM-SHA-256$1:AAAAAAAAAAAAAAAAAAAAAA==$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"+
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='")
	tab.Await(`document.querySelector("#part-ids").textContent.includes("1 in pgflurry.client, read ")`)
	wrong := server.Parse(t, server.In(t, p.URL, "ids"))
	wrong.User = url.UserPassword("shop", "guessed")
	if conn, err := pgx.Connect(server.Within(t), wrong.String()); err == nil {
		conn.Close(server.Within(t))
		t.Error("a guess is let in")
	}
	tab.Await(`document.querySelector("#part-ids").textContent.includes("1 with a wrong password")`)
	tab.Picture("real-ids")
}

//go:build full

package operate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/server"
)

const dashboardFile = "../../deploy/grafana/pgflurry.json"

// panels are the queries of the dashboard, by the titles of their panels. Grafana's variables have values.
func panels(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID          int
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	found, ids := make(map[string][]string), make(map[int]bool)
	for _, p := range dashboard.Panels {
		if found[p.Title] != nil || ids[p.ID] {
			t.Errorf("two panels have the title %s or the ID %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			query := strings.NewReplacer("$instance", ".*", "$__rate_interval", "5s").Replace(target.Expr)
			if strings.Contains(query, "$") {
				t.Errorf("%s: nothing sets the variable in %s", p.Title, query)
			}
			found[p.Title] = append(found[p.Title], query)
		}
		if len(p.Targets) == 0 && p.Type != "row" {
			t.Errorf("%s shows nothing", p.Title)
		}
	}
	return found
}

// values are those of all series of a query, now.
func (p *prometheus) values(query string) (all []float64) {
	p.t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	p.ask("/api/v1/query?query="+url.QueryEscape(query), &answer)
	for _, series := range answer.Data.Result {
		value, err := strconv.ParseFloat(fmt.Sprint(series.Value[1]), 64)
		if err != nil {
			p.t.Fatal(err)
		}
		if !math.IsNaN(value) {
			all = append(all, value)
		}
	}
	return all
}

// shows waits until a query has values that fulfil a condition.
func (p *prometheus) shows(what, query string, so func(all []float64) bool) {
	p.t.Helper()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	limit := time.After(server.Patience)
	for {
		all := p.values(query)
		if so(all) {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			p.t.Fatalf("the panel %s never shows that: %s is %v", what, query, all)
		}
	}
}

// drawsOn repeats statements until the test ends, whatever they give.
func drawsOn(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	done := make(chan struct{})
	ctx := t.Context()
	go func() {
		defer close(done)
		for ctx.Err() == nil && !conn.IsClosed() {
			for _, statement := range statements {
				_, _ = conn.Exec(ctx, statement)
			}
		}
	}()
	t.Cleanup(func() { <-done }) // the context has ended by then
}

func TestEachPanelOfTheDashboardShowsARunningProxyAndAFault(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Exec(t, direct, "INSERT INTO pgflurry.segment (biz_tag, step) VALUES ('order', 1000)")
	lease, through := network.To(t, direct)
	name := server.Name(t, direct)
	o := operate(t, direct, "shown", "--lease-database", through, "--databases", name,
		"--id-database", "ids", "--id-auth", "trust", "--id-segments", name, "--max-connections", "100")
	drawsOn(t, server.Connect(t, o.URL), "SELECT next_snowflake()", "SELECT pgflurry.next_segment('order')")
	drawsOn(t, server.Connect(t, server.In(t, o.URL, "ids")), "SELECT next_snowflake()")
	p := startPrometheus(t, o.admin)

	all := panels(t)
	some := func(all []float64) bool { return len(all) > 0 }
	for _, title := range slices.Sorted(maps.Keys(all)) {
		for _, query := range all[title] {
			p.shows(title, query, some)
		}
	}
	positive := func(all []float64) bool { return len(all) > 0 && slices.Max(all) > 0 }
	zero := func(all []float64) bool { return len(all) > 0 && slices.Max(all) == 0 }
	p.shows("all is well", all["IDs from memory"][0], positive)
	p.shows("all is well", all["Calls passed on to PostgreSQL"][0], zero)

	lease.Silence()
	for title, so := range map[string]func([]float64) bool{
		"Shortest reserve": zero, "IDs from memory": zero, "Calls passed on to PostgreSQL": positive,
		"Errors of the ID database": positive, "Since the last renewal": positive,
		"Readiness": func(all []float64) bool { return slices.Min(all) == 0 && slices.Max(all) == 1 },
	} {
		p.shows(title, all[title][0], so)
	}
}

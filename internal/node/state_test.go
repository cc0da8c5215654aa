//go:build unix

package node_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgflurry/internal/report"
	"pgflurry/tests/support/authority"
	"pgflurry/tests/support/server"
)

func TestANodeThatAnswersSaysSo(t *testing.T) {
	server.NoLeak(t)
	asked := settings(t, server.Migrated(t), "state")
	asked.LinesLost = func() int64 { return 7 }
	r := start(t, asked)
	r.answers(t)
	id, worker := draw(t, r.connect(t))
	s := r.State()
	if !s.Listening || s.Draining || s.Started.IsZero() || s.At.Before(s.Started) || s.Name != "state" ||
		s.LinesLost != 7 {
		t.Errorf("the node reports %+v", s)
	}
	if s.Answers.IDs != 1 || s.Namespace.Layout != "41/0/10/12" || s.Namespace.Workers != 1024 {
		t.Errorf("answers %+v, namespace %+v", s.Answers, s.Namespace)
	}
	if len(s.Databases) != 1 || s.Databases[0].IDs != "all" || s.Databases[0].Judged.IsZero() {
		t.Errorf("databases %+v", s.Databases)
	}
	d, err := r.Decode(strconv.FormatInt(id, 10))
	if err != nil || int64(d.Worker) != worker || d.Function || d.Datacenter != nil || len(d.Base32) != 13 {
		t.Errorf("ID %d is decoded as %+v: %v", id, d, err)
	}
	tenures, err := r.History(context.Background(), int(worker))
	if err != nil || len(tenures) != 1 || tenures[0].Node != "state" || tenures[0].Until.IsZero() {
		t.Errorf("the history of worker %d is %+v: %v", worker, tenures, err)
	}
	if _, err := r.History(context.Background(), 1024); err == nil || !strings.Contains(err.Error(), "0 to 1023") {
		t.Errorf("worker 1024 has a history: %v", err)
	}
}

func TestANodeWithoutANamespaceSaysThatItKnowsNone(t *testing.T) {
	server.NoLeak(t)
	s := settings(t, server.Migrated(t), "unknown")
	s.LeaseDatabase = closed
	r := start(t, s)
	r.log.await(t, "no worker is leased")
	if s := r.State(); s.Namespace.ID != "" || s.Namespace.Workers != 0 || !s.Listening {
		t.Errorf("it reports %+v", s)
	}
	if d, err := r.Decode("1"); err == nil {
		t.Errorf("it decodes an ID of a layout that it does not know as %+v", d)
	}
}

func TestCertificatesFollowReloadsAndAFileThatCannotBeReadChangesNothing(t *testing.T) {
	server.NoLeak(t)
	ca, dir := authority.New(t, "ours"), t.TempDir()
	s := settings(t, server.Migrated(t), "certified")
	expired := ca.Issue(t, authority.Leaf{Expired: true})
	s.TLS.ClientCert, s.TLS.ClientKey = expired.Write(t, dir, "clients")
	shown := ca.Issue(t, authority.Leaf{})
	s.TLS.Upstream = "prefer"
	s.TLS.UpstreamCert, s.TLS.UpstreamKey = shown.Write(t, dir, "upstream")
	r := start(t, s)
	certificates := func(clients, upstream authority.Pair) []report.Certificate {
		return []report.Certificate{
			{File: s.TLS.ClientCert, Until: clients.TLS.Leaf.NotAfter},
			{File: s.TLS.UpstreamCert, Until: upstream.TLS.Leaf.NotAfter},
		}
	}
	first := r.State()
	if !slices.Equal(first.Certificates, certificates(expired, shown)) || first.Reloaded.IsZero() {
		t.Errorf("at first it reports %v, read at %v", first.Certificates, first.Reloaded)
	}
	renewed := ca.Issue(t, authority.Leaf{})
	renewed.Write(t, dir, "clients")
	if err := r.reload(s); err != nil {
		t.Fatal(err)
	}
	second := r.State()
	if !slices.Equal(second.Certificates, certificates(renewed, shown)) || !second.Reloaded.After(first.Reloaded) {
		t.Errorf("after a reload it reports %v, read at %v", second.Certificates, second.Reloaded)
	}
	authority.Write(t, dir, "clients.crt", []byte("half a"))
	if err := r.reload(s); err == nil {
		t.Error("half a certificate was taken over")
	}
	third := r.State()
	if !slices.Equal(third.Certificates, second.Certificates) || third.Reloaded != second.Reloaded {
		t.Errorf("after one that failed it reports %v, read at %v", third.Certificates, third.Reloaded)
	}
}

func TestADatabaseThatIsNotAnsweredSaysWhyAndWhatToDo(t *testing.T) {
	server.NoLeak(t)
	s := settings(t, server.Migrated(t), "picky")
	revoked := server.Migrated(t)
	server.Exec(t, revoked, "REVOKE EXECUTE ON FUNCTION public.next_snowflake() FROM PUBLIC")
	s.LeaseDatabase = revoked
	r := start(t, s)
	d := r.until(t, "a decision", func(s report.State) bool { return !s.Databases[0].Judged.IsZero() }).Databases[0]
	if d.IDs != "none" || !strings.Contains(d.IDsWhy, "was revoked from PUBLIC") {
		t.Errorf("it reports %+v", d)
	}
	absent := settings(t, server.Migrated(t), "hopeful")
	absent.Databases = []string{"not_there_at_all"}
	r = start(t, absent)
	d = r.until(t, "why it was not judged", func(s report.State) bool {
		return strings.Contains(s.Databases[0].IDsWhy, "does not exist")
	}).Databases[0]
	if d.IDs != "none" || d.Segments != "none" || !d.Judged.IsZero() {
		t.Errorf("it reports %+v", d)
	}
}

func TestADatabaseSaysThatPostgreSQLIsAwayWhileItIsAndKeepsItsPermission(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	r := start(t, settings(t, migrated(t, cluster.URL("postgres")), "steadfast"))
	r.answers(t)
	if d := r.State().Databases[0]; d.Away != "" {
		t.Errorf("before, it reports %+v", d)
	}
	thaw := server.Freeze(t, cluster)
	d := r.until(t, "that nobody answers", func(s report.State) bool { return s.Databases[0].Away != "" }).Databases[0]
	if d.IDs != "all" || d.Judged.IsZero() {
		t.Errorf("while PostgreSQL is away it reports %+v", d)
	}
	thaw()
	r.until(t, "that PostgreSQL is back", func(s report.State) bool { return s.Databases[0].Away == "" })
}

func TestNumbersOfTagsAreReportedByDatabase(t *testing.T) {
	server.NoLeak(t)
	direct := server.Migrated(t)
	server.Exec(t, direct, "INSERT INTO pgflurry.segment (biz_tag, step) VALUES ('order', 1000)")
	r := start(t, settings(t, direct, "numbers"))
	r.until(t, "that numbers are answered", func(s report.State) bool { return s.Databases[0].Segments == "qualified" })
	server.Do(t, r.connect(t), "SELECT pgflurry.next_segment('order')")
	all := r.until(t, "the tag", func(s report.State) bool { return len(s.Segments) == 1 }).Segments
	if s := all[0]; s.Database != server.Name(t, direct) || s.Tag != "order" || s.Given != 1 || s.Fetches == 0 ||
		s.Left+s.Given < 1000 || s.Skipped != 0 {
		t.Errorf("it reports %+v", s)
	}
}

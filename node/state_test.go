//go:build unix

package node_test

import (
	"context"
	"strings"
	"testing"

	"pgflurry/admin"
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
		t.Errorf("the node tells %+v", s)
	}
	if s.Answers.IDs != 1 || s.Namespace.Layout != "41/0/10/12" || s.Namespace.Workers != 1024 {
		t.Errorf("answers %+v, namespace %+v", s.Answers, s.Namespace)
	}
	if len(s.Databases) != 1 || s.Databases[0].IDs != "all" || s.Databases[0].Judged.IsZero() {
		t.Errorf("databases %+v", s.Databases)
	}
	if d, err := r.Decode(id); err != nil || int64(d.Worker) != worker || d.Function || d.Datacenter != nil {
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
	if told := r.State(); told.Namespace != (admin.Namespace{}) || !told.Listening {
		t.Errorf("it tells %+v", told)
	}
	if d, err := r.Decode(1); err == nil {
		t.Errorf("it decodes an ID of a layout that it does not know as %+v", d)
	}
}

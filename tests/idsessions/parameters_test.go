package idsessions

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestAtLoginTheSameParametersAreReportedAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	d := withClient(t)
	real, own := reported(t, d.direct), reported(t, d.url(password, "sslmode=disable"))
	if want, got := slices.Sorted(maps.Keys(real)), slices.Sorted(maps.Keys(own)); !slices.Equal(got, want) {
		t.Errorf("reported are %v; PostgreSQL reports %v", got, want)
	}
	for name, want := range map[string]string{
		"client_encoding": "UTF8", "is_superuser": "off", "session_authorization": user, "application_name": "",
	} {
		if own[name] != want {
			t.Errorf("%s is %q; expected %q", name, own[name], want)
		}
	}
}

// reported returns the parameters that a server reports before the first ReadyForQuery.
func reported(t *testing.T, url string) map[string]string {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := conn.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	plain.Conn.Close()
	return plain.ParameterStatuses
}

// pgx sends no simple query to a server that has not reported client_encoding.
func TestPgxDrawsByTheSimpleProtocol(t *testing.T) {
	t.Parallel()
	conn := withClient(t).connect(t)
	var id int64
	err := conn.QueryRow(context.Background(), "SELECT next_snowflake()", pgx.QueryExecModeSimpleProtocol).Scan(&id)
	if err != nil || id <= 0 {
		t.Errorf("ID %d, error %v", id, err)
	}
}

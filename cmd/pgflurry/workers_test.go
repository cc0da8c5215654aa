package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
)

func TestWorkersListFitsOnAScreenUnlessItIsAskedForEverything(t *testing.T) {
	mark, left, free, at := int64(1)<<40, 59*time.Second, 179*time.Second, time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	l := lease.Listing{Rows: []lease.Row{{
		Worker: 1023, Kind: "proxy", State: "quarantined", Node: "app-1.example.com", Address: "127.0.0.1:6432",
		Version: "v1.2.3-0.20260701120000-0123456789ab", Term: 1234, ReservedUntil: &mark, Left: &left, Free: &free,
		AcquiredAt: &at, RenewedAt: &at,
	}}}
	for name, test := range map[string]struct {
		format listFormat
		width  int
		has    []string
		lacks  []string
	}{
		"people": {
			width: 140,
			has:   []string{"WORKER", "STATE", "FREE IN SECONDS", "RENEWED AT"},
			lacks: []string{"KIND", "TERM", "VERSION", "ACQUIRED"},
		},
		"wide": {
			format: listFormat{wide: true},
			width:  250,
			has:    []string{"KIND", "TERM", "VERSION", "ACQUIRED AT"},
		},
		"programs": {
			format: listFormat{json: true},
			width:  1000,
			has:    []string{`"kind"`, `"term"`, `"version"`, `"acquired_at"`},
		},
	} {
		var out bytes.Buffer
		err := printListing(&out, l, namespace.Namespace{Layout: generator.DefaultLayout()}, true, test.format)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range test.has {
			if !strings.Contains(out.String(), word) {
				t.Errorf("%s: no %s in\n%s", name, word, out.String())
			}
		}
		for _, word := range test.lacks {
			if strings.Contains(out.String(), word) {
				t.Errorf("%s: %s is in\n%s", name, word, out.String())
			}
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > test.width {
				t.Errorf("%s: %d columns:\n%s", name, len(line), line)
			}
		}
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"pgflurry/bench/report"
)

// readOlder reads the run that --compare names, before anything starts. It refuses a run that cannot be compared with
// this one.
func (m *measurement) readOlder(this *report.Report) error {
	if m.compare == "" {
		return nil
	}
	older, err := readResults(m.compare)
	if err != nil {
		return usage(fmt.Errorf("--compare: %w", err))
	}
	if err := this.Comparable(older, m.rounds); err != nil {
		return fmt.Errorf("--compare %s: %w", m.compare, err)
	}
	m.older = older
	return nil
}

// readResults reads the results.json of a run.
func readResults(path string) (*report.Report, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(report.Report)
	if err = json.Unmarshal(content, r); err == nil && r.Kind == "" {
		err = errors.New("it names no kind of run")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no results.json of pgflurry-bench: %w", path, err)
	}
	return r, nil
}

// writeChanges reports what changed since the older run, if there is one.
func (m *measurement) writeChanges(r *report.Report, out io.Writer) error {
	if m.older == nil {
		return nil
	}
	comparison, err := report.Compare(m.older, r)
	if err != nil {
		return err
	}
	return comparison.Write(out, m.compare)
}

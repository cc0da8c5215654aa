package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"pgflurry/bench/report"
	"pgflurry/outcome"
)

// readOlder reads the run that --compare names, before anything starts. One that this run cannot be compared with is
// refused.
func (m *measurement) readOlder(this *report.Report) error {
	if m.compare == "" {
		return nil
	}
	content, err := os.ReadFile(m.compare)
	if err != nil {
		return outcome.As(outcome.Usage, fmt.Errorf("--compare: %w", err))
	}
	older := new(report.Report)
	if err := json.Unmarshal(content, older); err != nil {
		return outcome.As(outcome.Usage,
			fmt.Errorf("--compare: %s is no results.json of pgflurry-bench: %w", m.compare, err))
	}
	if err := this.Comparable(older, m.rounds); err != nil {
		return fmt.Errorf("--compare %s: %w", m.compare, err)
	}
	m.older = older
	return nil
}

// writeChanges says what changed since the older run, if there is one.
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

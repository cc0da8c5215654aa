package migrations

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"time"

	"pgflurry/generator"
	"pgflurry/namespace"
	"pgflurry/outcome"
	"pgflurry/sqlfuncs"
)

var (
	//go:embed queries/print_head.sql
	printHeadSQL string
	//go:embed queries/print_applied.sql
	printAppliedSQL string
	//go:embed queries/print_namespace.sql
	printNamespaceSQL string
	//go:embed queries/print_tail.sql
	printTailSQL string
)

// Print writes, as one script, what Up runs in a database without pgflurry. Settings that need a database (JoinURL,
// NewNamespace, Moved) are refused.
func Print(w io.Writer, s Settings) error {
	if err := s.validate(); err != nil {
		return outcome.As(outcome.Usage, err)
	}
	if s.JoinURL != "" || s.NewNamespace || s.Moved || s.FreshWorker || s.JoinsComplete || s.MaxWindow != 0 {
		return refuse(`Use "pgflurry migrate up".`, "--join, --new-namespace, --moved, --fresh-worker "+
			"and --joins-complete need the database: they cannot be printed")
	}
	layout, err := s.layout(generator.DefaultLayout())
	if err != nil {
		return err
	}
	if err := s.region(layout); err != nil {
		return err
	}
	workers, err := s.databaseWorkers(layout)
	if err != nil {
		return outcome.As(outcome.Usage, err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, printHeadSQL, layout.Full())
	out.WriteString("\n" + bootstrapSQL)
	for _, m := range all() {
		fmt.Fprintf(&out, "\n-- %s\n%s", m.name, m.up)
		fmt.Fprintf(&out, printAppliedSQL, m.version)
	}
	for _, file := range sqlfuncs.Files(revision(all())) {
		fmt.Fprintf(&out, "\n-- %s\n%s", file.Name, file.SQL)
	}
	out.WriteString("\n")
	id, region := "NULL", "NULL"
	if s.Space != nil {
		id = "'" + s.Space.ID + "'"
	}
	if s.Region != nil {
		region = fmt.Sprint(*s.Region)
	}
	fmt.Fprintf(&out, printNamespaceSQL, id, layout.TimestampBits, layout.DatacenterBits, layout.WorkerBits,
		layout.SequenceBits, layout.Epoch.UTC().Format(time.RFC3339Nano), layout.Unit.Milliseconds(),
		workers, namespace.WorkersOf(layout, s.Region).Lowest, s.Disposable, region)
	out.WriteString("\n" + sqlfuncs.Install().SQL + "\n" + printTailSQL)
	_, err = io.WriteString(w, out.String())
	return err
}

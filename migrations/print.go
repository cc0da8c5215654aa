package migrations

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/queries"
	"pgflurry/internal/session"
	"pgflurry/sqlfuncs"
)

//go:embed print.sql
var printSQL string

// fragment has the parts of the block between migrations and functions.
var fragment = queries.Read[struct {
	Head, Begin, Apply, Applied, Namespace, End string
}](printSQL)

// Print writes, as one statement, what Up runs. If pgflurry is already installed, the statement does what is missing.
// Print refuses settings that need a database (JoinURL, NewNamespace, Moved, FreshWorker, JoinsComplete, MaxWindow,
// RestartQuarantine, NewServer).
//
// The statement is an anonymous block of PL/pgSQL. Every tool takes it for one statement, and PostgreSQL runs it whole
// or not at all, without an open transaction. Nothing in it looks like a parameter: it has no question mark, and no
// colon before a name.
func Print(w io.Writer, s Settings) error {
	return printWith(s, w, func(block string) string { return "$pgflurry$" + block + "$pgflurry$" })
}

// PrintEscaped is Print for tools that split at every semicolon, or remove comments. Its block is one string without a
// semicolon, quote, comment or dollar sign.
func PrintEscaped(w io.Writer, s Settings) error {
	return printWith(s, w, func(block string) string { return "E'" + escape(block) + "'" })
}

// printWith writes the statement; quote makes a string of its block.
func printWith(s Settings, w io.Writer, quote func(block string) string) error {
	if err := s.Validate(); err != nil {
		return fault.WithKind(fault.Usage, err)
	}
	layout, err := s.WantedLayout(generator.DefaultLayout())
	if err != nil {
		return err
	}
	if err := s.MayHave(layout); err != nil {
		return err
	}
	workers, foreign, err := s.Shares(layout)
	if err != nil {
		return fault.WithKind(fault.Usage, err)
	}
	block := quote("\n" + printed(all(), s.Functions, namespaceRow(s, layout, workers, foreign)))
	_, err = fmt.Fprintf(w, fragment.Head+"DO %s;\n", layout.Full(), block)
	return err
}

// printed returns the block that applies a list of migrations, installs the functions and makes the row. functions says
// which of them get a name in public.
func printed(list []migration, functions, row string) string {
	var out strings.Builder
	fmt.Fprintf(&out, fragment.Begin, revision(list), session.LockKey)
	out.WriteString("\n" + sql.Bootstrap)
	for _, m := range list {
		fmt.Fprintf(&out, "\n-- %s\n"+fragment.Apply+"%s"+fragment.Applied, m.name, m.version, m.up, m.version)
	}
	for _, file := range sqlfuncs.Files(revision(list), functions) {
		fmt.Fprintf(&out, "\n-- %s\n%s", file.Name, file.SQL)
	}
	out.WriteString("\n" + row + "\n" + sqlfuncs.Install().SQL + "\n" + fragment.End)
	return out.String()
}

// namespaceRow returns the part of the block that makes the row, or compares the existing one.
func namespaceRow(s Settings, layout generator.Layout, workers int, others namespace.Ranges) string {
	id, region, version, foreign := "NULL", "NULL", "NULL", "NULL"
	if s.Space != nil {
		id = "'" + s.Space.ID + "'"
	}
	if s.Version != "" {
		version = "'" + strings.ReplaceAll(s.Version, "'", "''") + "'"
	}
	if s.Region != nil {
		region = fmt.Sprint(*s.Region)
	}
	if len(others) > 0 {
		foreign = "'" + others.Multirange() + "'"
	}
	return fmt.Sprintf(fragment.Namespace, id, layout.TimestampBits, layout.DatacenterBits, layout.WorkerBits,
		layout.SequenceBits, layout.Epoch.UTC().Format(time.RFC3339Nano), layout.Unit.Milliseconds(),
		workers, s.Disposable, region, foreign, version)
}

// escape returns a text as PostgreSQL reads it between E' and '. It replaces characters by their codes that a tool
// could take for the end of a statement, a comment or a parameter.
func escape(text string) string {
	var out strings.Builder
	for i, c := range []byte(text) {
		switch {
		case strings.IndexByte(`';\:?%$@{}`, c) >= 0, i > 0 && (text[i-1:i+1] == "--" || text[i-1:i+1] == "/*"):
			fmt.Fprintf(&out, `\x%02X`, c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

package partition

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A Step is done whole, or continued by the next run.
type Step struct {
	Says       string   // for people
	Drops      bool     // needs consent
	Statements []string // each is sent by itself
}

func (f Facts) create(s span) Step {
	name := f.nameOf(s)
	fresh, table := name.Sanitize(), f.name.Sanitize()
	like := f.newest()
	logged, options := "", ""
	if f.unlogged || like.persistence == "u" {
		logged = " UNLOGGED"
	}
	if f.method != "" {
		options += " USING " + pgx.Identifier{f.method}.Sanitize()
	}
	if like.options != "" {
		options += " WITH (" + like.options + ")"
	}
	if f.tablespace != "" {
		options += " TABLESPACE " + pgx.Identifier{f.tablespace}.Sanitize()
	}
	statements := []string{sql.Begin, fmt.Sprintf(sql.Create, logged, fresh, table, options)}
	if f.owner != "" {
		statements = append(statements, fmt.Sprintf(sql.Own, fresh, pgx.Identifier{f.owner}.Sanitize()))
	}
	if identity := map[string]string{"f": "FULL", "n": "NOTHING"}[like.replica]; identity != "" {
		statements = append(statements, fmt.Sprintf(sql.Identify, fresh, identity))
	}
	statements = append(statements,
		fmt.Sprintf(sql.Attach, table, fresh, bound(s.low), bound(s.high)), sql.Commit)
	return Step{
		Says:       fmt.Sprintf("create %s, from %s to %s", f.shown(name), f.when(s.low), f.when(s.high)),
		Statements: statements,
	}
}

// newest is the partition whose settings a new one gets: those that PostgreSQL does not hand down from the table.
func (f Facts) newest() (newest part) {
	for _, p := range f.parts {
		if p.kind == "r" && !p.pending {
			newest = p
		}
	}
	return newest
}

func (f Facts) finalize(p part) Step {
	return Step{
		Says:       fmt.Sprintf("complete the detach of %s, which was interrupted", f.shown(p.name)),
		Statements: []string{fmt.Sprintf(sql.Finalize, f.name.Sanitize(), p.name.Sanitize())},
	}
}

func (f Facts) unmark(p part) Step {
	return Step{
		Says:       fmt.Sprintf("keep %s, which an earlier run was about to drop", f.shown(p.name)),
		Statements: []string{fmt.Sprintf(sql.Comment, p.name.Sanitize(), "NULL")},
	}
}

func (f Facts) drop(p part) Step {
	name := p.name.Sanitize()
	return Step{
		Says:  fmt.Sprintf("drop %s, from %s to %s", f.shown(p.name), f.when(p.low), f.when(p.high)),
		Drops: true,
		Statements: []string{
			fmt.Sprintf(sql.Comment, name, literal(f.mark()+strconv.FormatInt(p.high, 10))),
			fmt.Sprintf(sql.Detach, f.name.Sanitize(), name),
			fmt.Sprintf(sql.Drop, name),
		},
	}
}

func (f Facts) dropLeft(name pgx.Identifier) Step {
	return Step{
		Says:       fmt.Sprintf("drop %s, which is detached", f.shown(name)),
		Drops:      true,
		Statements: []string{fmt.Sprintf(sql.Drop, name.Sanitize())},
	}
}

// bound is a bound of a range in SQL.
func bound(id int64) string {
	if id == minValue {
		return "MINVALUE"
	}
	return strconv.FormatInt(id, 10)
}

// literal is a text in SQL, with standard_conforming_strings on.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

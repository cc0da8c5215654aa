package statement

import (
	"strings"
	"testing"
)

func TestMayDeallocateTellsWhatCouldDropPreparedStatements(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want bool
	}{
		{"DEALLOCATE s", true},
		{"deallocate all", true},
		{"DiScArD plans", true},
		{"DO $$BEGIN END$$", true},
		{"CALL p()", true},
		{" \t\n/* why */ -- not\nCALL p()", true},
		{"CALL/**/p()", true},
		{"DO'BEGIN END'", true},
		{"SELECT 1; DEALLOCATE s", true},
		{"SELECT 1;SELECT 2;", true},
		{"SELECT 1;;", true},
		{";DISCARD ALL", true},
		{"SELECT ';' || 'x'", true}, // the text of a statement is not parsed
		{"SELECT 1; -- done", true},
		{"SELECT 1;\v", true}, // no space before PostgreSQL 16
		{"/* never closed", true},
		{"/* é */ SELECT 1", true},
		{"é", true},
		{"+", true},
		{"\x00", true},
		{strings.Repeat("x", 64), true}, // PostgreSQL truncates it
		{"SELECT 1" + strings.Repeat(" ", 1<<20) + "; DO 'x'", true},
		{"DISCARD" + strings.Repeat(" ", 1<<20) + "ALL", true},
		{strings.Repeat("/**/", 1<<10) + "DISCARD ALL", true},

		{"", false},
		{" -- nothing", false},
		{";", false},
		{"SELECT 1", false},
		{"SELECT 1;", false},
		{"SELECT 1 ; \t\r\n\f", false},
		{"(SELECT 1)", false},
		{"SELECT 'é' + \v 1a", false}, // nothing after the first token is read
		{"SELECT '" + strings.Repeat("x", 1<<20) + "'", false},
		{strings.Repeat("/**/", 1<<10) + "SELECT 1", false},
		{"COPY t FROM STDIN", false},
		{`"do" 'x'`, false},
		{"dot", false},
		{"DO$$x$$", false}, // a name, for PostgreSQL as well
		{"EXPLAIN EXECUTE s", false},
		{"PREPARE s AS SELECT 1", false},
	} {
		if got := MayDeallocate([]byte(c.sql)); got != c.want {
			t.Errorf("MayDeallocate(%.60q) = %v; want %v", c.sql, got, c.want)
		}
	}
}

func TestOfAStatementThatIsPreparedTheFirstWordTells(t *testing.T) {
	for sql, want := range map[string]bool{
		"DEALLOCATE s": true, "/* x */ call p()": true, "é": true,
		";DEALLOCATE s": true, " ; ;\n;-- x\nDO ''": true, ";'": true, ";": false, ";SELECT 1": false,
		"INSERT INTO t VALUES (';DEALLOCATE')": false, "SELECT 1; DEALLOCATE s": false,
		"DEALL": false, "": false, " -- x": false, "/* x */": false,
	} {
		if got := Deallocates([]byte(sql), true); got != want {
			t.Errorf("Deallocates(%q) = %v; want %v", sql, got, want)
		}
	}
}

func TestATextThatIsNotWholeDeallocatesUnlessItsFirstWordIsAnother(t *testing.T) {
	for sql, want := range map[string]bool{
		"": true, " \n": true, "-- x": true, "-- x\n": true, "/* x": true, "/* x */": true, ";": true, ";;;": true,
		"DEALL": true, "SELECT": true, "D": true, "DO ": true, ";CALL p(": true,
		"INSERT INTO t VALUES ('cut of": false, "/* x */ SELECT ": false, ";SELECT 1": false, "(": true, "(S": false,
	} {
		if got := Deallocates([]byte(sql), false); got != want {
			t.Errorf("Deallocates(%q, not whole) = %v; want %v", sql, got, want)
		}
	}
}

func TestMayDeallocateAllocatesNothing(t *testing.T) {
	for _, sql := range []string{"SELECT 1; ", "DEALLOCATE s", strings.Repeat("x", 1<<20)} {
		text := []byte(sql)
		if n := testing.AllocsPerRun(100, func() { MayDeallocate(text) }); n != 0 {
			t.Errorf("MayDeallocate(%.40q) allocates %v times; want 0", sql, n)
		}
	}
}

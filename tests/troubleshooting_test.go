package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgflurry/internal/fault"
)

const troubles = "../docs/troubleshooting.md"

// served are the folders whose log messages an operator of serve reads.
var served = []string{
	"cmd/pgflurry", "internal/account", "internal/connect", "internal/lease", "internal/lease/holder",
	"internal/node", "internal/primary", "internal/segment", "internal/watch", "proxy", "proxy/idserver",
}

// Readers search for a symptom by its text, so it must be a text of the program. After a change of that text nobody
// would find the row.
func TestEachSymptomOfTheTroubleshootingPageIsATextOfTheCode(t *testing.T) {
	texts := append(goTexts(t), sqlTexts(t)...)
	found := symptoms(t)
	for _, symptom := range found {
		if !slices.ContainsFunc(texts, func(text string) bool { return holds(text, symptom) }) {
			t.Errorf("%s has the symptom %q, which no text of the code holds", troubles, symptom)
		}
	}
	if len(found) < 100 {
		t.Errorf("%s has %d symptoms; the test has lost the others", troubles, len(found))
	}
}

func TestEachWarningOfTheLogAndEachErrorOfTheProxyHasARowOfTroubleshooting(t *testing.T) {
	found := symptoms(t)
	listed := func(text string) bool {
		return slices.ContainsFunc(found, func(symptom string) bool { return holds(text, symptom) })
	}
	warnings, errors := loggedTexts(t), clientTexts(t)
	for _, reason := range fault.Reasons() {
		warnings = append(warnings, fault.Of(reason).Log)
	}
	for _, text := range slices.Concat(warnings, errors) {
		if !listed(text) {
			t.Errorf("%s lacks a row for %q", troubles, text)
		}
	}
	if len(warnings) < 40 || len(errors) < 25 {
		t.Errorf("%d warnings and %d errors were found in the code; the test has lost the others",
			len(warnings), len(errors))
	}
}

// symptoms returns the texts in backticks in the first cells of the page's tables.
func symptoms(t *testing.T) (found []string) {
	t.Helper()
	page, err := os.ReadFile(troubles)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllSubmatch(page, -1) {
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllSubmatch(row[1], -1) {
			found = append(found, string(quoted[1]))
		}
	}
	return found
}

// holds says whether a text contains the parts of a symptom in order. "…" stands for a variable part.
func holds(text, symptom string) bool {
	for part := range strings.SplitSeq(symptom, "…") {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// sources calls f with each file of the product that has the suffix. It leaves out tests and benchmarks.
func sources(t *testing.T, suffix string, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{"../tests", "../bench", "../.git"}, path) {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, suffix) && !strings.HasSuffix(path, "_test.go") {
			f(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// goTexts returns the constant strings of all Go files. It joins concatenated literals.
func goTexts(t *testing.T) (texts []string) {
	t.Helper()
	sources(t, ".go", func(path string) {
		ast.Inspect(parsed(t, path), func(n ast.Node) bool {
			if e, is := n.(ast.Expr); is {
				if text, constant := textOf(e); constant {
					texts = append(texts, text)
					return false
				}
			}
			return true
		})
	})
	return texts
}

// sqlTexts returns the literals of all SQL files. It joins those that span several lines.
func sqlTexts(t *testing.T) (texts []string) {
	t.Helper()
	sources(t, ".sql", func(path string) {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// an apostrophe in a comment does not begin a literal
		file = regexp.MustCompile(`(?m)(^|\s)--\s.*$`).ReplaceAll(file, nil)
		for _, literal := range regexp.MustCompile(`'(?:[^']|'')*'(?:\s*\n\s*'(?:[^']|'')*')*`).FindAll(file, -1) {
			joined := regexp.MustCompile(`([^'])'\s*\n\s*'([^'])`).ReplaceAllString(string(literal), "$1$2")
			texts = append(texts, strings.ReplaceAll(joined, "''", "'"))
		}
	})
	return texts
}

// loggedTexts returns the messages of the log's warnings and errors while the program serves.
func loggedTexts(t *testing.T) (texts []string) {
	t.Helper()
	for _, room := range served {
		files, err := filepath.Glob("../" + room + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "clock_steered.go") { // not released
				continue
			}
			ast.Inspect(parsed(t, path), func(n ast.Node) bool {
				call, is := n.(*ast.CallExpr)
				if !is || len(call.Args) == 0 {
					return true
				}
				if of, is := call.Fun.(*ast.SelectorExpr); is && (of.Sel.Name == "Warn" || of.Sel.Name == "Error") {
					if text, constant := textOf(call.Args[0]); constant {
						texts = append(texts, text)
					}
				}
				return true
			})
		}
	}
	return texts
}

// clientTexts returns the messages of the errors that a client gets from the proxy itself.
func clientTexts(t *testing.T) (texts []string) {
	t.Helper()
	for _, path := range []string{"../proxy/errors.go", "../internal/fault/error.go"} {
		ast.Inspect(parsed(t, path), func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || len(call.Args) != 3 || strings.TrimPrefix(types.ExprString(call.Fun), "fault.") != "New" {
				return true
			}
			if text, constant := textOf(call.Args[1]); constant {
				texts = append(texts, text)
			}
			return false
		})
	}
	return texts
}

func parsed(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// textOf returns the value of a string literal, or of a concatenation of them.
func textOf(e ast.Expr) (text string, constant bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, leftIs := textOf(e.X)
		right, rightIs := textOf(e.Y)
		return left + right, e.Op == token.ADD && leftIs && rightIs
	}
	return "", false
}

//go:build full

package frameworks

import (
	"testing"

	"pgflurry/tests/support/deeds"
)

// This test asks each framework of Node for the deed traps, after migrate. Its result says for each warning on the
// framework's page whether it is true.
func TestWhatThePageWarnsOfHappens(t *testing.T) {
	deeds.Wanted(t)
	m := newMatrix(t)
	for _, f := range nodeFrameworks {
		t.Run(f.Name, func(t *testing.T) {
			m.Asked(t, f.Program, install)
			direct := m.empty(t, f, "traps")
			lines := m.Run(t, f.Program, []string{"migrate", "traps"}, m.environment(t, direct))
			warnings, told := lines[1].Result.(map[string]any)
			if !told || len(warnings) == 0 {
				t.Fatalf("traps gave %v; expected an object of warnings", lines[1].Result)
			}
			for warning, is := range warnings {
				if is != true {
					t.Errorf("%q is %v; mend the page, or what the program looks at", warning, is)
				}
			}
		})
	}
}

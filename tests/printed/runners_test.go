//go:build full

package printed

import (
	"path/filepath"
	"testing"

	"pgflurry/tests/support/deeds"
)

// runners are the page's snippets for test runners, each in a file that runs here.
var runners = []struct {
	name, language, file string
	script               string   // runs the file; $RUNNERS is its folder
	databases            []string // that exist afterwards
}{
	{
		name: "pytest", language: "python", file: "conftest.py",
		script: "cp $RUNNERS/*.py . && /usr/bin/python3 -m pytest -q -p no:cacheprovider test_shop.py && " +
			"/usr/bin/python3 -m pytest -q -p no:cacheprovider -n 2 test_shop.py",
	},
	{
		name: "Django", language: "python", file: "with_django.py",
		script: "pgflurry migrate print > pgflurry.sql && /usr/bin/python3 $RUNNERS/with_django.py",
	},
	{
		name: "Jest", language: "js", file: "jest.globalSetup.js",
		script:    `node -e "require('$RUNNERS/jest.globalSetup.js')({ maxWorkers: 2 })"`,
		databases: []string{"shop_1", "shop_2"},
	},
}

func TestThePagesTestRunnersGiveEachProcessADatabaseThatDraws(t *testing.T) {
	t.Parallel()
	if !deeds.All() {
		t.Skip("PGFLURRY_TEST_CLIENTS is not all: make test-clients installs the runners and runs them")
	}
	folder, err := filepath.Abs("runners")
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t)
	r.environment = append(r.environment, "RUNNERS="+folder, "PYTHONDONTWRITEBYTECODE=1")
	r.run(template(t))
	for _, runner := range runners {
		t.Run(runner.name, func(t *testing.T) {
			quoted(t, runner.language, filepath.Join("runners", runner.file))
			r.run(runner.script)
			if len(runner.databases) > 0 {
				r.draws(runner.databases...)
			}
		})
	}
}

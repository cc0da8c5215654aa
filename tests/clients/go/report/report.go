// Package report is what every Go program here shares: one JSON line a deed.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
)

const (
	PasswordRole, SCRAMRole, Password = "client_password", "client_scram", "right"

	Asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
)

// Deed does one thing.
type Deed struct {
	Name string
	Do   func() (result any, ids []int64, err error)
	None string // why the driver cannot do it, in place of Do
}

// Run prints the module's version if that is all that is asked for; else it does the deeds.
func Run(module string, deeds ...Deed) {
	if len(os.Args) > 1 {
		fmt.Println(version(module))
		return
	}
	out := json.NewEncoder(os.Stdout)
	for _, d := range deeds {
		line := map[string]any{"deed": d.Name}
		if d.None != "" {
			line["none"] = d.None
		} else if result, ids, err := d.Do(); err != nil {
			line["error"] = err.Error()
		} else {
			line["result"] = result
			line["ids"] = Texts(ids)
		}
		if err := out.Encode(line); err != nil {
			panic(err)
		}
	}
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version[1:]
		}
	}
	return "unknown"
}

// Texts are IDs in decimal.
func Texts(ids []int64) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return texts
}

// InParallel draws 1,000 IDs on each of four connections; draw opens one and returns n IDs in the order they came.
func InParallel(draw func(n int) ([]int64, error)) (any, []int64, error) {
	var all sync.WaitGroup
	var drawn [4][]int64
	var failed [4]error
	for i := range drawn {
		all.Go(func() { drawn[i], failed[i] = draw(1000) })
	}
	all.Wait()
	return nil, slices.Concat(drawn[:]...), cmp.Or(failed[:]...)
}

// Package report prints the lines of JSON of the Go programs here, one a deed.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	PasswordRole, Password = "client_password", "right"

	Asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
)

// SCRAMRole is the role that logs in with SCRAM.
func SCRAMRole() string { return os.Getenv("CLIENT_ROLE") }

// Bare says whether the database has no tables.
func Bare() bool { return os.Getenv("CLIENT_BARE") != "" }

// Deed does one thing.
type Deed struct {
	Name string
	Do   func() (result any, ids []int64, err error)
	None string // why the driver cannot do it; set instead of Do
}

// Run does the deeds that CLIENT_DEEDS names. With the argument "version" it only prints the version of the module.
func Run(module string, deeds ...Deed) {
	if len(os.Args) > 1 {
		fmt.Println(version(module))
		return
	}
	out := json.NewEncoder(os.Stdout)
	asked := strings.Fields(os.Getenv("CLIENT_DEEDS"))
	for _, d := range deeds {
		if !slices.Contains(asked, d.Name) {
			continue
		}
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

// Texts returns the IDs in decimal.
func Texts(ids []int64) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return texts
}

// FromPool draws 100 IDs. Four goroutines draw 25 each, and borrow connections from one pool at the same time.
func FromPool(draw func() (int64, error)) (any, []int64, error) {
	return drawn(25, func(n int) (ids []int64, err error) {
		for range n {
			id, err := draw()
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		return ids, nil
	})
}

// InParallel draws 1,000 IDs on each of four connections. draw opens a connection and returns n IDs in the order in
// which they came.
func InParallel(draw func(n int) ([]int64, error)) (any, []int64, error) { return drawn(1000, draw) }

func drawn(n int, draw func(n int) ([]int64, error)) (any, []int64, error) {
	var all sync.WaitGroup
	var ids [4][]int64
	var failed [4]error
	for i := range ids {
		all.Go(func() { ids[i], failed[i] = draw(n) })
	}
	all.Wait()
	return nil, slices.Concat(ids[:]...), cmp.Or(failed[:]...)
}

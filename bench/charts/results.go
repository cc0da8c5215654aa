package charts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pgflurry/bench"
)

// WriteResults puts results.md, results.json and the charts of a report into a folder, which it makes if absent, and says so on out.
func WriteResults(r *bench.Report, folder string, out io.Writer) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{"results.md": r.WriteMarkdown, "results.json": r.WriteJSON} {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if err := errors.Join(write(file), file.Close()); err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	all, err := Of(r)
	if err != nil {
		return err
	}
	for _, chart := range all {
		if err := chart.Save(folder); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nwritten: %s, and beside it results.json and %d charts, each as SVG and PNG\n", filepath.Join(folder, "results.md"), len(all))
	return nil
}

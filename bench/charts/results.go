package charts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"pgflurry/bench/report"
)

const resultsJSON = "results.json"

// WriteResults writes results.md, results.json and the charts of a report into a folder, and reports that on out. It
// creates the folder if needed. It replaces older results only when all files are written, and removes their charts
// that the report lacks. A report without a sample is an error and replaces nothing.
func WriteResults(r *report.Report, folder string, out io.Writer) error {
	if len(r.Samples) == 0 {
		return fmt.Errorf("nothing was measured, so nothing is written; what is in %s stays as it was", folder)
	}
	all, err := chartsOf(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(folder, ".being-written-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	for name, write := range map[string]func(io.Writer) error{"results.md": r.WriteMarkdown, resultsJSON: r.WriteJSON} {
		if err := writeFile(filepath.Join(aside, name), write); err != nil {
			return err
		}
	}
	for _, chart := range all {
		if err := chart.save(aside); err != nil {
			return err
		}
	}
	if err := replace(aside, folder); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nwritten: %s, and beside it %s and %d charts, each as SVG and PNG\n",
		filepath.Join(folder, "results.md"), resultsJSON, len(all))
	return nil
}

// writeFile creates a file.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// replace moves all files of one folder into another. It removes the charts of the earlier results that are not among
// them.
func replace(aside, folder string) error {
	gone := chartsOfResults(filepath.Join(folder, resultsJSON))
	files, err := os.ReadDir(aside)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Rename(filepath.Join(aside, file.Name()), filepath.Join(folder, file.Name())); err != nil {
			return err
		}
	}
	for _, name := range gone {
		if slices.ContainsFunc(files, func(file fs.DirEntry) bool { return file.Name() == name }) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// chartsOfResults lists the chart files of a results.json; empty if there is none, or if it is something else.
func chartsOfResults(path string) (files []string) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var old report.Report
	if json.Unmarshal(content, &old) != nil {
		return nil
	}
	all, err := chartsOf(&old)
	if err != nil {
		return nil
	}
	for _, chart := range all {
		files = append(files, chart.Name+".svg", chart.Name+".png")
	}
	return files
}

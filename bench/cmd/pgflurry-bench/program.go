package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// findProgram gives the path of the program pgflurry: the one that is named, the one beside this program, or one that
// is built into folder, from the source that the working directory belongs to.
func findProgram(ctx context.Context, named, folder string, progress io.Writer) (string, error) {
	if named != "" {
		return exec.LookPath(named)
	}
	if own, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(own), "pgflurry"); isProgram(beside) {
			return beside, nil
		}
	}
	fmt.Fprintln(progress, "building pgflurry from the source here (--pgflurry names a program that is built)")
	built := filepath.Join(folder, "pgflurry")
	if err := build(ctx, built); err != nil {
		return "", fmt.Errorf("the program pgflurry is not beside this one, and cannot be built here (%w); "+
			"name it with --pgflurry", err)
	}
	return built, nil
}

// build builds the program in the folder of its own module: the benchmark's module does not require what the product
// does, and Go stamps a commit only on programs of the module that it works in.
func build(ctx context.Context, to string) error {
	source, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "pgflurry").Output()
	if err != nil {
		return fmt.Errorf("the folder of module pgflurry: %w", err)
	}
	out, err := exec.CommandContext(ctx, "go", "-C", strings.TrimSpace(string(source)), "build", "-o", to,
		"./cmd/pgflurry").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

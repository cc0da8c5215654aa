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

// findProgram returns the path of the program pgflurry: the named one, or the one beside this program. If there is
// neither, it builds one into folder, from the source that the working directory belongs to.
func findProgram(ctx context.Context, named, folder string, progress io.Writer) (string, error) {
	if named != "" {
		return exec.LookPath(named)
	}
	if own, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(own), "pgflurry")); err == nil {
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

// build runs in the folder of the product's own module. The benchmark's module lacks the product's requirements, and Go
// stamps a commit only on programs of the current module.
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

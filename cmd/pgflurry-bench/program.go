package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// findProgram gives the path of the program pgflurry: the one that is named, the one beside this program, or one built
// from the source in the working directory, into folder.
func findProgram(ctx context.Context, named, folder string) (string, error) {
	if named != "" {
		return exec.LookPath(named)
	}
	if own, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(own), "pgflurry"); isProgram(beside) {
			return beside, nil
		}
	}
	built := filepath.Join(folder, "pgflurry")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", built, "pgflurry/cmd/pgflurry").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("the program pgflurry is not beside this one, and cannot be built here (%w: %s); name it with --pgflurry", err, out)
	}
	return built, nil
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var a asked
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&a.version, "version", "", "the `TAG`")
	flags.StringVar(&a.licence, "licence", "", "`FILE` with the licence of pgflurry")
	flags.StringVar(&a.module, "module", "", "`PATH` of the module")
	flags.StringVar(&a.docs, "docs", "", "`URL` at which operators read docs/")
	flags.StringVar(&a.maintainer, "maintainer", "", "`NAME <ADDRESS>` for the packages")
	flags.StringVar(&a.targets, "targets", "", "`LIST` as in linux/amd64,darwin/arm64 (default: all)")
	flags.StringVar(&a.tree, "tree", "..", "`FOLDER` of the repository")
	flags.StringVar(&a.out, "out", "../dist", "`FOLDER` in which the folder of the release is made")
	notices := flags.Bool("notices", false, "only write NOTICE anew")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *notices {
		return writeNotices(ctx, a.tree)
	}
	targets, err := a.check(ctx)
	if err != nil {
		return err
	}
	return release(ctx, a, targets)
}

// release makes everything in a folder of its own, and puts it in place when it is whole.
func release(ctx context.Context, a asked, targets []target) error {
	work, err := os.MkdirTemp("", "pgflurry-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(a.out, 0o755); err != nil {
		return err
	}
	out, err := os.MkdirTemp(a.out, ".unfinished-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out)
	if out, err = filepath.Abs(out); err != nil {
		return err
	}

	s, err := clone(ctx, a, work)
	if err != nil {
		return err
	}
	programs, err := s.buildAll(ctx, targets)
	if err != nil {
		return err
	}
	if err := s.writeTexts(ctx, a.docs); err != nil {
		return err
	}
	for _, p := range programs {
		fmt.Println("packing", p.target)
		for _, pack := range []func(context.Context, *source, program, string) error{sbom, archive, packages} {
			if err := pack(ctx, s, p, out); err != nil {
				return fmt.Errorf("%s: %w", p.target, err)
			}
		}
	}
	if len(targets) == len(all) {
		if err := image(ctx, s, out); err != nil {
			return err
		}
	}
	if err := sums(out); err != nil {
		return err
	}
	place := filepath.Join(a.out, a.version)
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(out, 0o755), os.Rename(out, place)); err != nil {
		return err
	}
	fmt.Println("made", place)
	return nil
}

// image runs the script that makes the image, if the tag has it. It gets the version and the folder for its archive. A
// part of a release has no image: that is of two systems.
func image(ctx context.Context, s *source, out string) error {
	script := filepath.Join(s.tree, "docker", "oci")
	if _, err := os.Stat(script); errors.Is(err, os.ErrNotExist) {
		fmt.Println("the tag has no docker/oci: no image is made")
		return nil
	}
	fmt.Println("packing the image")
	return s.run(exec.CommandContext(ctx, script, s.asked.version, out))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pgflurry/internal/fault"
)

// longestSecret limits a password or a verifier, in bytes.
const longestSecret = 4 << 10

// askPassword reads the password of a client. A terminal asks twice and shows nothing. Otherwise it is the only line of
// standard input.
func askPassword(cmd *cobra.Command, client string) (string, error) {
	in, is := cmd.InOrStdin().(*os.File)
	if !is || !term.IsTerminal(int(in.Fd())) {
		text, err := line(cmd.Context(), atMost(cmd.InOrStdin()))
		return secretLine("password", text, err)
	}
	var typed [2]string
	for i, question := range []string{"Password of client %q: ", "The same again: "} {
		if i == 0 {
			question = fmt.Sprintf(question, client)
		}
		var err error
		if typed[i], err = unseen(cmd.Context(), in, cmd.ErrOrStderr(), question); err != nil {
			return "", err
		}
		if typed[i] == "" {
			return "", nothingGiven("password", "nothing was typed")
		}
	}
	if typed[0] != typed[1] {
		return "", fault.WithKind(fault.Usage, errors.New("the two passwords differ; nothing was changed"))
	}
	return typed[0], nil
}

// unseen asks at a terminal without echo. After a signal it restores the terminal.
func unseen(ctx context.Context, terminal *os.File, questions io.Writer, question string) (string, error) {
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return "", fmt.Errorf("asking for a password: %w", err)
	}
	fmt.Fprint(questions, question)
	defer fmt.Fprintln(questions) // the terminal does not echo the return key either
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := term.ReadPassword(int(terminal.Fd()))
		done <- read{text, err}
	}()
	select {
	case r := <-done:
		if errors.Is(r.err, io.EOF) {
			return "", nothingGiven("password", "the input has ended")
		}
		return string(r.text), r.err
	case <-ctx.Done():
		_ = term.Restore(int(terminal.Fd()), before)
		return "", fmt.Errorf("nothing was changed: %w", ctx.Err())
	}
}

// readVerifier reads the only line of standard input. It refuses several lines, such as the answer to a query for
// several roles: the client could get the password of the wrong role. At a terminal, the first line ends the input.
func readVerifier(cmd *cobra.Command) (string, error) {
	if in, is := cmd.InOrStdin().(*os.File); is && term.IsTerminal(int(in.Fd())) {
		text, err := line(cmd.Context(), atMost(in))
		return secretLine("verifier", text, err)
	}
	text, err := awaited(cmd.Context(), func() (string, error) {
		all, err := io.ReadAll(atMost(cmd.InOrStdin()))
		return string(all), err
	})
	first, more, _ := strings.Cut(text, "\n")
	if err == nil && first != "" && strings.TrimSpace(more) != "" {
		return "", fault.WithKind(fault.Usage, fault.WithHint(errors.New("standard input has more than one line"),
			"Give the verifier of one role: WHERE rolname = 'shop'."))
	}
	return secretLine("verifier", first, err)
}

// atMost limits what is read into memory.
func atMost(from io.Reader) io.Reader { return io.LimitReader(from, longestSecret+1) }

// secretLine removes the line end of a line from standard input.
func secretLine(what, text string, err error) (string, error) {
	switch {
	case errors.Is(err, context.Canceled):
		return "", fmt.Errorf("nothing was changed: %w", err)
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("reading the %s from standard input: %w", what, err)
	case len(text) > longestSecret:
		return "", fault.WithKind(fault.Usage,
			fmt.Errorf("the %s on standard input is longer than %d bytes", what, longestSecret))
	}
	if text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"); text == "" {
		return "", nothingGiven(what, "the first line of standard input is empty")
	}
	return text, nil
}

func nothingGiven(what, found string) error {
	return fault.WithKind(fault.Usage, fault.WithHint(fmt.Errorf("no %s was given: %s", what, found),
		"Type it where it is asked for, or write it to standard input as one line. "+
			"A client that logs in with a certificate needs --certificate-only."))
}

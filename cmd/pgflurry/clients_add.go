package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/account"
	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/proxy/scram"
)

// addition holds the flags of "clients add".
type addition struct {
	url, until                         string
	limit                              int
	verifier, certificateOnly, replace bool
}

func newClientsAdd() *cobra.Command {
	var a addition
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Let a client log in, or give it another password",
		Long: `add lets a client log in to the ID database. It asks for the password twice, without showing it.
If standard input is no terminal, its only line is the password. pgflurry does not store the password.
It stores a verifier, and nobody can log in with that.

--verifier-stdin reads a verifier instead, as PostgreSQL has it in pg_authid.rolpassword:
SCRAM-SHA-256$… . So the client has the same password as that role of PostgreSQL. add accepts neither
an md5 hash nor a password in clear text there.

If the client exists, add refuses. With --replace it gives the client the new password. Of the other
settings, --replace changes only those that are given. It also adds a client that does not exist, so a
script may run again.`,
		Example: `  pgflurry clients add shop --database postgres://owner@localhost/app
  pgflurry clients add shop --valid-until 720h --connection-limit 50 --database postgres://me@db/app
  psql -AtXc "SELECT rolpassword FROM pg_authid WHERE rolname = 'shop'" |
    pgflurry clients add shop --verifier-stdin --database postgres://owner@localhost/app`,
		Args: oneClient,
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd, args[0]) },
	}
	databaseFlag(cmd, &a.url)
	flags := cmd.Flags()
	flags.StringVar(&a.until, "valid-until", "never",
		"last `TIME` at which it may log in: 2027-01-31T18:00:00Z, a duration from now such as 720h, or never")
	flags.IntVar(&a.limit, "connection-limit", account.NoLimit,
		"`NUMBER` of sessions that it may have at once on each proxy; -1: any number")
	flags.BoolVar(&a.verifier, "verifier-stdin", false, "read a verifier from standard input instead of a password")
	flags.BoolVar(&a.certificateOnly, "certificate-only", false, "the client has no password, but a certificate")
	flags.BoolVar(&a.replace, "replace", false, "replace a client that exists")
	source.Describe(flags, config.Row{Name: "valid-until", Enum: []string{"never"}}) // beside times and durations
	asksConsent(cmd, "replace")
	cmd.MarkFlagsMutuallyExclusive("verifier-stdin", "certificate-only")
	return cmd
}

func (a *addition) run(cmd *cobra.Command, name string) error {
	client := account.New{Name: name}
	end, err := endOf("valid-until", a.until)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("valid-until") {
		client.End = &end
	}
	if a.limit < account.NoLimit {
		return fault.WithKind(fault.Usage, fmt.Errorf("--connection-limit is %d; expected -1 or more", a.limit))
	}
	if cmd.Flags().Changed("connection-limit") {
		client.Limit = &a.limit
	}
	if !a.certificateOnly {
		// Check first: nobody should type a password for a command that is refused anyway.
		if err := withClients(cmd, a.url, a.mayAdd(name)); err != nil {
			return err
		}
		if client.Verifier, err = a.secret(cmd, name); err != nil {
			return err
		}
	}
	return withClients(cmd, a.url, func(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) error {
		if err := ns.Changes(); err != nil {
			return err
		}
		put, err := account.Add(ctx, conn, client, a.replace)
		if err != nil {
			return existsHint(err)
		}
		return printPut(cmd.OutOrStdout(), client, put)
	})
}

// mayAdd makes the database's checks before the user is asked for a password.
func (a *addition) mayAdd(name string) func(context.Context, *pgx.Conn, namespace.Namespace) error {
	return func(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) error {
		if err := ns.Changes(); err != nil {
			return err
		}
		list, err := readClients(ctx, conn)
		if err != nil {
			return err
		}
		if _, found := list.Find(name); found && !a.replace {
			return existsHint(&account.ExistsError{Name: name})
		}
		return nil
	}
}

// secret is the verifier of the client: computed from a password, or read from standard input.
func (a *addition) secret(cmd *cobra.Command, name string) (scram.Verifier, error) {
	if a.verifier {
		text, err := readVerifier(cmd)
		if err != nil {
			return scram.Verifier{}, err
		}
		v, err := scram.ParseVerifier(text)
		if err != nil {
			return scram.Verifier{}, fault.WithKind(fault.Usage, fault.WithHint(
				fmt.Errorf("standard input holds no verifier: %w", err),
				"Expected one line as pg_authid.rolpassword of PostgreSQL has it. "+
					"To give a password leave --verifier-stdin out."))
		}
		return v, nil
	}
	password, err := askPassword(cmd, name)
	if err != nil {
		return scram.Verifier{}, err
	}
	if _, err := scram.ParseVerifier(password); err == nil {
		return scram.Verifier{}, fault.WithKind(fault.Usage, fault.WithHint(
			errors.New("what was given as a password is a verifier"), "Give --verifier-stdin, too."))
	}
	v, err := scram.NewVerifier(password, 0)
	return v, fault.WithKind(fault.Usage, err)
}

func printPut(w io.Writer, client account.New, put account.Put) error {
	done, by, sessions := "changed", "its password", "any number of sessions"
	if put.Added {
		done = "added"
	}
	if client.Verifier.IsZero() {
		by = "a certificate"
	}
	if put.Limit >= 0 {
		sessions = fmt.Sprintf("at most %d sessions at once on each proxy", put.Limit)
	}
	_, err := fmt.Fprintf(w, "client %q is %s: it logs in with %s %s, and may have %s\n",
		client.Name, done, by, spellUntil(put.Until), sessions)
	return err
}

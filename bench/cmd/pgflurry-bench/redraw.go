package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"pgflurry/bench/charts"
)

func newRedraw() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "redraw RESULTS.JSON --out DIR",
		Short: "Tables and charts of a run again, without measuring",
		Long: `redraw reads the results.json of a run. It writes results.md, results.json and the charts again, as this
version of the program makes them. It measures nothing.`,
		Example: "  pgflurry-bench redraw results/results.json --out results",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("%d files are given; expected one results.json", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage(fmt.Errorf("--out is missing; expected the folder for tables and charts"))
			}
			r, err := readResults(args[0])
			if err != nil {
				return usage(err)
			}
			return charts.WriteResults(r, out, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder for results.md, results.json and charts, made if absent")
	return cmd
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newReload builds "pgflurry reload", for an image that has neither a shell nor kill.
func newReload() *cobra.Command {
	var pid int
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Have a running proxy read its configuration and secrets again",
		Long: `reload sends SIGHUP to the "pgflurry serve" that runs here. It is for containers, whose image has no
shell. If there are several, --pid chooses one. A process that runs something else gets nothing.

The log of the proxy says what has changed, and what waits for a restart. If the new configuration is
wrong, the log says why, and nothing changes.`,
		Example: `  docker exec proxy-1 /pgflurry reload
  kubectl exec pgflurry-7d4b9 -- /pgflurry reload
  pgflurry reload --pid 4711`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			proxy, err := findRunning(pid)
			if err != nil {
				return err
			}
			if err := hangUp(proxy.pid); err != nil {
				return fmt.Errorf("process %d gets no SIGHUP: %w", proxy.pid, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "process %d reads its configuration again; its log says what changes\n",
				proxy.pid)
			return nil
		},
	}
	cmd.Flags().IntVar(&pid, "pid", 0, "process `ID` of one of several (default: the only one)")
	return cmd
}

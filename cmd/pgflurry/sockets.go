package main

import (
	"fmt"
	"net"
	"os"

	"github.com/coreos/go-systemd/v22/activation"

	"pgflurry/internal/config"
	"pgflurry/internal/fault"
)

// takeSockets takes over the listening sockets that a service manager has opened (LISTEN_FDS), if there are any. The
// manager keeps them open, too: while no process runs, new clients wait in them for the next one.
func takeSockets(s *config.Settings) error {
	return fault.WithKind(fault.Usage, handOver(s))
}

func handOver(s *config.Settings) error {
	files := activation.Files(true)
	taken := make(map[string]net.Listener)
	for i, file := range files {
		listener, err := listenerOf(file)
		name := file.Name()
		if len(files) == 1 && name != socketOfAdmin {
			name = socketOfClients // the only socket is for clients, whatever its unit is called
		}
		switch {
		case err != nil:
			return fault.WithHint(fmt.Errorf("socket %d of %d from the service manager, %q, cannot be listened on: %w",
				i+1, len(files), file.Name(), err),
				"A socket unit needs ListenStream and Accept=no.")
		case name != socketOfClients && name != socketOfAdmin, taken[name] != nil:
			return fault.WithHint(fmt.Errorf("socket %d of %d from the service manager is called %q; "+
				"expected one that is called %s, and at most one that is called %s",
				i+1, len(files), file.Name(), socketOfClients, socketOfAdmin),
				"A socket unit gives its sockets a name by FileDescriptorName, and listens on one address.")
		}
		taken[name] = listener
	}
	s.Listener, s.Admin.Listener = taken[socketOfClients], taken[socketOfAdmin]
	return nil
}

// listenerOf takes the socket over, and closes the file.
func listenerOf(file *os.File) (net.Listener, error) {
	defer file.Close()
	if err := checkListens(file); err != nil {
		return nil, err
	}
	return net.FileListener(file)
}

// The names that a service manager gives to the sockets.
const (
	socketOfClients = "clients"
	socketOfAdmin   = "admin"
)

package node

import (
	"fmt"
	"log/slog"

	"pgflurry/internal/config"
	"pgflurry/internal/connect"
)

// warnOfExposed logs which files with secrets every account of this machine may read. PostgreSQL refuses such a key.
// Here it is no error: Docker and Kubernetes mount secrets so, in a container that has one account.
func warnOfExposed(s config.Settings, log *slog.Logger) {
	files := append([]string{s.TLS.ClientKey, s.TLS.UpstreamKey, s.IDDatabase.AuthFile}, s.SecretFiles...)
	for _, file := range files {
		if mode, exposed := connect.ExposedFile(file); exposed {
			log.Warn("a file with a secret can be read or changed by every account of this machine",
				"file", file, "mode", fmt.Sprintf("%04o", mode),
				"hint", "Give it the mode 0600, or 0640 for its group.")
		}
	}
}

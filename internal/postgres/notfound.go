package postgres

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// notFoundError says that this machine has no usable PostgreSQL server, where Find looked, and how to install one.
type notFoundError struct {
	looked   []string // places, as patterns
	unusable []string // servers that cannot be used, each with the reason
	docker   string   // why Docker did not help either; empty if it was not tried
}

func (e *notFoundError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "no PostgreSQL server %d or newer was found; looked in %s",
		oldestMajor, strings.Join(e.looked, ", "))
	for _, unusable := range e.unusable {
		s.WriteString("; " + unusable)
	}
	if e.docker != "" {
		s.WriteString("; " + e.docker)
	}
	return s.String()
}

// Hint is the command that installs PostgreSQL on this machine.
func (e *notFoundError) Hint() string {
	release, _ := os.ReadFile("/etc/os-release") // absent on macOS and in bare containers: then the hint is general
	return fmt.Sprintf("Install it with \"%s\", or name its folder, or start Docker. "+
		"Where that is too old, https://www.postgresql.org/download has newer ones.",
		installCommand(runtime.GOOS, string(release), os.Getuid() == 0))
}

// installers maps the ID of an os-release file to the command that installs a server.
var installers = map[string]string{
	"debian": "apt-get install postgresql", "ubuntu": "apt-get install postgresql",
	"fedora": "dnf install postgresql-server", "rhel": "dnf install postgresql-server",
	"centos": "dnf install postgresql-server", "suse": "zypper install postgresql-server",
	"opensuse": "zypper install postgresql-server", "alpine": "apk add postgresql", "arch": "pacman -S postgresql",
}

func installCommand(goos, release string, root bool) string {
	if goos == "darwin" {
		return "brew install postgresql@17"
	}
	for _, id := range distributions(release) {
		command, ok := installers[id]
		if strings.Contains(release, "platform:el8") || strings.Contains(release, "platform:el9") {
			command = "dnf module install postgresql:15/server" // postgresql-server is 10 or 13 there
		}
		if ok && !root {
			command = "sudo " + command
		}
		if ok {
			return command
		}
	}
	return "apt-get install postgresql (Debian, Ubuntu), " +
		"dnf install postgresql-server (Fedora, RHEL), brew install postgresql@17 (Homebrew)"
}

// distributions are the words of ID and ID_LIKE in an os-release file, ID first.
func distributions(release string) []string {
	var id, like []string
	for line := range strings.Lines(release) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		words := strings.Fields(strings.Trim(value, `"'`))
		switch key {
		case "ID":
			id = words
		case "ID_LIKE":
			like = words
		}
	}
	return append(id, like...)
}

//go:build full

package unique

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// The marks of those IDs are in the home, which the copy does not have.
func TestACopyOfAJoinedDatabaseBeginsAboveIDsThatAClockAheadHasMade(t *testing.T) {
	t.Parallel()
	for name, definition := range map[string]string{
		"read from columns with the default": "id bigint DEFAULT next_snowflake()",
		"said by the operator":               "id bigint", // its IDs come from programs
	} {
		t.Run(name, func(t *testing.T) {
			s := plain(t)
			home, joined := s.migrated(migrations.Settings{Layout: "41/0/3/12", DatabaseWorkers: 2}), server.Database(t)
			s.up(joined, migrations.Settings{JoinURL: home})
			server.Exec(t, joined, "CREATE TABLE item ("+definition+")")
			clock := server.Connect(t, home)
			server.StepClock(t, clock, time.Hour)
			through := program.Serve(t, home, "ahead")
			s.draw(through.URL)
			through.Signal(syscall.SIGTERM)
			through.End()
			highest := s.highest
			server.Exec(t, joined, fmt.Sprintf("INSERT INTO item VALUES (%d)", highest))
			server.StepClock(t, clock, -time.Hour) // the clock is right again
			s.draw(joined)

			copied := server.TemplateCopy(t, joined, "copies_of_joined")
			wish := ""
			if definition == "id bigint" {
				wish += fmt.Sprintf(" --after-id %d", highest)
			}
			s.shell("pgflurry namespace separate --database '" + copied + "'" + wish)
			s.draw(copied, joined) // by the function, whose marks were copied

			there := server.Connect(t, copied)
			server.StepClock(t, there, 50*time.Minute)
			p := program.ServeUnleased(t, copied, "copy")
			p.Line("no worker is free")
			server.StepClock(t, there, 11*time.Minute)
			p.Line("worker acquired")
			s.highest = highest
			s.drawsAbove(p.URL)
		})
	}
}

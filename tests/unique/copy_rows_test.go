//go:build full

package unique

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// scenarios bring about what the rows of the table say. A key is the first cell of a row, letter by letter.
var scenarios = map[string]func(*story){
	"failover to a standby": failover,
	"a failover soon after `migrate up`, and the function says XX000":                            brokenByFailover,
	"a dump was restored in place (`pg_restore --clean`)":                                        restoredInPlace,
	"the server was set back in place (point in time, a snapshot of its disk)":                   setBack,
	"a dump was restored beside its original, here or elsewhere, or a template copied (staging)": beside,
	"a dump was restored on another server, and the original is gone":                            onAnotherServer,
	"a snapshot, base backup or clone of a machine runs beside its original":                     cloned,
	"nobody declared a copy, and `serve` or `migrate status` says that the server is not known":  undeclared,
	"a database that has joined has another address, or was restored on another server":          joinedMoved,
	"the server of a database that has joined was set back in place":                             joinedSetBack,
	"the home was renamed, or has another address":                                               homeRenamed,
	"the home was set back or failed over, and another database shall join":                      homeForgot,
	"the home was only restarted, and another database shall join":                               homeRestarted,
	"`pg_upgrade`": upgraded,
	"blue/green: the application's tables are replicated logically, and clients switch": blueGreen,
	"blue/green, and green subscribes to all sequences of blue (PostgreSQL 19)":         blueGreenWithSequences,
	"all sequences of another epoch were replicated here, and the function says SNF01":  followsAnotherEpoch,
	"a schema came without its data (`pg_dump --schema-only`, `structure.sql`)":         schemaOnly,
	"a test suite clones its template database":                                         testSuite,
	"data was restored into the database it came from (`pg_restore --data-only`)":       dataOnly,
	"schema `public` of another database was restored over this one's":                  foreignPublic,
	"the server's clock once stood far ahead, and the function says SNF01":              clockAhead,
}

func failover(s *story) {
	primary := server.Private(s, nil)
	url := primary.URL("postgres")
	s.up(url, migrations.Settings{})
	s.draw(url)
	standby := server.Standby(s, primary, "standby", "", nil) // receives nothing from now on
	s.draw(url)
	server.Promote(s, standby)
	s.drawsAbove(standby.URL("postgres"))
}

func brokenByFailover(s *story) {
	primary := server.Private(s, nil)
	url := primary.URL("postgres")
	s.up(url, migrations.Settings{})
	s.draw(url)
	standby := server.Standby(s, primary, "standby", "", nil)
	s.draw(url)
	server.Promote(s, standby)
	url = server.LoseSequences(s, standby).URL("postgres")
	server.Refused(s, server.Connect(s, url), "XX000", "SELECT next_snowflake()")
	s.command(0, "URL", url)
	s.drawsAbove(url)
}

func restoredInPlace(s *story) {
	url := s.migrated(migrations.Settings{})
	file := s.dump(url)
	s.draw(url)
	open := server.Connect(s, url) // a session that has asked already whether it is the original
	server.Do(s, open, "SELECT next_snowflake()")
	s.restore(url, file, "--clean", "--if-exists")
	if _, err := open.Exec(server.Within(s), "SELECT next_snowflake()"); sqlstate(err) != "SNF03" {
		s.Errorf("the open session draws on: %v", err)
	}
	s.refuses(url, "was restored")
	s.refusesUp(url, migrations.Settings{}, "was restored", "namespace move")
	s.command(0, "URL", url)
	s.drawsAbove(url)
}

func setBack(s *story) {
	original := server.Private(s, nil)
	s.up(original.URL("postgres"), migrations.Settings{})
	s.draw(original.URL("postgres"))
	again := server.Clone(s, original, "snapshot") // what stands in its place afterwards
	s.draw(original.URL("postgres"))
	server.Crash(s, original)
	url := again.URL("postgres")
	s.command(0, "URL", url)
	s.drawsAbove(url)
	conn := server.Connect(s, url)
	const asReseeded = `SELECT acquire_after > pgflurry.ticks(clock_timestamp() + interval '110 s')
			AND joins_complete_on IS NULL
		FROM pgflurry.namespace`
	if !server.Value[bool](s, conn, asReseeded) {
		s.Error("a proxy may get a worker, or a database join, before what was forgotten has ended")
	}
}

func beside(s *story) {
	original := s.migrated(migrations.Settings{})
	// The lane of a new function is a second ahead of the clock. So the copy could draw the rest of that tick.
	first, second := server.TemplateCopy(s, original, "copies_first"), ""
	for _, url := range []string{first, second} {
		if url == "" {
			second = server.Database(s)
			s.restore(second, s.dump(original))
			url = second
		}
		s.refuses(url, "is a copy", "pgflurry migrate up --database URL")
		s.draw(original)
		s.refusesUp(url, migrations.Settings{}, "is a copy", "namespace join", "namespace separate")
	}
	s.command(0, "URL", first, "HOME", original)
	s.draw(first, original, first, original)
	s.command(1, "URL", second)
	// The other ID space has the same worker. But it gives no ID that the copy holds.
	s.drawsAbove(second)
	s.refuses(server.TemplateCopy(s, second, "copies_third"), "is a copy")
}

func onAnotherServer(s *story) {
	// OIDs of new servers are alike. So a production server that was moved once and its staging have the same ones.
	first, production, staging := server.Private(s, nil), server.Private(s, nil), server.Private(s, nil)
	app := s.database(first.URL("postgres"), "app")
	s.up(app, migrations.Settings{})
	s.draw(app)
	moved := s.database(production.URL("postgres"), "app")
	s.restore(moved, s.dump(app))
	s.refuses(moved, "is server cluster")
	server.Crash(s, first)
	s.command(0, "URL", moved)
	s.drawsAbove(moved)

	copied := s.database(staging.URL("postgres"), "app")
	s.restore(copied, s.dump(moved))
	const oids = "SELECT format('%s %s', d.oid, 'pgflurry.namespace'::regclass::oid) FROM pg_database AS d " +
		"WHERE datname = current_database()"
	a := server.Value[string](s, server.Connect(s, moved), oids)
	b := server.Value[string](s, server.Connect(s, copied), oids)
	if a != b {
		s.Fatalf("the two servers have OIDs %s and %s, so this proves nothing", a, b)
	}
	s.refuses(copied, "is server cluster")
	s.up(moved, migrations.Settings{JoinsComplete: true}) // none ever joined
	s.up(copied, migrations.Settings{JoinURL: moved})
	s.draw(copied, moved, copied, moved)
}

func cloned(s *story) {
	original := server.Private(s, nil)
	home, joined := s.database(original.URL("postgres"), "home"), s.database(original.URL("postgres"), "joined")
	s.up(home, migrations.Settings{})
	s.up(joined, migrations.Settings{JoinURL: home})
	s.draw(home, joined)
	clone := server.Clone(s, original, "clone").URL("postgres")
	homeClone, joinedClone := server.In(s, clone, "home"), server.In(s, clone, "joined")

	// the accident: the home notices it by the address, and asks
	s.refusesUp(joinedClone, migrations.Settings{JoinURL: home}, "was claimed by database \"joined\" at",
		"--copy", "namespace move")
	if a, b := s.worker(joined), s.worker(joinedClone); a != b {
		s.Fatalf("workers %d and %d, so nothing was copied", a, b)
	}
	s.refusesUp(homeClone, migrations.Settings{NewNamespace: true}, "is not a copy", "add --copy")

	s.command(0, "URL", joinedClone, "HOME", home)
	s.draw(joined, joinedClone, joined, joinedClone)
	s.command(0, "URL", homeClone, "HOME", home)
	s.draw(home, homeClone, joined, joinedClone, home, homeClone)

	third := server.Clone(s, original, "third").URL("postgres")
	s.command(1, "URL", server.In(s, third, "home"))
	s.command(1, "URL", server.In(s, third, "joined"))
	s.drawsAbove(server.In(s, third, "home"))
	s.drawsAbove(server.In(s, third, "joined"))
}

func undeclared(s *story) {
	original := server.Private(s, nil)
	home := s.database(original.URL("postgres"), "home")
	s.up(home, migrations.Settings{})
	s.draw(home)
	first := server.In(s, server.Clone(s, original, "first").URL("postgres"), "home")
	second := server.In(s, server.Clone(s, original, "second").URL("postgres"), "home")
	s.runs(0, status(first), "it may be a copy beside its original")
	s.command(0, "URL", first, "HOME", home)
	s.draw(home, first, home)
	s.command(1, "URL", second)
	s.drawsAbove(second)

	server.Stop(s, original)
	original = server.Again(s, original.Data, server.FreePort(s))
	home = server.In(s, original.URL("postgres"), "home")
	s.runs(0, status(home), "it may be a copy beside its original")
	s.command(2, "URL", home)
	for _, url := range []string{home, first, second} {
		s.runs(0, status(url, "--json"), `"new_server": null`)
	}
	s.drawsAbove(home)
}

func joinedMoved(s *story) {
	home := s.migrated(migrations.Settings{})
	before, after := server.Private(s, nil), server.Private(s, nil)
	joined, moved := s.database(before.URL("postgres"), "billing"), s.database(after.URL("postgres"), "billing")
	s.up(joined, migrations.Settings{JoinURL: home})
	s.draw(home, joined)
	s.restore(moved, s.dump(joined))
	server.Stop(s, before)
	before = server.Again(s, before.Data, 0)
	joined = server.In(s, before.URL("postgres"), "billing")
	s.command(0, "URL", joined, "HOME", home) // at another port
	s.drawsAbove(joined)
	server.Crash(s, before)
	s.refuses(moved, "is a copy")
	s.refusesUp(moved, migrations.Settings{Moved: true}, "Add --home")
	s.command(0, "URL", moved, "HOME", home)
	s.drawsAbove(moved)
	s.up(moved, migrations.Settings{JoinURL: home}) // the home knows the address now
	s.draw(home, moved)
}

func homeForgot(s *story) {
	home := s.migrated(migrations.Settings{})
	file := s.dump(home)
	known, next := server.Database(s), server.Database(s)
	s.up(known, migrations.Settings{JoinURL: home})
	s.draw(home, known)
	s.restore(home, file, "--clean", "--if-exists") // before the join
	s.up(home, migrations.Settings{Moved: true})
	s.refusesUp(next, migrations.Settings{JoinURL: home}, "may have forgotten a database that joined",
		"--joins-complete")
	s.command(0, "URL", known, "HOME", home)
	s.command(1, "HOME", home)
	s.up(next, migrations.Settings{JoinURL: home})
	if a, b := s.worker(known), s.worker(next); a == b {
		s.Errorf("both have worker %d", a)
	}
	s.draw(home, known, next, home, known, next)

	// a reseed says the same, and so does another timeline
	s.shell("pgflurry workers reseed --yes --database " + home)
	s.refusesUp(server.Database(s), migrations.Settings{JoinURL: home}, "may have forgotten a database that joined")
	s.up(home, migrations.Settings{JoinsComplete: true})
	server.Exec(s, home, "UPDATE pgflurry.namespace SET joins_complete_on = '00000007'")
	s.refusesUp(server.Database(s), migrations.Settings{JoinURL: home}, "may have forgotten a database that joined")
}

func homeRestarted(s *story) {
	cluster := server.Private(s, nil)
	home := cluster.URL("postgres")
	s.up(home, migrations.Settings{})
	s.draw(home)
	server.Stop(s, cluster)
	server.Again(s, cluster.Data, cluster.Port)
	next := server.Database(s)
	s.refusesUp(next, migrations.Settings{JoinURL: home}, "may have forgotten a database that joined", "only restarted")
	s.command(0, "HOME", home)
	s.up(next, migrations.Settings{JoinURL: home})
	s.draw(home, next)
}

func upgraded(s *story) {
	upgrade := server.Tool(s, "pg_upgrade")
	before, after := server.Private(s, nil), server.Private(s, nil)
	app := s.database(before.URL("postgres"), "app")
	s.up(app, migrations.Settings{})
	s.draw(app)
	server.Exec(s, after.URL("postgres"), "DROP ROLE IF EXISTS login_scram, login_md5, login_password")
	s.command(0, "OLD", app)
	server.Stop(s, before)
	server.Stop(s, after)
	bin := filepath.Dir(upgrade)
	command := exec.CommandContext(server.Within(s), upgrade, "--old-datadir", before.Data, "--new-datadir", after.Data,
		"--old-bindir", bin, "--new-bindir", bin, "--username", "postgres", "--socketdir", after.Data)
	command.Dir = after.Data
	command.SysProcAttr = server.AsOwner(s, after.Data)
	if out, err := command.CombinedOutput(); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	url := server.In(s, server.Again(s, after.Data, 0).URL("postgres"), "app")
	s.refuses(url, "is server cluster")
	s.command(1, "URL", url)
	s.drawsAbove(url)
	// somebody starts the old server again
	old := server.In(s, server.Again(s, before.Data, 0).URL("postgres"), "app")
	server.Refused(s, server.Connect(s, old), "SNF04", "SELECT next_snowflake()")
}

func blueGreen(s *story) {
	server.Tool(s, "pg_dump") // steps aside where the machine's is older than the server
	blueServer, greenServer := server.Private(s, nil), server.Private(s, nil)
	blue, green := s.database(blueServer.URL("postgres"), "app"), s.database(greenServer.URL("postgres"), "app")
	s.up(blue, migrations.Settings{})
	server.Exec(s, blue, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, n int); "+
		"INSERT INTO item (n) SELECT generate_series(1, 1000); CREATE PUBLICATION items FOR TABLE item")
	// the tables without what makes their defaults: that comes with the switch
	server.Exec(s, green, "CREATE TABLE item (id bigint PRIMARY KEY, n int)")
	at := server.Parse(s, blue)
	server.Exec(s, green,
		fmt.Sprintf("CREATE SUBSCRIPTION items CONNECTION 'host=%s port=%s dbname=app user=postgres' PUBLICATION items",
			at.Hostname(), at.Port()))
	server.Exec(s, blue, "INSERT INTO item (n) SELECT generate_series(1001, 2000)")
	there := server.Connect(s, green)
	server.Eventually(s, there, "(SELECT count(*) FROM item) = 2000")
	proxy := program.Serve(s.T, blue, "blue", "--window", "3s")
	throughBlue := server.Connect(s, server.In(s, proxy.URL, "app"))
	s.draw(server.In(s, proxy.URL, "app"))
	server.Exec(s, green, "DROP SUBSCRIPTION items")
	s.command(0, "BLUE", blue)
	s.command(1, "BLUE", blue, "GREEN", green)
	s.command(2, "GREEN", green)
	server.Exec(s, green, `ALTER TABLE item ALTER COLUMN id SET DEFAULT next_snowflake();
		INSERT INTO item (n) SELECT generate_series(2001, 3000)`)
	if n := server.Value[int](s, there, "SELECT count(DISTINCT id) FROM item"); n != 3000 {
		s.Errorf("%d different IDs, want 3000", n)
	}
	s.draw(green)
	// Clients whose sessions stay on blue get nothing there, neither from the function nor from its proxy.
	server.Refused(s, server.Connect(s, blue), "SNF04", "SELECT next_snowflake()")
	server.Refused(s, throughBlue, "SNF04", "SELECT next_snowflake()")
	s.drawsAbove(green)
}

func schemaOnly(s *story) {
	original := s.migrated(migrations.Settings{Layout: "javascript"})
	for i := range s.commands {
		url := server.Database(s)
		s.restore(url, s.dump(original, "--schema-only"))
		s.refuses(url, "restored without its data", "migrate up")
		s.command(i, "URL", url, "HOME", original)
		s.draw(url, original)
		if i == 1 && s.worker(url) != 1 {
			s.Errorf("the database that joined has worker %d", s.worker(url))
		}
		s.up(url, migrations.Settings{})
	}
}

func testSuite(s *story) {
	template := s.migrated(migrations.Settings{})
	first := server.TemplateCopy(s, template, "copies_test_1")
	second := server.TemplateCopy(s, template, "copies_test_2")
	s.refuses(first, "CALL pgflurry.new_namespace()")
	for _, clone := range []string{first, second} {
		s.command(0, "URL", clone)
		s.drawsAbove(clone) // at once, and none that the template holds
	}

	disposable := server.Database(s)
	s.command(1, "URL", disposable)
	s.draw(disposable)
	for i := range 2 {
		clone := server.TemplateCopy(s, disposable, fmt.Sprintf("copies_test_disposable_%d", i))
		server.Exec(s, clone, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, n int); "+
			"INSERT INTO item (n) SELECT generate_series(1, 9000)")
		if out, errs := s.status(clone); !strings.Contains(out, "for tests only") {
			s.Errorf("migrate status does not say that it is disposable:\n%s%s", out, errs)
		}
		proxy := program.ServeUnleased(s, clone, "one")
		proxy.Line("FOR TESTS ONLY")
		proxy.Signal(syscall.SIGTERM)
		proxy.End()
	}
	comment := server.Value[string](s, server.Connect(s, disposable),
		"SELECT obj_description('public.next_snowflake()'::regprocedure)")
	if !strings.HasPrefix(comment, "FOR TESTS ONLY") {
		s.Errorf("the function's comment is %q", comment)
	}
	s.refusesUp(template, migrations.Settings{Disposable: true}, "is not disposable, and cannot become it")
	server.Refused(s, server.Connect(s, template), "23001", "UPDATE pgflurry.namespace SET disposable = true")
}

func (s *story) status(url string) (out, errs string) {
	command := exec.CommandContext(server.Within(s), program.Path(s), "migrate", "status", "--database", url)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	_ = command.Run() // the caller looks at what it prints
	return stdout.String(), stderr.String()
}

func dataOnly(s *story) {
	url := s.migrated(migrations.Settings{})
	file := s.dump(url, "--data-only")
	// The lane in the dump is a second and a tick ahead of the clock. Draw at full speed until the clock has passed it.
	conn := server.Connect(s, url)
	for server.Value[bool](s, conn, "SELECT pgflurry.ticks(clock_timestamp()) < last_value >> 22 FROM pgflurry.lane") {
		s.draw(url)
	}
	moved := server.Value[int64](s, conn, "SELECT last_value FROM pgflurry.mark")
	for server.Value[int64](s, conn, "SELECT last_value FROM pgflurry.mark") < moved+2048 {
		s.draw(url)
	}
	s.restore(url, file, "--data-only")
	if server.Value[int64](s, conn, "SELECT last_value FROM pgflurry.mark") > moved {
		s.Fatal("the restore has not set the mark back, so this proves nothing")
	}
	s.drawsAbove(url)

	file = s.dump(url, "--data-only")
	s.draw(url)
	s.restore(url, file, "--data-only")
	s.command(0, "URL", url)
	s.drawsAbove(url)
}

func foreignPublic(s *story) {
	home := s.migrated(migrations.Settings{})
	app, billing := server.Database(s), server.Database(s)
	s.up(app, migrations.Settings{JoinURL: home})
	s.up(billing, migrations.Settings{JoinURL: home})
	s.draw(app, billing)
	file := s.dump(app, "--schema=public")
	open := server.Connect(s, billing)
	server.Do(s, open, "SELECT next_snowflake()")
	s.restore(billing, file, "--clean", "--if-exists")
	s.refuses(billing, "the function is that of worker 1", "has worker 2", "migrate up")
	if _, err := open.Exec(server.Within(s), "SELECT next_snowflake()"); sqlstate(err) != "SNF03" {
		s.Errorf("the open session draws on: %v", err)
	}
	s.draw(app)
	s.command(0, "URL", billing)
	s.draw(app, billing, home, app, billing)
}

func clockAhead(s *story) {
	home := s.migrated(migrations.Settings{})
	joined := server.Database(s)
	s.up(joined, migrations.Settings{JoinURL: home})
	for i, url := range []string{home, joined} {
		s.draw(url)
		old := s.worker(url)
		server.FunctionClock(s, url, "'9 years'")
		s.draw(url)
		s.up(url, migrations.Settings{}) // the functions as they are: the clock is right again
		said := server.Refused(s, server.Connect(s, url), "SNF01",
			"SELECT next_snowflake() FROM generate_series(1, 9000)")
		if !strings.Contains(said.Hint, "--fresh-worker") {
			s.Errorf("the hint is %q", said.Hint)
		}
		s.command(i, "URL", url, "HOME", home)
		if s.worker(url) == old {
			s.Errorf("the function still has worker %d", old)
		}
		now := server.Value[int64](s, server.Connect(s, url), "SELECT pgflurry.ticks(clock_timestamp())")
		if first := server.Value[int64](s, server.Connect(s, url), "SELECT next_snowflake()"); first>>22 > now+5000 {
			s.Errorf("the first ID is %d ms ahead of the clock", first>>22-now)
		}
		s.draw(url)
		mark := server.Value[int64](s, server.Connect(s, home), `SELECT reserved_until FROM pgflurry.worker
			WHERE released_at IS NOT NULL AND retired_at IS NOT NULL AND worker = $1`, old)
		if years := (mark - now) / (365 * 86400 * 1000); years < 8 {
			s.Errorf("the old worker's mark is %d years ahead, want nearly 9", years)
		}
	}
	s.draw(home, joined)
}

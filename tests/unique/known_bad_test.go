package unique

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// The worker is a hash of the host's name, modulo 32. Without a name it is random from 0 to 15. Ten pods of one
// deployment share a worker more often than not. Each begins every tick with sequence 0.
func TestAWorkerThatIsAHashOfTheHostNameGivesAnIDTwice(t *testing.T) {
	// the last two cannot read their name
	pods := []string{"x2k9q", "b7d4z", "m5tqw", "9fjh2", "c8vnl", "p4rsd", "zz6kt", "h3gxm", "", ""}
	ids := recorder.New("", 0)
	byWorker := map[int64]string{}
	fallback := rand.New(rand.NewPCG(1, 2))
	var err error
	for i, pod := range pods {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte("api-7d4f9c6b5-" + pod))
		worker := int64(hash.Sum32() % 32)
		if pod == "" {
			worker = fallback.Int64N(16)
		}
		pods[i] = fmt.Sprintf("api-7d4f9c6b5-%s%d", pod, i)
		if other := byWorker[worker]; other != "" {
			t.Logf("%s and %s have worker %d", other, pods[i], worker)
		}
		byWorker[worker] = pods[i]
		err = errors.Join(err, ids.Add(compose(1000, worker, 0)))
	}
	t.Logf("%v", second(t, err))

	h := newHouse(t, "41/0/10/12")
	cores := make([]*instance, len(pods))
	for i, pod := range pods {
		cores[i] = h.start(pod, h.url)
	}
	for _, c := range cores {
		c.granted().draw(1000)
	}
	close(cores[0].asleep)          // no renewal tells it that it has lost the worker
	same := h.start(pods[0], h.url) // another host with the same name
	same.granted()
	// The first holder still draws although another one of its name has come. Their clocks differ by round trips. So
	// both draw until they have had fifty ticks in common.
	h.meet(same, cores[0], 50)
	for _, c := range append(cores, same) {
		c.end()
	}
}

// The worker is the next number of a shared counter, which goes back to 0 after 1023. Six pods take 0 to 5. The sixth
// never restarts, and the others do, again and again. In the 205th round one of them gets 5.
func TestAWorkerFromASharedCounterThatWrapsGivesAnIDTwice(t *testing.T) {
	ids := recorder.New("", 0)
	counter := int64(0)
	next := func() int64 { counter++; return (counter - 1) % 1024 }
	workers := make([]int64, 6)
	for i := range workers {
		workers[i] = next()
	}
	found := 0
	for round := 1; found == 0; round++ {
		for i := range 5 {
			workers[i] = next()
		}
		for _, worker := range workers {
			if err := ids.Add(compose(1000+int64(round), worker, 0)); err != nil {
				found = round
				t.Logf("round %d: %v", round, second(t, err))
			}
		}
	}
	if found != 205 {
		t.Errorf("the duplicate came in round %d, expected 205", found)
	}

	h := newHouse(t, "41/0/10/12")
	steady := h.start("pod-5", h.url).granted()
	rounds := volume.Of(20, 205)
	for range rounds {
		var round sync.WaitGroup
		for i := range 5 {
			round.Go(func() {
				c := h.start(fmt.Sprintf("pod-%d", i), h.url).granted()
				c.draw(10)
				c.end()
			})
		}
		round.Wait()
		steady.draw(10)
	}
	steady.end()
	if n, want := h.ids.Len(), int64(rounds*60); n != want {
		t.Errorf("%d IDs, expected %d", n, want)
	}
}

// The worker is wider than its bits: in 10 bits, worker 1024 runs into the tick.
func TestAWorkerBeyondItsBitsGivesAnIDTwice(t *testing.T) {
	ids := recorder.New("", 0)
	if err := ids.Add(compose(1001, 0, 7)); err != nil {
		t.Fatal(err)
	}
	t.Logf("tick 1000 with worker 1024: %v", second(t, ids.Add(compose(1000, 1024, 7))))

	h := newHouse(t, "41/0/10/12")
	g, err := generator.New(generator.Settings{Layout: h.namespace.Layout, Now: func() int64 { return 1000 }})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Grant(1024, 1000, 2000); err == nil {
		t.Error("worker 1024 was granted")
	}
	if _, err := g.Next(t.Context()); !errors.Is(err, generator.ErrNoGrant) {
		t.Errorf("an ID of worker 1024: %v", err)
	}
	var highest int
	err = server.Connect(t, h.url).QueryRow(t.Context(), "SELECT max(worker) FROM pgflurry.worker").Scan(&highest)
	if err != nil || highest != 1023 {
		t.Errorf("the table has workers up to %d, %v", highest, err)
	}
}

// The sequence is nextval modulo 4096, beside the clock. Nothing stops the clock when the sequence comes round. So a
// burst gives a duplicate, and so does a clock that is set back.
func TestASequenceThatIsNextvalModulo4096BesideTheClockGivesAnIDTwice(t *testing.T) {
	nextval := int64(0)
	id := func(tick int64) int64 { nextval++; return compose(tick, 1, nextval%4096) }
	burst := recorder.New("", 0)
	var err error
	for range 4097 {
		err = errors.Join(err, burst.Add(id(1000)))
	}
	t.Logf("4097 in one tick: %v", second(t, err))
	back := recorder.New("", 0)
	for i := range int64(4096) { // one hour, with a draw now and then
		if err := back.Add(id(2000 + i*900)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("the clock set back by an hour: %v", second(t, back.Add(id(2000))))

	h := newHouse(t, "41/0/10/12")
	clock := int64(1000)
	g, err := generator.New(generator.Settings{
		Layout: h.namespace.Layout, Now: func() int64 { return clock }, Random: func(uint32) uint32 { return 0 },
	})
	if err == nil {
		err = g.Grant(1, 1000, 1<<40)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, clock = range []int64{1000, 1000, 3_600_000, 1000} { // a burst in one tick, an hour later, and an hour back
		for range 5000 {
			if first, count, err := g.TryNextN(1); err != nil {
				t.Fatal(err)
			} else if count > 0 {
				if err := h.ids.Add(first); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if n := h.ids.Len(); n != 2*4096 {
		t.Errorf("%d IDs, expected two full ticks", n)
	}
}

// The worker is cached in a file for times without the registry. The registry has given it to another process
// meanwhile.
func TestACachedWorkerWithoutALookAtTheTimeGivesAnIDTwice(t *testing.T) {
	registry, file := map[string]int64{}, map[string]int64{}
	ids := recorder.New("", 0)
	start := func(node string, reachable bool) int64 {
		if reachable {
			registry[node] = int64(len(registry))
			file[node] = registry[node]
		}
		return file[node]
	}
	first := start("a", true)
	if err := ids.Add(compose(1000, first, 0)); err != nil {
		t.Fatal(err)
	}
	delete(registry, "a") // the registry has ended its session
	b := start("b", true)
	err := ids.Add(compose(2000, b, 0))
	again := start("a", false) // the registry is away
	t.Logf("%v", second(t, errors.Join(err, ids.Add(compose(2000, again, 0)))))

	h := newHouse(t, "41/0/1/12") // one worker for all proxies
	a := h.start("a", h.url).granted()
	a.draw(1000)
	a.end()
	other := h.start("b", h.url)
	other.granted().draw(1000) // after a's mark has passed
	away := h.start("a", "postgres://postgres@127.0.0.1:1/none?sslmode=disable&connect_timeout=1")
	if first, count, err := away.ids.TryNextN(1); count != 0 || !errors.Is(err, generator.ErrNoGrant) {
		t.Errorf("without a look at the table a drew %d IDs from %d, %v", count, first, err)
	}
	other.draw(1000)
	other.end()
	away.end()
}

// The worker is leased for a time. The holder checks its lease, pauses for longer, and then draws.
func TestAProcessThatPausesPastItsLeaseGivesAnIDTwice(t *testing.T) {
	clock, ttl := int64(1000), int64(10_000)
	holder, expires := "", int64(0)
	acquire := func(who string) bool {
		if holder == "" || clock >= expires {
			holder, expires = who, clock+ttl
		}
		return holder == who
	}
	ids := recorder.New("", 0)
	mayA := acquire("a")
	clock += 30_000 // a pauses here, between the check and the draw
	mayB := acquire("b")
	var err error
	if mayB {
		err = ids.Add(compose(clock, 3, 0))
	}
	if mayA {
		err = errors.Join(err, ids.Add(compose(clock, 3, 0)))
	}
	t.Logf("%v", second(t, err))

	h := newHouse(t, "41/0/1/12") // one worker for all proxies
	a := h.start("a", h.url).granted()
	workerOfA := h.worker(a.draw(1000)[0])
	close(a.asleep)
	const pause = 10 * time.Minute
	server.Exec(t, h.url, fmt.Sprintf(`ALTER TABLE pgflurry.namespace DISABLE TRIGGER guard_namespace;
		UPDATE pgflurry.namespace SET epoch = epoch - interval '%d seconds'`, int(pause.Seconds())))
	b := h.start("b", h.url).granted() // the quarantine of a's worker is over
	if w := h.worker(b.draw(1000)[0]); w != workerOfA {
		t.Fatalf("b has worker %d, a had %d: the story needs the same", w, workerOfA)
	}
	a.slept.Store(int64(pause)) // a wakes up and draws first of all
	for range 3 {
		if first, count, err := a.ids.TryNextN(100); count != 0 || !errors.Is(err, generator.ErrGrantEnded) {
			t.Errorf("after its pause a drew %d IDs from %d, %v", count, first, err)
		}
		b.draw(1000)
	}
	b.end()
}

//go:build full

package wire

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgflurry/tests/support/volume"
)

var (
	longest = flag.Int("letters", 3, "try all words of up to this many letters; 4 takes some minutes")
	sampled = flag.Int("letters.sample", volume.Of(200, 800), "how many words of one letter more to draw")
)

// commands is the alphabet of the words that are all tried. Its Executes ask for all rows, for one or for two, of
// results with one row or two.
var commands = map[byte]func(format int16) step{
	'q': func(int16) step { return say(Query(ours)) },
	'(': func(int16) step { return say(Query("BEGIN")) },
	'u': func(f int16) step { return together(request(ours, f)) },
	'U': func(f int16) step {
		return say(Parse("", "SELECT generate_series(1, 2)"), Bind("", "", f), DescribePortal(""), ExecuteMax("", 1))
	},
	'X': func(f int16) step { return together(request(divide, f)) },
	'b': func(f int16) step { return say(Bind("", "", f), ExecuteMax("", 1)) },
	'e': func(int16) step { return say(DescribePortal(""), Execute("")) },
	'D': func(int16) step { return say(DescribeStatement("")) },
	'z': func(int16) step { return say(CloseStatement("")) },
	'n': func(int16) step { return say(Parse("s", ours), DescribeStatement("s")) },
	'r': func(f int16) step { return say(Bind("", "s", f), DescribePortal(""), ExecuteMax("", 2)) },
	'c': func(int16) step { return say(ClosePortal(""), CloseStatement("s")) },
	's': func(int16) step { return say(Sync) },
	'h': func(int16) step { return say(Flush) },
}

const letters = "q(uUXbeDznrcsh"

// mood is the way to say a word: in a transaction block or not, with results in text or in binary.
type mood struct {
	block  bool
	format int16
}

var moods = []mood{{false, 0}, {false, 1}, {true, 0}, {true, 1}}

func (m mood) String() string {
	return map[bool]string{false: "outside a block", true: "in a block"}[m.block] + ", " +
		[]string{"text", "binary"}[m.format]
}

// steps returns the steps of a word, and a Sync at the end.
func (m mood) steps(word string) (steps []step) {
	if m.block {
		steps = append(steps, say(Query("BEGIN")))
	}
	for i := range len(word) {
		steps = append(steps, commands[word[i]](m.format))
	}
	return append(steps, say(Sync))
}

// messages returns the messages of a word, and the clearing after it.
func (m mood) messages(word string) []message {
	return append(slices.Concat(m.steps(word)...), clearing...)
}

// clearing removes everything that a word leaves for the next one in its session, and marks its end.
var clearing = say(Query("ROLLBACK"), Query("DEALLOCATE ALL"), Query("SELECT 'end of word'"))

const marker = `DataRow "end of word"`

// beginning returns the number of lines that PostgreSQL sends for a word before its Sync and the clearing.
func beginning(lines []string) int {
	// CommandComplete and ReadyForQuery of each, RowDescription, and the marker
	n := len(lines) - 2*len(clearing) - 2
	if strings.HasPrefix(lines[n-1], "NoticeResponse") {
		n-- // the warning for a ROLLBACK outside a transaction
	}
	return n - 1
}

// An errand is some words in one mood. It has sessions of its own, which say word after word. Each word goes to
// PostgreSQL, to the answering proxy by a client that waits, and one other way at random. A word after which the proxy
// would only relay goes one of the two ways.
type errand struct {
	mood  mood
	words []string
	seed  uint64
}

// run returns the number of words, and the number of IDs from memory.
func (e errand) run(t *testing.T, st *stand) (tried, local int) {
	t.Helper()
	r := rand.New(rand.NewPCG(e.seed, 0))
	theirs := &speaker{dial: st.dialDirect, database: st.twin, name: "PostgreSQL"}
	known := map[string][]string{} // PostgreSQL's lines, by what it got
	ask := func(word string, answered []int) ([]string, error) {
		said := forgetting(e.mood.messages(word), answered)
		if lines := known[string(said.bytes)]; lines != nil {
			return lines, nil
		}
		lines, err := theirs.sayThrough(said)
		if err != nil {
			return nil, fmt.Errorf("word %q, %s: %w", word, e.mood, err)
		}
		known[string(said.bytes)] = lines
		return lines, nil
	}
	patient := &speaker{dial: st.answering.dial, database: st.database, name: "answering proxy, patient client"}
	others := []*speaker{
		{dial: st.moody.dial, database: st.database, name: "moody proxy, patient client"},
		{dial: st.answering.pipe, database: st.database, name: "answering proxy, cut", cut: r},
		{dial: st.moody.pipe, database: st.database, name: "moody proxy, cut", cut: r},
	}
	for _, word := range e.words {
		messages := slices.Concat(e.mood.steps(word)...)
		if st.confuses(messages) {
			continue
		}
		tried++
		speakers, last := []*speaker{patient, others[r.IntN(len(others))]}, endsAnswers(messages)
		if last { // it costs a session
			speakers = speakers[r.IntN(2):][:1]
		}
		for _, s := range speakers {
			if d := s.differs(e.mood, word, ask); d != "" {
				t.Errorf("word %q, %s\n%s%s", word, e.mood, conversation{steps: e.mood.steps(word)}, d)
			}
			if last {
				s.goodbye()
			}
		}
	}
	theirs.goodbye()
	for _, s := range append(others, patient) {
		s.goodbye()
		st.checkDistinct(t, s.ids)
		local += transcript{ids: s.ids}.localIDs()
	}
	return tried, local
}

// endsAnswers says whether the proxy may never answer again in a session after these messages, because a Query stands
// within a batch.
func endsAnswers(messages []message) bool {
	open := false
	for _, m := range messages {
		switch m.bytes[0] {
		case 'Q':
			if open {
				return true
			}
		case 'S':
			open = false
		case 'P', 'B', 'D', 'E', 'C':
			open = true
		}
	}
	return false
}

// runAll runs several errands at a time.
func runAll(t *testing.T, seed uint64, errands []errand) {
	t.Helper()
	st := newStand(t, seed)
	var words, tried, local atomic.Int64
	var running sync.WaitGroup
	next := make(chan errand)
	for range 4 {
		running.Go(func() {
			for e := range next {
				n, ids := e.run(t, st)
				tried.Add(int64(n))
				local.Add(int64(ids))
				words.Add(int64(len(e.words)))
			}
		})
	}
	for _, e := range errands {
		next <- e
	}
	close(next)
	running.Wait()
	t.Logf("seed %d: %d words, %d of which PostgreSQL itself gets wrong, %d IDs from memory",
		seed, words.Load(), words.Load()-tried.Load(), local.Load())
	if local.Load() < tried.Load()/16 {
		t.Errorf("%d words got %d IDs from memory; expected at least one in sixteen", tried.Load(), local.Load())
	}
	if tried.Load() < words.Load() && st.version < 180000 {
		t.Errorf("%d of %d words were left out; expected none on this version", words.Load()-tried.Load(), words.Load())
	}
}

// wordsUpTo returns all words of 1 to n letters that begin with prefix.
func wordsUpTo(n int, prefix string) (words []string) {
	if prefix != "" {
		words = append(words, prefix)
	}
	if len(prefix) == n {
		return words
	}
	for i := range len(letters) {
		words = append(words, wordsUpTo(n, prefix+letters[i:i+1])...)
	}
	return words
}

func TestEveryWordOfThreeLettersIsAnsweredAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	seed := seedOfWords()
	var errands []errand
	r := rand.New(rand.NewPCG(seed, 0))
	for _, m := range moods {
		for i := range len(letters) {
			words := wordsUpTo(*longest, letters[i:i+1])
			if !volume.Full() { // each word in about one mood
				words = slices.DeleteFunc(words, func(string) bool { return r.IntN(len(moods)) > 0 })
			}
			if m.format > 0 { // a word that costs a session is only tried in text
				words = slices.DeleteFunc(words, func(word string) bool { return endsAnswers(m.messages(word)) })
			}
			errands = append(errands, errand{m, words, seed + uint64(len(errands))})
		}
	}
	runAll(t, seed, errands)
}

func TestDrawnWordsOfFourLettersAreAnsweredAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	seed := seedOfWords()
	r := rand.New(rand.NewPCG(seed, 0))
	var errands []errand
	for left := *sampled; left > 0; left -= 50 {
		e := errand{mood: moods[r.IntN(len(moods))], seed: r.Uint64()}
		for range min(left, 50) {
			word := make([]byte, *longest+1)
			for i := range word {
				word[i] = letters[r.IntN(len(letters))]
			}
			e.words = append(e.words, string(word))
		}
		errands = append(errands, e)
	}
	runAll(t, seed, errands)
}

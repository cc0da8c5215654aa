package wire

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgflurry/tests/support/volume"
)

var wordsSeed = flag.Uint64("words.seed", 0, "repeat the random words of this seed; 0 draws one")

// seedOfWords returns the given seed, or a new one.
func seedOfWords() uint64 {
	if *wordsSeed != 0 {
		return *wordsSeed
	}
	return rand.Uint64()
}

// alphabet has the letters of words: commands as drivers send them, and as none does.
var alphabet = map[byte]step{
	'q': say(Query(ours)),
	'Q': say(Query("SELECT 1")),
	'x': say(Query(divide)),
	'(': say(Query("BEGIN")),
	')': say(Query("COMMIT")),
	'u': together(request(ours)),
	'U': together(request("SELECT 1")),
	'X': together(request(divide)),
	'b': say(Bind("", ""), DescribePortal(""), Execute("")),
	'n': say(Parse("s", ours), DescribeStatement("s")),
	'r': say(Bind("", "s"), Execute("")),
	'd': say(DescribeStatement("")),
	's': say(Sync),
	'h': say(Flush),
	// letters from here on are only in random words
	'p': say(Parse("", ours)),
	'P': say(Parse("", "SELECT 2")),
	'N': say(Parse("", "nonsense")),
	'm': say(Parse("", ours), Bind("", ""), ExecuteMax("", 1)),
	'M': together(request(ours), Execute(""), DescribePortal("")),
	'e': say(Execute("")),
	'E': say(DescribePortal(""), ExecuteMax("", 1)),
	'w': say(Bind("p", ""), Execute("p"), ClosePortal("p")),
	'c': say(CloseStatement("s")),
	'z': say(CloseStatement("")),
	'Z': say(ClosePortal("")),
	'D': say(Query("DEALLOCATE ALL")),
	'K': together(request("DISCARD ALL"), Sync),
	'C': together(request("COMMIT")),
	'R': say(Query("ROLLBACK")),
	'B': together(request("BEGIN")),
	'f': say(FunctionCall(int4um, "5")),
	'o': say(Query("COPY (SELECT 1) TO STDOUT")),
	'i': say(Query("COPY t FROM STDIN"), copyLine("1"), CopyDone),
	'I': say(Parse("", "COPY t FROM STDIN"), Bind("", ""), Execute(""), Sync, copyLine("1"), CopyDone),
	'3': say(Query("SELECT * FROM next_snowflakes(3)")),
	't': say(Parse("s", idsOf), DescribeStatement("s")),
	'T': say(BindValues("", "s", nil, values{[]byte("2")}, 1), DescribePortal(""), Execute("")),
	// transactions that fail, savepoints, cursors and portals
	'[': say(Sync, Query("BEGIN; SELECT 1/0")),
	'v': say(Sync, Query("SAVEPOINT a")),
	'V': say(Sync, Query("ROLLBACK TO a")),
	'a': together(request("SAVEPOINT a")),
	'A': together(request("ROLLBACK TO a")),
	'j': say(Sync, Query("DECLARE c CURSOR FOR SELECT generate_series(1, 3)")),
	'J': say(Sync, Query("FETCH 1 FROM c")),
	'k': say(DescribePortal("c"), ExecuteMax("c", 1)),
	'g': say(Parse("", "SELECT generate_series(1, 3)"), Bind("p", ""), ExecuteMax("p", 1)),
	'G': say(ExecuteMax("p", 1)),
	'F': say(Sync, Query("FETCH 1 FROM p")),
	'W': say(Parse("", "SELECT generate_series(1, 3)"), Bind("", ""), ExecuteMax("", 1)),
	// kinds of COPY
	'O': together(request("COPY (SELECT 1) TO STDOUT")),
	']': say(Query("COPY t FROM STDIN"), copyLine("1"), CopyFail("enough")),
	'}': say(Query("COPY t FROM STDIN"), copyLine("x"), CopyDone),
	// kinds of DEALLOCATE
	'1': say(Parse("d", "DEALLOCATE ALL")),
	'2': say(Bind("", "d"), Execute("")),
	'4': say(Query("DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; END$$")),
	'$': say(Query("DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; RAISE 'no'; END$$")),
	'%': together(request("DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; RAISE 'no'; END$$")),
	'&': say(Parse("d", "DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; RAISE 'no'; END$$")),
	'@': say(Query("DEALLOCATE s; SELECT 1/0")),
	// messages that cannot be parsed
	'H': say(Raw('H', "x")),
	'S': say(Raw('S', "x")),
	'!': say(Query(undecodable)),
	'?': say(Parse("", undecodable)),
	'~': say(Raw('P', "\x00SELECT 1\x00")),
	'|': say(Raw('Q', "SELECT 1\x00\x00")),
	// names of PostgreSQL's full length, longer names that PostgreSQL takes for the same, and one that is longer than
	// the proxy's buffer
	'6': say(Parse(name63, ours)),
	'7': say(Bind("", name63+"xyz"), Execute("")),
	'8': say(CloseStatement(name63+"x"), Parse(name63+"y", "SELECT 6")),
	'9': say(CloseStatement(name63 + "x")),
	'0': say(Bind("", name63), Execute("")),
	'5': say(Parse(name63[1:], ours), Bind("", name63[1:]), Execute("")),
	'y': say(Bind(name63+longName, ""), Execute(name63)),
	'Y': say(Parse(name63+longName, ours)),
}

var (
	name63   = strings.Repeat("n", 62) + "a"
	longName = strings.Repeat("x", 8300)
)

const (
	shortLetters = "qQx()uUXbnrdsh"
	longLetters  = shortLetters +
		"qqqqssuuuuuuuuuuubbbbbbrrrrrrrRRnnnnpPNmMeEwczZDKCRBfoiI3tTvV[aAjJkgGFWO]}124$%&@HS!?~|6678900005yY"
	halfClose = '.' // at the end of a word: the client sends no Terminate
)

// spell turns a word into a conversation: a step for each letter, and a Sync at the end.
func spell(word string) conversation {
	c := conversation{name: word, hasty: true}
	copies := strings.ContainsAny(word, "iI]}")
	if copies {
		c.steps = append(c.steps, say(Query("CREATE TEMP TABLE t (a int)")))
	}
	for i := range len(word) {
		if word[i] == halfClose {
			c.halfCloses = true
			continue
		}
		c.steps = append(c.steps, alphabet[word[i]])
	}
	c.steps = append(c.steps, say(Sync))
	if copies { // the word may end within a COPY, which ignores Sync
		c.steps = append(c.steps, say(CopyFail("the word ends"), Sync))
	}
	return c
}

// tryWord has a word's conversation in one of several ways, and returns the difference.
func (st *stand) tryWord(word string, r *rand.Rand, way int) (string, error) {
	c := spell(word)
	if st.confuses(c.all()) || crashes(c.all()) {
		return "", nil
	}
	var got transcript
	var err error
	name := ""
	switch way {
	case 0:
		name = "answering proxy, patient client"
		got, err = st.patientlyThrough(c, st.answering)
	case 1:
		name = "moody proxy, patient client"
		got, err = st.patientlyThrough(c, st.moody)
	default:
		h, cuts := st.answering, randomCuts(r, c)
		if way == 3 {
			h = st.moody
		}
		name = fmt.Sprintf("%s proxy, cut at %v", h.name, cuts)
		dial := h.pipe
		if c.halfCloses { // a pipe cannot do that
			dial = h.dial
		}
		got, err = st.cutThrough(c, dial, h.name, cuts...)
	}
	if err != nil {
		return "", err
	}
	return st.differs(c, got, name)
}

const ways = 4

// shrink removes letters from a word while it still differs.
func (st *stand) shrink(word string, r *rand.Rand, way int) (string, string) {
	last := ""
	for i := 0; i < len(word); {
		shorter := word[:i] + word[i+1:]
		differs := ""
		for range 4 { // each try has other cuts and moods
			if d, err := st.tryWord(shorter, r, way); d != "" && err == nil {
				differs = d
				break
			}
		}
		if differs == "" {
			i++
			continue
		}
		word, last, i = shorter, differs, 0
	}
	return word, last
}

// checkWord returns false if it found and reported a difference.
func (st *stand) checkWord(t *testing.T, word string, r *rand.Rand, way int) bool {
	d, err := st.tryWord(word, r, way)
	if err != nil {
		t.Errorf("word %q: %v", word, err)
		return false
	}
	if d == "" {
		return true
	}
	if shorter, shorterDiffers := st.shrink(word, r, way); shorterDiffers != "" {
		word, d = shorter, shorterDiffers
	}
	t.Errorf("word %q\n%s%s", word, spell(word), d)
	return false
}

func TestAllShortWordsAreAnsweredAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	st := newStand(t, seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range len(shortLetters) {
		st.checkWord(t, shortLetters[i:i+1], r, 0)
		for j := range len(shortLetters) {
			word := string([]byte{shortLetters[i], shortLetters[j]})
			for _, way := range r.Perm(ways)[:volume.Of(1, ways)] {
				if !st.checkWord(t, word, r, way) {
					return
				}
			}
		}
	}
}

//go:build full

package wire

import (
	"flag"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/tests/support/volume"
)

var wordsFor = flag.Duration("words", volume.Of(2*time.Second, 5*time.Second), "how long to draw random words")

// drawWord returns 4 to 24 random letters that PostgreSQL gets right. A Sync often follows a letter, as with drivers.
// Without that the proxy would answer nothing.
func (st *stand) drawWord(r *rand.Rand) string {
	for {
		var b strings.Builder
		for range 4 + r.IntN(21) {
			b.WriteByte(longLetters[r.IntN(len(longLetters))])
			if st.version >= 180000 || r.IntN(5) < 3 {
				b.WriteByte('s')
			}
		}
		if r.IntN(6) == 0 {
			b.WriteByte(halfClose)
		}
		word := b.String()
		if said := spell(word).all(); !st.confuses(said) && !crashes(said) {
			return word
		}
	}
}

func TestRandomWordsAreAnsweredAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	seed := seedOfWords()
	st := newStand(t, seed)
	var words, failed atomic.Int64
	var running sync.WaitGroup
	const least = 50 // however busy the machine is
	end := time.Now().Add(*wordsFor)
	for i := range uint64(6) {
		running.Go(func() {
			r := rand.New(rand.NewPCG(seed, i))
			for n := 0; (time.Now().Before(end) || words.Load() < least) && failed.Load() < 3; n++ {
				if st := st.apart(); !st.checkWord(t, st.drawWord(r), r, n%ways) {
					failed.Add(1)
				}
				words.Add(1)
			}
		})
	}
	running.Wait()
	if st.answering.proxy.Stats().IDs == 0 {
		t.Error("no ID came from memory in any word")
	}
	t.Logf("%d words, %d IDs from memory", words.Load(), st.answering.proxy.Stats().IDs+st.moody.proxy.Stats().IDs)
}

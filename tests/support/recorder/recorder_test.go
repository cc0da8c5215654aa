package recorder

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"pgregory.net/rapid"
)

func TestAnIDThatComesAgainIsNamed(t *testing.T) {
	r := New("", 0)
	if err := r.Add(5, 6, 7); err != nil {
		t.Fatal(err)
	}
	var twice *Twice
	if err := r.Add(8, 6, 9); !errors.As(err, &twice) || twice.ID != 6 {
		t.Errorf("got %v", err)
	}
	if r.Len() != 4 {
		t.Errorf("%d IDs, expected 5, 6, 7 and 8", r.Len())
	}
}

func TestWhatIsNoIDIsRefused(t *testing.T) {
	for _, id := range []int64{0, -1, -1 << 63} {
		if err := New("", 0).Add(id); err == nil {
			t.Errorf("%d was recorded", id)
		}
	}
}

// There is so little memory that every change of chapter goes through a file.
func TestItAgreesWithAPlainSetWhateverIsWrittenToFiles(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		r := New(dir, rapid.SampledFrom([]int64{0, 2000, 1 << 30}).Draw(t, "memory"))
		plain := map[int64]bool{}
		// few pages and chapters, so that they repeat, and some pages full enough to become bits
		ids := rapid.Custom(func(t *rapid.T) int64 {
			return 1<<62 | rapid.Int64Range(0, 3).Draw(t, "chapter")<<chapterBits |
				rapid.Int64Range(0, 2).Draw(t, "page")<<pageBits | rapid.Int64Range(0, 1<<pageBits-1).Draw(t, "number")
		})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			first := ids.Draw(t, "first")
			for i := range rapid.Int64Range(1, 400).Draw(t, "run") {
				id := first + i
				err := r.Add(id)
				if twice := (*Twice)(nil); plain[id] != errors.As(err, &twice) || err != nil && !plain[id] {
					t.Fatalf("ID %d: was there %t, error %v", id, plain[id], err)
				}
				plain[id] = true
			}
		}
		if r.Len() != int64(len(plain)) {
			t.Fatalf("%d IDs, expected %d", r.Len(), len(plain))
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestALateIDOfAWrittenChapterIsStillFoundTwice(t *testing.T) {
	r := New(t.TempDir(), 1<<20)
	defer r.Close()
	const first = int64(1) << 60
	for i := range int64(3_000_000) { // three thousand pages in all, each time in another chapter
		if err := r.Add(first + i<<20 + i%4096); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.written) < 100 {
		t.Fatalf("only %d chapters were written", len(r.written))
	}
	for _, i := range []int64{0, 1, 1_500_000, 2_999_999} {
		var twice *Twice
		if err := r.Add(first + i<<20 + i%4096); !errors.As(err, &twice) {
			t.Errorf("ID %d was taken twice: %v", i, err)
		}
		if err := r.Add(first + i<<20 + (i+1)%4096); err != nil {
			t.Errorf("its neighbour: %v", err)
		}
	}
}

// The recorder's own count of bytes is a budget, so it must be near the truth: see BenchmarkAdd -benchmem.
func BenchmarkAdd(b *testing.B) {
	for name, perTick := range map[string]int64{"one a tick": 1, "40 a tick": 40, "4096 a tick": 4096} {
		b.Run(name, func(b *testing.B) {
			r := New("", 0)
			worker := rand.Int64N(1024)
			b.ReportAllocs()
			i := int64(0)
			for b.Loop() {
				tick := 90_000_000_000 + i/perTick
				if err := r.Add(tick<<22 | worker<<12 | i%perTick); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(r.used)/float64(i), "counted-B/ID")
		})
	}
}

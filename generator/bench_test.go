package generator

import (
	"testing"
	"time"
)

// wide has so many sequence bits that no tick is ever full, so the benchmarks measure the draw and not the wait.
func wide(b *testing.B, layout Layout) *Generator {
	b.Helper()
	start := time.Now()
	g, err := New(Settings{Layout: layout, Now: func() int64 { return 1 + int64(time.Since(start)/time.Millisecond) }})
	if err != nil {
		b.Fatal(err)
	}
	if err := g.Grant(1, 0, layout.MaxTick()); err != nil {
		b.Fatal(err)
	}
	return g
}

func neverFull() Layout {
	l := DefaultLayout()
	l.TimestampBits, l.WorkerBits, l.SequenceBits = 40, 1, 22
	return l
}

// BenchmarkReading measures one reading of the monotonic clock, the lower limit of each draw.
func BenchmarkReading(b *testing.B) {
	start := time.Now()
	for b.Loop() {
		time.Since(start)
	}
}

func BenchmarkNext(b *testing.B) {
	g := wide(b, neverFull())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Next(background); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNextParallel(b *testing.B) {
	g := wide(b, neverFull())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := g.Next(background); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkNextN counts IDs, a hundred a run.
func BenchmarkNextN(b *testing.B) {
	g := wide(b, neverFull())
	b.ReportAllocs()
	ids := 0
	for b.Loop() {
		_, count, err := g.NextN(background, 100)
		if err != nil {
			b.Fatal(err)
		}
		ids += count
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ids), "ns/id")
}

// BenchmarkNextAtTheLimit measures a draw that the layout limits: 4096 IDs a millisecond are 244 ns an ID.
func BenchmarkNextAtTheLimit(b *testing.B) {
	g := wide(b, DefaultLayout())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Next(background); err != nil {
			b.Fatal(err)
		}
	}
}

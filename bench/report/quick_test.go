package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgflurry/bench/statistics"
)

// quickFigure is a figure of a quick look in which everything has this size.
func quickFigure(workload, contender string, size float64) Figure {
	s := statistics.SpreadOf([]float64{size, size})
	return Figure{
		Workload: workload, Contender: contender, PerSecond: s, ServerCPU: &s,
		Latency: map[string]statistics.Spread{"p50": s, "p99": s}, Ratios: map[string]statistics.Spread{Nextval: s},
	}
}

func lookedAt(t *testing.T, r *Report, on Screen) (text string, widest int) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteQuick(&b, on); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
	}
	return b.String(), widest
}

func TestAQuickLookFitsTheScreenWhateverItsNamesAndNumbers(t *testing.T) {
	long := strings.Repeat("a name that does not end, ", 20)
	for width := 66; width <= 100; width += 17 {
		for _, size := range []float64{0, 0.004, 1, 999.996, 9_999_999.4, 9_999_999.6, 4.2e12, math.MaxFloat32} {
			r := &Report{
				Quick: true, Summary: long, Incomplete: long,
				Figures: []Figure{
					quickFigure(long, long, size), quickFigure(long, Nextval, size), quickFigure("b", "`c`", size/2),
				},
			}
			r.Figures[0].ServerCPU, r.Figures[2].Ratios = nil, nil
			for _, ascii := range []bool{false, true} {
				text, widest := lookedAt(t, r, Screen{Width: width, ASCII: ascii})
				if widest > width {
					t.Errorf("%d columns, size %v: a line has %d:\n%s", width, size, widest, text)
				}
			}
		}
	}
}

func TestAQuickLookHasAbsoluteFiguresThenTheRatioThenASentenceThenBars(t *testing.T) {
	slow, fast := quickFigure("one at a time", Nextval, 10_000), quickFigure("one at a time", "proxy", 40_000)
	fast.Ratios[Nextval] = statistics.Spread{Low: 3, Median: 4, High: 5, N: 5}
	fast.ServerCPU.Median = 6.25
	slow.ServerCPU = nil
	r := &Report{Quick: true, Summary: "It is fast.", Figures: []Figure{slow, fast}}
	want := `one at a time:
          IDs a     p50     p99   CPU       to
         second      µs      µs    µs  nextval
proxy    40,000  40,000  40,000  6.25     4.00
nextval  10,000  10,000  10,000     –        1

p50 and p99 are of the time of a round trip. CPU is the
processor time of all servers for one ID.
–: not measured, because the server may be on another
machine.

It is fast.

IDs a second:
proxy    ███████████████████████████████████████ 40,000
nextval  █████████▊ 10,000
`
	if text, _ := lookedAt(t, r, Screen{Width: 55}); text != want {
		t.Errorf("it says\n%s\ninstead of\n%s", text, want)
	}
}

func TestWhereThereIsOnlyASCIIAQuickLookHasNothingElse(t *testing.T) {
	long := strings.Repeat("x", 200)
	r := &Report{Summary: "1.00 – 2.00.", Figures: []Figure{quickFigure(long, long, 3), quickFigure(long, "b", 1)}}
	r.Figures[0].ServerCPU = nil
	text, _ := lookedAt(t, r, Screen{Width: 80, ASCII: true})
	for _, c := range text {
		if c > 0x7e || c < ' ' && c != '\n' {
			t.Fatalf("it has %q:\n%s", c, text)
		}
	}
	if !strings.Contains(text, "###") || !strings.Contains(text, "1.00 - 2.00.") || !strings.Contains(text, "us") {
		t.Errorf("bars, a dash or the unit is gone:\n%s", text)
	}
}

func TestAQuickLookSaysThatTheMachineWasBusyBefore(t *testing.T) {
	for load, want := range map[float64]bool{0: false, 0.9: false, 1.1: true, 11.56: true} {
		r := &Report{Machine: Machine{CPUs: 2, Load: load}, Figures: []Figure{quickFigure("w", "a", 1)}}
		text, _ := lookedAt(t, r, Screen{Width: 100})
		if got := strings.Contains(text, "machine busy"); got != want {
			t.Errorf("load %v on 2 CPUs: %v; expected %v:\n%s", load, got, want, text)
		}
	}
}

func TestABarIsAsLongAsItsShareAndNothingButZeroIsInvisible(t *testing.T) {
	for _, c := range []struct {
		share float64
		ascii bool
		want  string
	}{
		{0, false, ""},
		{1e-9, false, "▏"},
		{0.5, false, "█████"},
		{0.55, false, "█████▌"},
		{1, false, "██████████"},
		{0, true, ""},
		{1e-9, true, "#"},
		{0.55, true, "######"},
		{1, true, "##########"},
	} {
		if got := bar(c.share, 10, c.ascii); got != c.want {
			t.Errorf("%v of ten columns is %q; expected %q", c.share, got, c.want)
		}
	}
}

func TestAQuickLookOfSeveralNumbersOfClientsHasATableOfEach(t *testing.T) {
	r := &Report{Figures: []Figure{
		quickFigure("1 client", "a", 1), quickFigure("1 client", "b", 2), quickFigure("8 clients", "a", 3),
	}}
	text, _ := lookedAt(t, r, Screen{Width: 80})
	if strings.Count(text, "IDs a\n")+strings.Count(text, "IDs a ") != 2+1 || !strings.Contains(text, "8 clients:\n") {
		t.Errorf("expected two tables, and one chart:\n%s", text)
	}
	if bars := text[strings.LastIndex(text, "IDs a second:"):]; strings.Contains(bars, "b  ") {
		t.Errorf("the chart has more than the last table:\n%s", bars)
	}
}

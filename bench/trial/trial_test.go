package trial

import (
	"testing"
	"time"
)

func TestWhatADriverSpendsOnConnectingIsInNoFigureOfProcessorTime(t *testing.T) {
	s := Sample{
		Count: Count{Operations: 1010, Elapsed: time.Second, Opening: &Opening{
			Operations: 10, CPU: map[string]time.Duration{Database: 20 * time.Millisecond},
		}, Spent: map[string]time.Duration{Middle: time.Millisecond, Database: 30 * time.Millisecond, Self: time.Hour}},
	}
	if each, measured := s.CPUEach(Database); !measured || each != 10 {
		t.Errorf("%v µs, measured: %v; expected 10: 10 ms for the 1,000 that are not of the opening", each, measured)
	}
	if each, measured := s.ServerCPUEach(); !measured || each != 11 {
		t.Errorf("%v µs of all servers, measured: %v; expected 11", each, measured)
	}
	s.Operations = 10
	if _, measured := s.CPUEach(Database); measured {
		t.Error("a run that did no more than its opening has a figure")
	}
	if _, measured := s.ServerCPUEach(); measured {
		t.Error("a run that did no more than its opening has a figure of all servers")
	}
}

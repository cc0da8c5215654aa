package node

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/internal/config"
	"pgflurry/internal/report"
)

func TestASurveyRestsLongerWhereReadingsAreSlowOrNodesAreMany(t *testing.T) {
	for held, cases := range map[int]map[time.Duration]time.Duration{
		0:     {0: usualSurvey, 50 * time.Millisecond: usualSurvey, time.Minute: mostSurvey},
		200:   {0: usualSurvey, time.Second: 100 * time.Second},
		1000:  {0: 50 * time.Second, time.Second: 100 * time.Second},
		65000: {0: mostSurvey},
	} {
		s := &survey{pause: usualSurvey, workers: &atomic.Pointer[report.Workers]{}}
		s.workers.Store(&report.Workers{Counts: map[string]int{workerHeld: held}})
		for took, rest := range cases {
			if got := s.rest(took); got != rest {
				t.Errorf("after %v with %d nodes it rests %v; expected %v", took, held, got, rest)
			}
		}
	}
	if got := (&survey{pause: usualSurvey, workers: &atomic.Pointer[report.Workers]{}}).rest(0); got != usualSurvey {
		t.Errorf("before it has read anything it rests %v", got)
	}
}

func TestTheTableIsReadForOperatorsAlsoBehindASocketThatWasHandedOver(t *testing.T) {
	opened, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for pause, a := range map[time.Duration][]config.Admin{
		0:           {{}},
		usualSurvey: {{At: config.Address{Network: "tcp", Address: "127.0.0.1:0"}}, {Listener: opened}},
	} {
		for _, admin := range a {
			if got := surveyPause(config.Settings{Admin: admin}); got != pause {
				t.Errorf("with %+v it is read every %v; expected %v", admin, got, pause)
			}
		}
	}
}

func TestASurveyAfterAFailureReadsAgainSoon(t *testing.T) {
	for held, cases := range map[int]map[time.Duration]time.Duration{
		0:    {time.Millisecond: usualSurvey, 5 * time.Second: mostAfterFailure},
		1000: {5 * time.Second: 50 * time.Second},
	} {
		s := &survey{pause: usualSurvey, workers: &atomic.Pointer[report.Workers]{}}
		s.workers.Store(&report.Workers{Counts: map[string]int{workerHeld: held}, Problem: "no answer in time"})
		for took, rest := range cases {
			if got := s.rest(took); got != rest {
				t.Errorf("after a failure that took %v, with %d nodes, it rests %v; expected %v", took, held, got, rest)
			}
		}
	}
}

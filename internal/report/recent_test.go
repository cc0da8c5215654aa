package report

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestAValueIsMadeOnceInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		v := NewRecent(time.Second, func() int { made++; return made })
		for second := 1; second <= 3; second++ {
			for range 10 {
				if got := v.Get(); got != second {
					t.Errorf("in second %d somebody gets number %d", second, got)
				}
			}
			time.Sleep(time.Second)
		}
	})
}

func TestAFreshValueWasMadeAfterTheCallAndIsSharedByAllWhoWait(t *testing.T) {
	begun, end := make(chan struct{}, 100), make(chan struct{})
	v := NewRecent(0, func() int {
		begun <- struct{}{}
		<-end
		return len(begun)
	})
	var all sync.WaitGroup
	all.Go(func() { v.Anew() })
	<-begun
	const others = 50
	for range others { // the first value is too old for them
		all.Go(func() { v.Anew() })
	}
	close(end)
	all.Wait()
	if n := len(begun); n < 1 || n > others {
		t.Errorf("after the first, the value was made %d times for %d who waited", n, others)
	}
}

func TestAFreshValueWaitsForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		v := NewRecent(time.Second, time.Now)
		for i := range 3 {
			if at := v.Anew(); at.Sub(start) != time.Duration(i)*time.Second {
				t.Errorf("value %d was made after %v", i, at.Sub(start))
			}
		}
	})
}

package trial

import (
	"os"
	"testing"
)

func TestMemoryIsThatOfTheProcessesWithoutWhatTheyShareOnPurpose(t *testing.T) {
	const rollup = "55d0-7ffe ---p 00000000 00:00 0    [rollup]\nRss:        9000 kB\nPss:        3000 kB\n" +
		"Pss_Anon:   1200 kB\nPss_File:    800 kB\nPss_Shmem:  1000 kB\nTHPeligible: 0\n"
	if got, err := parseMemory([]byte(rollup)); err != nil || got != 2000<<10 {
		t.Errorf("%d bytes, error %v; expected 2,000 KiB", got, err)
	}
	if _, err := parseMemory([]byte("Rss: 9000 kB\nPss: 3000 kB\n")); err == nil {
		t.Error("memory without its shared part was read")
	}
}

func TestMemoryGrowsByWhatAProcessTakes(t *testing.T) {
	before, err := Memory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	taken := make([]byte, 32<<20)
	for i := range taken {
		taken[i] = 1
	}
	after, err := Memory(os.Getpid())
	if err != nil || after-before < 16<<20 || taken[len(taken)-1] != 1 {
		t.Errorf("%d bytes before, %d after 32 MiB were taken (error %v)", before, after, err)
	}
	if _, err := Memory(1 << 30); err == nil {
		t.Error("a process that is not there has memory")
	}
}

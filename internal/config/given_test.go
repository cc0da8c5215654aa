package config

import "testing"

func TestADatacenterIsANumberOrNothing(t *testing.T) {
	if none, err := Number("datacenter", "", "any"); none != nil || err != nil {
		t.Errorf("nothing is datacenter %v, error %v; expected none", none, err)
	}
	if three, err := Number("datacenter", "3", "any"); three == nil || *three != 3 || err != nil {
		t.Errorf("3 is datacenter %v, error %v", three, err)
	}
	for _, text := range []string{"x", "-1", "3.5", " 3", "2147483648"} {
		number, err := Number("datacenter", text, "any")
		if says := `--datacenter is "` + text + `"; expected a number, such as 3, or nothing for any`; number != nil ||
			err == nil || err.Error() != says {
			t.Errorf("%q: datacenter %v, error %v", text, number, err)
		}
	}
}

package connect_test

import (
	"testing"

	"pgflurry/internal/connect"
)

func TestOnlyAPasswordMayDiffer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"postgres://u:old@h/d", "postgres://u:n%2Fw@h/d", true},
		{"postgres://u@h/d", "postgres://u:new@h/d", true},
		{"postgres://h/d?user=u&password=old", "postgres://h/d?user=u&password=new", true},
		{"host=h password=old dbname=d", "host=h password='a new one' dbname=d", true},
		{`password='it\'s old' host=h`, "password=new host=h", true},
		{"postgres://u:old@h/d", "postgres://v:new@h/d", false},
		{"postgres://u:old@h/d", "postgres://u:new@g/d", false},
		{"postgres://u:old@h/d", "postgres://u:new@h/e", false},
		{"postgres://u:old@h/d", "postgres://u:new@h/d?sslmode=disable", false},
		{"host=h password=old dbname=d", "host=h password=new dbname=e", false},
		{"host=h password=old", "host=g password=new", false},
		{"postgres://u:old@h/d", "host=h user=u dbname=d password=old", false},
		{"postgres://u:old@h/d", "postgres://u:%zz@h/d", false},
	} {
		if connect.SameButPassword(c.a, c.b) != c.same || connect.SameButPassword(c.b, c.a) != c.same {
			t.Errorf("%s and %s: expected %v", c.a, c.b, c.same)
		}
	}
}

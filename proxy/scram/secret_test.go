package scram

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func parsed(t testing.TB, der []byte) []*x509.Certificate {
	t.Helper()
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return []*x509.Certificate{c}
}

func TestScramInvariant1NoLogRepeatsAVerifier(t *testing.T) {
	v := verifier(t, "right")
	var out bytes.Buffer
	account := struct{ Verifier Verifier }{v}
	fmt.Fprintf(&out, "%v %+v %#v %s %q %v %+v %#v\n", v, v, v, v, v, account, account, account)
	slog.New(slog.NewTextHandler(&out, nil)).Info("text", "verifier", v, "account", account)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "verifier", v, "account", account)
	if err := json.NewEncoder(&out).Encode(account); err != nil {
		t.Fatal(err)
	}
	for _, secret := range strings.FieldsFunc(strings.TrimPrefix(v.Text(), Plain), func(r rune) bool {
		return r == '$' || r == ':'
	}) {
		if len(secret) > 4 && strings.Contains(out.String(), secret) {
			t.Errorf("%q stands in\n%s", secret, out.String())
		}
	}
	keys := []string{v.stored.Salt, fmt.Sprint(v.stored.StoredKey), fmt.Sprintf("%x", v.stored.ServerKey)}
	for _, key := range keys {
		if strings.Contains(out.String(), key) {
			t.Errorf("%q stands in\n%s", key, out.String())
		}
	}
}

func TestABinderRemembersACertificateAndNoticesAnother(t *testing.T) {
	one, _ := seen(t)
	two, _ := seen(t)
	var binder Binder
	for _, certificate := range [][]byte{one, one, two, one, nil} {
		got, want := binder.To(certificate), NewBinding(certificate)
		if got.Binds() != (certificate != nil) || !got.to.Matches(want.to) {
			t.Errorf("bound to %x, expected %x", got.to.Data, want.to.Data)
		}
	}
}

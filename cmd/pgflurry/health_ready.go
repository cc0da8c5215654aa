package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"pgflurry/internal/admin"
	"pgflurry/internal/config"
	"pgflurry/internal/fault"
)

// longestVerdict limits what is read of an answer: another program on that port may send without end.
const longestVerdict = 64 << 10

// askVerdict asks the admin listener for a probe's verdict. The error says why it is not OK.
func askVerdict(ctx context.Context, listen, path string) error {
	network, address, err := config.Dialable("admin-listen", listen)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return fault.WithKind(fault.Unreachable, fault.WithHint(
			fmt.Errorf("the admin listener does not answer at %s: %w", address, withoutURL(err)),
			`Is "pgflurry serve" running here, with the same --admin-listen? By default it has none.`))
	}
	defer response.Body.Close()
	var verdict admin.Verdict
	err = json.NewDecoder(io.LimitReader(response.Body, longestVerdict)).Decode(&verdict)
	switch {
	case err != nil, verdict.OK != (response.StatusCode == http.StatusOK):
		return fmt.Errorf("%s answers %q, which no admin listener does; is --admin-listen right?",
			address, response.Status)
	case !verdict.OK:
		return errors.New(verdict.Why)
	}
	return nil
}

// withoutURL removes the URL from an error: the user did not give it.
func withoutURL(err error) error {
	if wrapped := errors.Unwrap(err); wrapped != nil {
		return wrapped
	}
	return err
}

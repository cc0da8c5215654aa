package node

import (
	"errors"

	"pgflurry/generator"
	"pgflurry/internal/segment"
	"pgflurry/proxy"
)

// whyNot names the error for which the proxy forwards a statement.
func whyNot(err error) proxy.Decline {
	switch {
	case errors.Is(err, generator.ErrGrantEnded), errors.Is(err, generator.ErrEndOfTime):
		return proxy.DeclineMark
	case errors.Is(err, segment.ErrUnknownTag), errors.Is(err, segment.ErrExhausted),
		errors.Is(err, segment.ErrTooManyTags), errors.Is(err, segment.ErrElsewhere), errors.Is(err, segment.ErrEnded):
		return proxy.DeclineNotAnswerable
	case errors.Is(err, segment.ErrResting):
		return proxy.DeclineTimeout
	}
	return proxy.DeclineNoLease
}

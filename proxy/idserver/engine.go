package idserver

import (
	"fmt"

	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/state"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/wire"
)

// engine runs the messages of a client that has logged in, one after the other.
type engine struct {
	writer
	session state.Session
	skips   bool // after an error in a batch: everything up to its Sync is skipped
}

// atRest says that no transaction and no batch is unfinished.
func (e *engine) atRest() bool { return e.session.Transaction.Rest() && !e.skips }

// message runs one message, unless it is skipped. An error that it returns ends the session.
func (e *engine) message(f frame.Frame) error {
	switch f.Kind {
	case wire.FrontendTerminate:
		return errGoodbye
	case wire.FrontendCopyData, wire.FrontendCopyDone, wire.FrontendCopyFail:
		return nil // the rest of a failed copy; PostgreSQL ignores it, too
	case wire.FrontendSync:
		return e.sync(f.Body)
	case wire.FrontendQuery, wire.FrontendParse, wire.FrontendBind, wire.FrontendDescribe, wire.FrontendExecute,
		wire.FrontendClose, wire.FrontendFlush, wire.FrontendFunctionCall:
	default:
		return malformed("invalid frontend message type %d", f.Kind)
	}
	if e.skips {
		return nil
	}
	err := e.Gather()
	if err == nil {
		err = e.carryOut(f.Kind, f.Body)
	}
	return e.settle(f.Kind, err)
}

// mayBeLarge says whether a message of this size can make sense. stray says that it gets no reply in any case.
func mayBeLarge(f frame.Frame) (stray bool, err error) {
	switch f.Kind {
	case wire.FrontendCopyData, wire.FrontendCopyFail:
		return true, nil
	case wire.FrontendQuery, wire.FrontendParse, wire.FrontendBind, wire.FrontendDescribe, wire.FrontendExecute,
		wire.FrontendClose, wire.FrontendFunctionCall:
		return false, nil
	}
	return false, malformed("message %q with %d bytes; expected a length that it can have", f.Kind, f.Size-1)
}

// refuseLarge answers a message that is larger than the buffer.
func (e *engine) refuseLarge(f frame.Frame) error {
	if e.skips {
		return nil
	}
	return e.settle(f.Kind, fault.New("54000",
		fmt.Sprintf("a message has %d bytes, more than the %d that this database reads", f.Size, frame.BufferSize),
		"Send shorter statements and values, or use one of the proxy's other databases."))
}

// carryOut runs a message that may fail.
func (e *engine) carryOut(kind byte, body []byte) (err error) {
	switch kind {
	case wire.FrontendQuery:
		return e.query(body)
	case wire.FrontendParse:
		return e.answer(wire.ParseComplete, e.session.Parse(body))
	case wire.FrontendBind:
		return e.answer(wire.BindComplete, e.session.Bind(body))
	case wire.FrontendDescribe:
		e.Out, err = e.session.AppendDescribed(e.Out, body)
		return err
	case wire.FrontendExecute:
		return e.execute(body)
	case wire.FrontendClose:
		return e.answer(wire.CloseComplete, e.session.Close(body))
	case wire.FrontendFlush:
		if len(body) > 0 {
			return state.ErrMessage
		}
		return e.Flush()
	}
	return errFunctionCall
}

// answer appends the reply to a message that did not fail.
func (e *engine) answer(reply []byte, err error) error {
	if err == nil {
		e.add(reply)
	}
	return err
}

// settle ends a message. It sends the error if the message failed, and ReadyForQuery if it was a Query.
func (e *engine) settle(kind byte, err error) error {
	if err != nil {
		if err = e.failed(err); err != nil {
			return err
		}
		e.skips = isExtended(kind)
	}
	if !isExtended(kind) {
		return e.ready()
	}
	return nil
}

// isExtended says whether an error in the message skips everything up to a Sync.
func isExtended(kind byte) bool {
	return kind != wire.FrontendQuery && kind != wire.FrontendFunctionCall
}

// sync ends a batch.
func (e *engine) sync(body []byte) error {
	e.skips = false
	if err := e.Gather(); err != nil {
		return err
	}
	if len(body) > 0 {
		if err := e.failed(state.ErrMessage); err != nil {
			return err
		}
	}
	e.session.Transaction.Finish()
	return e.ready()
}

// failed sends the client an error. The error ends its transaction, or makes it a failed one. An error that ends
// the session is returned.
func (e *engine) failed(err error) error {
	sent, ok := errorOf(err)
	if _, ends := err.(fatal); ends || !ok {
		return err
	}
	e.session.Transaction.Abort()
	e.counts.refuse(sent)
	if err := e.Gather(); err != nil {
		return err
	}
	e.fail(sent)
	return nil
}

// ready sends ReadyForQuery with the status. Before that it reports changed parameters.
func (e *engine) ready() error {
	if err := e.Gather(); err != nil {
		return err
	}
	status := e.session.Transaction.Status()
	e.Out = wire.AppendReady(e.appendParameters(e.Out, e.session.Parameters.Changes()), status)
	e.status.Store(int32(status))
	return nil
}

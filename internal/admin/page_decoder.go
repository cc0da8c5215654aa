package admin

import (
	"errors"
	"net/http"
	"strings"
	"unicode"

	"pgflurry/internal/report"
)

// decoder is the result for the ID in the form. The zero value: nobody asked.
type decoder struct {
	Asked   string // the text in the form
	Problem string // why it is not an ID
	ID      *report.Decoded
	Age     string
	Holder  *report.Tenure // who held its worker then; nil: not known
	NoOne   string         // why there is no holder
}

// decode decodes an ID and finds who held its worker then: GET /decode?id=N.
func (p *page) decode(w http.ResponseWriter, r *http.Request) {
	v := p.view()
	v.Title = "Decoder"
	v.Decoder.Asked = strings.TrimSpace(r.URL.Query().Get("id"))
	status := http.StatusOK
	parts, err := report.Decoded{}, errNoID
	if v.Decoder.Asked != "" {
		parts, err = p.node.Decode(v.Decoder.Asked)
	}
	if err != nil {
		v.Decoder.Problem, status = sentenceOf(err), http.StatusBadRequest
	} else {
		p.explain(r, &v, parts)
	}
	p.answer(w, r, status, "decoder", v)
}

// explain says when an ID was made, and by which node.
func (p *page) explain(r *http.Request, v *view, parts report.Decoded) {
	v.Decoder.ID = &parts
	if parts.Time.IsZero() {
		v.Decoder.Age = "none: below the first ID, so a key of a sequence, it seems"
		v.Decoder.NoOne = "no one: a sequence gave it"
		return
	}
	v.Decoder.Age = relative(v.At, parts.Time)
	if parts.Function {
		v.Decoder.NoOne = "the function of a database, which keeps its worker for good"
		return
	}
	history, err := p.history(r.Context(), parts.Worker)
	if err != nil {
		v.Decoder.NoOne = "not known: " + oneLine(err.Error())
		return
	}
	if tenure, known := holder(history, parts.Time); known {
		v.Decoder.Holder = &tenure
		return
	}
	v.Decoder.NoOne = "not known: no tenure in the table covers that time"
}

var errNoID = errors.New(
	"no ID was given: expected a number, such as 330678927360028672, or base32, such as 095PEQE000W00")

// sentenceOf turns an error into a sentence.
func sentenceOf(err error) string {
	text := []rune(strings.TrimSuffix(oneLine(err.Error()), ".") + ".")
	text[0] = unicode.ToUpper(text[0])
	return string(text)
}

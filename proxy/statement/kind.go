package statement

// FormKind is a group of answered forms. Statistics count answers by group.
type FormKind uint8

const (
	FormSnowflake  FormKind = iota // one row
	FormSnowflakes                 // several rows, or as many as a parameter says
	FormSegment                    // numbers of a tag
	FormKinds
)

// FormKindLabels are their labels in metrics.
var FormKindLabels = [FormKinds]string{"snowflake", "snowflakes", "segment"}

// Kind is the group of a form.
func (f *Form) Kind() FormKind {
	switch {
	case f.Tag != nil:
		return FormSegment
	case f.Rows == 1:
		return FormSnowflake
	}
	return FormSnowflakes
}

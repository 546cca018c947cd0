package export

import (
	"unicode/utf8"

	"github.com/erdos1056/erdos1056/lean/term"
)

// A line is a line of a file. Records of frequent kinds that are spelled exactly
// as the exporter does, 98 in 100 lines of a real export, are taken apart into
// this form; all others are left to the scanner, with the same result.
type line struct {
	form   form
	info   term.BinderInfo // of a function or function type
	levels uint8           // of an applied constant: how many follow its name
	index  uint32
	args   [3]uint32
	text   uint32 // length of the text that goes with it
}

// A form says which record a line is.
type form uint8

const (
	unknownForm form = iota // the text is the whole line
	strForm                 // args: parent; the text is the component
	numForm                 // args: parent, number
	constForm               // args: name, levels
	appForm                 // args: function, argument
	lambdaForm              // args: name, type, body
	piForm                  // the same
)

// lexLine takes a line apart and returns the text that goes with it.
func lexLine(text []byte) (line, []byte) {
	c := cursor{rest: text, ok: true}
	var l line
	var kept []byte
	switch {
	case c.take(`{"app":{"arg":`):
		l.form = appForm
		l.args[1] = c.number()
		c.need(`,"fn":`)
		l.args[0] = c.number()
		c.indexAfter(&l)
	case c.take(`{"forallE":`):
		l.form = piForm
		c.binder(&l)
		c.indexAfter(&l)
	case c.take(`{"const":{"name":`):
		l.form = constForm
		l.args[0] = c.number()
		c.levels(&l)
		c.indexAfter(&l)
	case c.take(`{"ie":`):
		l.form = lambdaForm
		l.index = c.number()
		c.need(`,"lam":`)
		c.binder(&l)
		c.need("}}")
	case c.take(`{"in":`):
		l.index = c.number()
		kept = c.name(&l)
	}
	if l.form == unknownForm || !c.ok || len(c.rest) > 0 {
		return line{}, text
	}
	return l, kept
}

// A cursor matches a line against a fixed spelling.
type cursor struct {
	rest []byte
	ok   bool
}

// take takes text if it comes next.
func (c *cursor) take(text string) bool {
	if len(c.rest) < len(text) || string(c.rest[:len(text)]) != text {
		return false
	}
	c.rest = c.rest[len(text):]
	return true
}

// need takes text, which must come next.
func (c *cursor) need(text string) { c.ok = c.take(text) && c.ok }

// number takes a number of one to nine digits without leading zeros.
func (c *cursor) number() uint32 {
	n, i := uint32(0), 0
	for ; i < len(c.rest) && i < 10 && c.rest[i] >= '0' && c.rest[i] <= '9'; i++ {
		n = 10*n + uint32(c.rest[i]-'0')
	}
	c.ok = c.ok && i > 0 && i < 10 && (i == 1 || c.rest[0] != '0')
	c.rest = c.rest[i:]
	return n
}

func (c *cursor) indexAfter(l *line) {
	c.need(`},"ie":`)
	l.index = c.number()
	c.need("}")
}

// binder takes the fields of a function or function type, up to the brace.
func (c *cursor) binder(l *line) {
	c.need(`{"binderInfo":"`)
	switch {
	case c.take(`default`):
	case c.take(`implicit`):
		l.info = term.Implicit
	case c.take(`strictImplicit`):
		l.info = term.StrictImplicit
	case c.take(`instImplicit`):
		l.info = term.InstImplicit
	default:
		c.ok = false
	}
	c.need(`","body":`)
	l.args[2] = c.number()
	c.need(`,"name":`)
	l.args[0] = c.number()
	c.need(`,"type":`)
	l.args[1] = c.number()
}

// levels takes the levels of a constant, of which there is room for two.
func (c *cursor) levels(l *line) {
	c.need(`,"us":[`)
	if c.take("]") {
		return
	}
	for {
		l.levels++
		l.args[l.levels] = c.number()
		if c.take("]") {
			return
		}
		c.need(",")
		if c.ok = c.ok && l.levels < 2; !c.ok {
			return
		}
	}
}

// name takes the content of a name and returns the component, if that is a
// string. Escapes are left to the scanner.
func (c *cursor) name(l *line) (component []byte) {
	if c.take(`,"num":{"i":`) {
		l.form = numForm
		l.args[1] = c.number()
		c.need(`,"pre":`)
		l.args[0] = c.number()
		c.need("}}")
		return nil
	}
	l.form = strForm
	c.need(`,"str":{"pre":`)
	l.args[0] = c.number()
	c.need(`,"str":"`)
	end, ascii := 0, true
	for ; end < len(c.rest) && c.rest[end] != '"'; end++ {
		b := c.rest[end]
		c.ok = c.ok && b >= 0x20 && b != '\\'
		ascii = ascii && b < utf8.RuneSelf
	}
	component, c.rest = c.rest[:end], c.rest[end:]
	c.need(`"}}`)
	c.ok = c.ok && (ascii || utf8.Valid(component))
	return component
}

// define makes the term of a line of known form and defines its index; text is
// the text that goes with it.
func (b *builder) define(l *line, text []byte) error {
	x, y, z := uint64(l.args[0]), uint64(l.args[1]), uint64(l.args[2])
	index := uint64(l.index)
	var e term.Expr
	var err error
	switch l.form {
	case strForm, numForm:
		parent, err := b.name(x)
		if err != nil {
			return err
		}
		if l.form == numForm {
			return b.names.define(index, uint32(b.store.Num(parent, y)))
		}
		return b.names.define(index, uint32(b.store.Str(parent, string(text))))
	case constForm:
		e, err = b.constExpr(x, []uint64{y, z}[:l.levels])
	case appForm:
		e, err = b.appExpr(x, y)
	case lambdaForm:
		e, err = b.binderExpr(term.Lambda, l.info, x, y, z)
	case piForm:
		e, err = b.binderExpr(term.Pi, l.info, x, y, z)
	}
	if err != nil {
		return err
	}
	return b.exprs.define(index, uint32(e))
}

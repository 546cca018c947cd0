package export

import (
	"bytes"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/erdos1056/erdos1056/lean/term"
)

var (
	versionLine = regexp.MustCompile(`^\d+\.\d+\.\d+\S*$`)
	recordLine  = regexp.MustCompile(`^\d+ #`)
)

// textVersion checks the first line of a text export.
func textVersion(line []byte) error {
	first := strings.TrimSpace(string(line))
	switch {
	case first == "2.0.0":
		return nil
	case versionLine.MatchString(first):
		return unsupported("text format version %.60q is not supported; supported are 2.0.0 and NDJSON 3.0.0 and 3.1.x", first)
	case recordLine.MatchString(first):
		return unsupported("a text export without a version line, from before version 0.1.2, is not supported; export it again")
	}
	return unsupported("the first line is neither a version nor a meta record; expected a lean4export file of format 3.1.x, 3.0.0 or 2.0.0")
}

// textReader reads the records of text 2.0.0.
type textReader struct {
	*builder
	words []string
	rules indexMap // handles index into ruleList
	list  []Rule
}

func (r *textReader) record(line []byte) error {
	if !utf8.Valid(line) {
		return malformed("the line is not valid UTF-8")
	}
	text := string(bytes.TrimLeft(line, " "))
	if strings.HasPrefix(text, "#") {
		r.words = strings.Fields(text)
		return r.declaration()
	}
	number, rest, ok := strings.Cut(text, " ")
	index, err := parseUint(number)
	if !ok || err != nil {
		return malformed("expected an index or a declaration, found %.40q", text)
	}
	if strings.HasPrefix(rest, "#NS ") {
		parent, component, ok := strings.Cut(rest[len("#NS "):], " ")
		p, err := parseUint(parent)
		if err != nil || !ok {
			return malformed("a name needs a parent and a component")
		}
		n, err := r.name(p)
		if err != nil {
			return err
		}
		return r.names.define(index, uint32(r.store.Str(n, component)))
	}
	r.words = strings.Fields(rest)
	if len(r.words) == 0 {
		return malformed("an index without a record")
	}
	return r.primitive(index)
}

func parseUint(word string) (uint64, error) { return strconv.ParseUint(word, 10, 64) }

// need checks that a record has exactly n numbers after its first word.
func (r *textReader) need(n int) ([]uint64, error) {
	if len(r.words) != n+1 {
		return nil, malformed("%s needs %d fields, found %d", r.words[0], n, len(r.words)-1)
	}
	return r.numbers(r.words[1:])
}

func (r *textReader) numbers(words []string) ([]uint64, error) {
	out := make([]uint64, len(words))
	for i, w := range words {
		n, err := parseUint(w)
		if err != nil {
			return nil, malformed("%s: field %d is %.20q, expected a number", r.words[0], i+1, w)
		}
		out[i] = n
	}
	return out, nil
}

func (r *textReader) primitive(index uint64) error {
	switch r.words[0] {
	case "#NI":
		x, err := r.need(2)
		if err != nil {
			return err
		}
		p, err := r.name(x[0])
		if err != nil {
			return err
		}
		return r.names.define(index, uint32(r.store.Num(p, x[1])))
	case "#US", "#UM", "#UIM", "#UP":
		l, err := r.levelRecord()
		if err != nil {
			return err
		}
		return r.levels.define(index, uint32(l))
	case "#RR":
		return r.ruleRecord(index)
	}
	e, err := r.exprRecord()
	if err != nil {
		return err
	}
	return r.defineExpr(index, e)
}

func (r *textReader) levelRecord() (term.Level, error) {
	kind := r.words[0]
	n := 1
	if kind == "#UM" || kind == "#UIM" {
		n = 2
	}
	x, err := r.need(n)
	if err != nil {
		return 0, err
	}
	if kind == "#UP" {
		p, err := r.name(x[0])
		if err != nil {
			return 0, err
		}
		return r.store.Param(p), nil
	}
	a, err := r.level(x[0])
	if err != nil {
		return 0, err
	}
	if kind == "#US" {
		return r.store.Succ(a), nil
	}
	b, err := r.level(x[1])
	if err != nil {
		return 0, err
	}
	if kind == "#UM" {
		return r.store.Max(a, b), nil
	}
	return r.store.IMax(a, b), nil
}

func (r *textReader) ruleRecord(index uint64) error {
	x, err := r.need(3)
	if err != nil {
		return err
	}
	var rule Rule
	if rule.Ctor, err = r.name(x[0]); err != nil {
		return err
	}
	if rule.NumFields, err = r.count(x[1], "count"); err != nil {
		return err
	}
	if rule.RHS, err = r.expr(x[2]); err != nil {
		return err
	}
	r.list = append(r.list, rule)
	return r.rules.define(index, uint32(len(r.list)-1))
}

func (r *textReader) exprRecord() (term.Expr, error) {
	switch kind := r.words[0]; kind {
	case "#EV":
		x, err := r.need(1)
		if err != nil {
			return 0, err
		}
		return r.bvar(x[0])
	case "#ES":
		x, err := r.need(1)
		if err != nil {
			return 0, err
		}
		l, err := r.level(x[0])
		if err != nil {
			return 0, err
		}
		return r.store.Sort(l), nil
	case "#EC":
		return r.constRecord()
	case "#EA":
		x, err := r.need(2)
		if err != nil {
			return 0, err
		}
		return r.appExpr(x[0], x[1])
	case "#EL", "#EP":
		return r.binderRecord(kind)
	case "#EZ":
		x, err := r.need(4)
		if err != nil {
			return 0, err
		}
		n, err := r.name(x[0])
		if err != nil {
			return 0, err
		}
		es, err := r.exprList(x[1:])
		if err != nil {
			return 0, err
		}
		return r.store.Let(n, es[0], es[1], es[2]), nil
	case "#EJ":
		x, err := r.need(3)
		if err != nil {
			return 0, err
		}
		n, err := r.name(x[0])
		if err != nil {
			return 0, err
		}
		idx, err := r.count(x[1], "field index")
		if err != nil {
			return 0, err
		}
		e, err := r.expr(x[2])
		if err != nil {
			return 0, err
		}
		return r.store.Proj(n, idx, e), nil
	case "#ELN":
		if len(r.words) != 2 {
			return 0, malformed("#ELN needs one number")
		}
		return r.nat(r.words[1])
	case "#ELS":
		text, err := hex.DecodeString(strings.Join(r.words[1:], ""))
		if err != nil || !utf8.Valid(text) {
			return 0, malformed("a string literal must be the hexadecimal bytes of valid UTF-8")
		}
		return r.store.StrLit(string(text)), nil
	}
	return 0, malformed("unknown record %.20q", r.words[0])
}

func (r *textReader) exprList(is []uint64) ([]term.Expr, error) {
	out := make([]term.Expr, len(is))
	for i, x := range is {
		e, err := r.expr(x)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

func (r *textReader) constRecord() (term.Expr, error) {
	if len(r.words) < 2 {
		return 0, malformed("#EC needs a name")
	}
	x, err := r.numbers(r.words[1:])
	if err != nil {
		return 0, err
	}
	return r.constExpr(x[0], x[1:])
}

func (r *textReader) binderRecord(kind string) (term.Expr, error) {
	if len(r.words) != 5 {
		return 0, malformed("%s needs a binder annotation, a name, a type and a body", kind)
	}
	var info term.BinderInfo
	switch r.words[1] {
	case "#BD":
	case "#BI":
		info = term.Implicit
	case "#BS":
		info = term.StrictImplicit
	case "#BC":
		info = term.InstImplicit
	default:
		return 0, malformed("unknown binder annotation %.20q", r.words[1])
	}
	x, err := r.numbers(r.words[2:])
	if err != nil {
		return 0, err
	}
	if kind == "#EL" {
		return r.binderExpr(term.Lambda, info, x[0], x[1], x[2])
	}
	return r.binderExpr(term.Pi, info, x[0], x[1], x[2])
}

// fieldReader takes the numbers of a declaration one by one.
type fieldReader struct {
	*textReader
	rest []uint64
	err  error
}

func (f *fieldReader) next() uint64 {
	if f.err != nil {
		return 0
	}
	if len(f.rest) == 0 {
		f.err = malformed("%s ends too early", f.words[0])
		return 0
	}
	n := f.rest[0]
	f.rest = f.rest[1:]
	return n
}

func (f *fieldReader) name() (n term.Name) {
	if i := f.next(); f.err == nil {
		n, f.err = f.builder.name(i)
	}
	return n
}

func (f *fieldReader) expr() (e term.Expr) {
	if i := f.next(); f.err == nil {
		e, f.err = f.builder.expr(i)
	}
	return e
}

func (f *fieldReader) count() (n uint32) {
	if i := f.next(); f.err == nil {
		n, f.err = f.builder.count(i, "count")
	}
	return n
}

func (f *fieldReader) bool() bool {
	n := f.next()
	if f.err == nil && n > 1 {
		f.err = malformed("%s: a flag is %d, expected 0 or 1", f.words[0], n)
	}
	return n == 1
}

// names takes n names, or all that are left if n < 0.
func (f *fieldReader) names(n int) (out []term.Name) {
	if n < 0 {
		n = len(f.rest)
	}
	if n > len(f.rest) && f.err == nil {
		f.err = malformed("%s ends too early", f.words[0])
	}
	for i := 0; i < n && f.err == nil; i++ {
		out = append(out, f.name())
	}
	return out
}

func (r *textReader) declaration() error {
	words := r.words[1:]
	var hint Hint
	if r.words[0] == "#DEF" {
		var err error
		if hint, words, err = textHint(words); err != nil {
			return err
		}
	}
	numbers, err := r.numbers(words)
	if err != nil {
		return err
	}
	f := &fieldReader{textReader: r, rest: numbers}
	d := Decl{Name: f.name(), Type: f.expr(), Hint: hint}
	switch r.words[0] {
	case "#AX":
		d.Kind = Axiom
	case "#DEF", "#THM", "#OPAQ":
		d.Kind = map[string]Kind{"#DEF": Definition, "#THM": Theorem, "#OPAQ": Opaque}[r.words[0]]
		d.Value = f.expr()
	case "#QUOT":
		d.Kind = Quotient
		d.Quot, f.err = r.quotKind(d.Name, f.err)
	case "#IND":
		return r.typeLine(f, d)
	case "#CTOR":
		return r.constructorLine(f, d)
	case "#REC":
		return r.recursorLine(f, d)
	default:
		return malformed("unknown declaration %.20q", r.words[0])
	}
	d.Params = f.names(-1)
	if f.err != nil {
		return f.err
	}
	r.declare(d)
	return nil
}

// textHint takes the hint, which stands after name, type and value, out of the
// words of a definition.
func textHint(words []string) (Hint, []string, error) {
	if len(words) < 4 {
		return Hint{}, nil, malformed("#DEF needs a name, a type, a value and a hint")
	}
	head, rest := words[:3:3], words[4:]
	switch words[3] {
	case "O":
		return Hint{}, append(head, rest...), nil
	case "A":
		return Hint{Kind: HintAbbrev}, append(head, rest...), nil
	case "R":
		if len(rest) > 0 {
			if height, err := parseUint(rest[0]); err == nil {
				return Hint{HintRegular, uint32(min(height, maxIndex))}, append(head, rest[1:]...), nil
			}
		}
	}
	return Hint{}, nil, malformed("#DEF: unknown hint %.20q", words[3])
}

// quotKind tells the quotient constants apart by name; the types are compared
// by the checker.
func (r *textReader) quotKind(n term.Name, err error) (QuotKind, error) {
	quot := r.store.NameOf("Quot")
	for kind, name := range []term.Name{quot, r.store.Str(quot, "mk"), r.store.Str(quot, "lift"), r.store.Str(quot, "ind")} {
		if n == name {
			return QuotKind(kind), err
		}
	}
	if err == nil {
		err = malformed("#QUOT %s is none of the four quotient constants", r.store.NameString(n))
	}
	return 0, err
}

func (r *textReader) typeLine(f *fieldReader, d Decl) error {
	t := InductiveType{Name: d.Name, Type: d.Type}
	t.Reflexive = f.bool()
	t.Recursive = f.bool()
	t.NumNested = f.count()
	t.NumParams = f.count()
	t.NumIndices = f.count()
	members := f.names(int(min(f.count(), 1<<20)))
	t.Ctors = f.names(int(min(f.count(), 1<<20)))
	t.Params = f.names(-1)
	if f.err != nil {
		return f.err
	}
	return r.addType(t, members)
}

func (r *textReader) constructorLine(f *fieldReader, d Decl) error {
	c := Constructor{Name: d.Name, Type: d.Type}
	c.Induct = f.name()
	c.Index = f.count()
	c.NumParams = f.count()
	c.NumFields = f.count()
	c.Params = f.names(-1)
	if f.err != nil {
		return f.err
	}
	return r.addConstructor(c)
}

func (r *textReader) recursorLine(f *fieldReader, d Decl) error {
	rec := Recursor{Name: d.Name, Type: d.Type}
	members := f.names(int(min(f.count(), 1<<20)))
	rec.NumParams = f.count()
	rec.NumIndices = f.count()
	rec.NumMotives = f.count()
	rec.NumMinors = f.count()
	for n := f.count(); n > 0 && f.err == nil; n-- {
		if i := f.next(); f.err == nil {
			var h uint32
			if h, f.err = r.rules.get(i); f.err == nil {
				rec.Rules = append(rec.Rules, r.list[h])
			}
		}
	}
	rec.K = f.bool()
	rec.Params = f.names(-1)
	if f.err != nil {
		return f.err
	}
	return r.addRecursor(rec, members)
}

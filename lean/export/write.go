package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/erdos1056/erdos1056/lean/term"
)

// WriteFormat is the format that Write produces.
const WriteFormat = "3.1.0"

// Write writes declarations as an NDJSON export, with primitives in the order
// of their first use. Blocks must be complete, with recursors.
func Write(w io.Writer, store *term.Store, meta Meta, decls []Decl) error {
	wr := NewWriter(w, store)
	wr.Meta(meta)
	for i := range decls {
		wr.Decl(&decls[i])
	}
	return wr.Flush()
}

// A Writer writes an export record by record.
type Writer struct {
	w      *bufio.Writer
	s      *term.Store
	names  map[term.Name]int
	levels map[term.Level]int
	exprs  map[term.Expr]int
	err    error
}

// NewWriter returns a writer of terms of store.
func NewWriter(w io.Writer, store *term.Store) *Writer {
	return &Writer{
		w: bufio.NewWriterSize(w, 1<<16), s: store,
		names:  map[term.Name]int{term.Anonymous: 0},
		levels: map[term.Level]int{term.Zero: 0},
		exprs:  map[term.Expr]int{},
	}
}

// Flush writes what is buffered and returns the first error.
func (w *Writer) Flush() error {
	if err := w.w.Flush(); w.err == nil {
		w.err = err
	}
	return w.err
}

func (w *Writer) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(w.w, format, args...); err != nil && w.err == nil {
		w.err = err
	}
}

// Meta writes the first line.
func (w *Writer) Meta(m Meta) {
	w.printf(`{"meta":{"exporter":{"name":%s,"version":%s},"format":{"version":%s},"lean":{"githash":%s,"version":%s}}}`+"\n",
		quote(m.Exporter), quote(m.ExporterVersion), quote(WriteFormat), quote(m.LeanHash), quote(m.Lean))
}

func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // strings always encode
	}
	return strings.TrimSpace(b.String())
}

func (w *Writer) name(n term.Name) int {
	if i, ok := w.names[n]; ok {
		return i
	}
	parent := w.name(w.s.Parent(n))
	i := len(w.names)
	if text, ok := w.s.LastText(n); ok {
		w.printf(`{"in":%d,"str":{"pre":%d,"str":%s}}`+"\n", i, parent, quote(text))
	} else {
		w.printf(`{"in":%d,"num":{"i":%d,"pre":%d}}`+"\n", i, w.s.LastNumber(n), parent)
	}
	w.names[n] = i
	return i
}

func (w *Writer) nameList(ns []term.Name) string {
	var parts []string
	for _, n := range ns {
		parts = append(parts, fmt.Sprint(w.name(n)))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (w *Writer) level(l term.Level) int {
	if i, ok := w.levels[l]; ok {
		return i
	}
	a, b := w.s.LevelArgs(l)
	var content string
	switch w.s.LevelKind(l) {
	case term.LevelSucc:
		content = fmt.Sprintf(`"succ":%d`, w.level(a))
	case term.LevelMax:
		content = fmt.Sprintf(`"max":[%d,%d]`, w.level(a), w.level(b))
	case term.LevelIMax:
		content = fmt.Sprintf(`"imax":[%d,%d]`, w.level(a), w.level(b))
	case term.LevelParam:
		content = fmt.Sprintf(`"param":%d`, w.name(w.s.LevelParamName(l)))
	}
	i := len(w.levels)
	w.printf(`{"il":%d,%s}`+"\n", i, content)
	w.levels[l] = i
	return i
}

var binderInfos = [...]string{"default", "implicit", "strictImplicit", "instImplicit"}

// Expr writes a term with all its parts, once, and returns its index.
func (w *Writer) Expr(e term.Expr) int {
	if i, ok := w.exprs[e]; ok {
		return i
	}
	// Deep terms are written from the leaves up without recursion.
	stack := []term.Expr{e}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		if _, ok := w.exprs[top]; ok {
			stack = stack[:len(stack)-1]
			continue
		}
		pending := false
		for _, part := range w.parts(top) {
			if _, ok := w.exprs[part]; !ok {
				stack = append(stack, part)
				pending = true
			}
		}
		if !pending {
			stack = stack[:len(stack)-1]
			w.exprRecord(top)
		}
	}
	return w.exprs[e]
}

func (w *Writer) parts(e term.Expr) []term.Expr {
	n := w.s.At(e)
	switch n.Kind {
	case term.App, term.Lambda, term.Pi:
		return []term.Expr{term.Expr(n.A), term.Expr(n.B)}
	case term.Let:
		return []term.Expr{term.Expr(n.A), term.Expr(n.B), term.Expr(n.C)}
	case term.Proj:
		return []term.Expr{term.Expr(n.C)}
	}
	return nil
}

func (w *Writer) exprRecord(e term.Expr) {
	n := *w.s.At(e)
	at := func(x uint32) int { return w.exprs[term.Expr(x)] }
	var content string
	switch n.Kind {
	case term.BVar:
		content = fmt.Sprintf(`"bvar":%d`, n.A)
	case term.Sort:
		content = fmt.Sprintf(`"sort":%d`, w.level(term.Level(n.A)))
	case term.Const:
		var us []string
		for _, l := range w.s.LevelSlice(term.Levels(n.B)) {
			us = append(us, fmt.Sprint(w.level(l)))
		}
		content = fmt.Sprintf(`"const":{"name":%d,"us":[%s]}`, w.name(term.Name(n.A)), strings.Join(us, ","))
	case term.App:
		content = fmt.Sprintf(`"app":{"arg":%d,"fn":%d}`, at(n.B), at(n.A))
	case term.Lambda, term.Pi:
		key := map[term.Kind]string{term.Lambda: "lam", term.Pi: "forallE"}[n.Kind]
		content = fmt.Sprintf(`%q:{"binderInfo":%q,"body":%d,"name":%d,"type":%d}`, key, binderInfos[n.Info&3], at(n.B), w.name(n.Name), at(n.A))
	case term.Let:
		content = fmt.Sprintf(`"letE":{"body":%d,"name":%d,"nondep":false,"type":%d,"value":%d}`, at(n.C), w.name(n.Name), at(n.A), at(n.B))
	case term.Proj:
		content = fmt.Sprintf(`"proj":{"idx":%d,"struct":%d,"typeName":%d}`, n.B, at(n.C), w.name(term.Name(n.A)))
	case term.NatLit:
		content = fmt.Sprintf(`"natVal":"%s"`, w.s.NatValue(e))
	case term.StrLit:
		content = `"strVal":` + quote(w.s.StrValue(e))
	default:
		if w.err == nil {
			w.err = fmt.Errorf("a term with free variables cannot be exported")
		}
		return
	}
	i := len(w.exprs)
	w.printf("{\"ie\":%d,%s}\n", i, content)
	w.exprs[e] = i
}

// Decl writes one declaration and the terms it needs.
func (w *Writer) Decl(d *Decl) {
	if d.Kind == Inductive {
		w.block(d)
		return
	}
	// Terms first: they take lines of their own.
	name, params, typ := w.name(d.Name), w.nameList(d.Params), w.Expr(d.Type)
	head := fmt.Sprintf(`"levelParams":%s,"name":%d,"type":%d`, params, name, typ)
	safety := map[bool]string{false: "safe", true: "unsafe"}[d.Unsafe]
	switch d.Kind {
	case Axiom:
		w.printf(`{"axiom":{"isUnsafe":%t,%s}}`+"\n", d.Unsafe, head)
	case Definition:
		value := w.Expr(d.Value)
		hint := map[HintKind]string{HintOpaque: `"opaque"`, HintAbbrev: `"abbrev"`, HintRegular: fmt.Sprintf(`{"regular":%d}`, d.Hint.Height)}[d.Hint.Kind]
		w.printf(`{"def":{"all":[%d],"hints":%s,%s,"safety":%q,"value":%d}}`+"\n", name, hint, head, safety, value)
	case Theorem:
		value := w.Expr(d.Value)
		w.printf(`{"thm":{"all":[%d],%s,"value":%d}}`+"\n", name, head, value)
	case Opaque:
		value := w.Expr(d.Value)
		w.printf(`{"opaque":{"all":[%d],"isUnsafe":%t,%s,"value":%d}}`+"\n", name, d.Unsafe, head, value)
	case Quotient:
		kind := [...]string{"type", "ctor", "lift", "ind"}[d.Quot]
		w.printf(`{"quot":{"kind":%q,%s}}`+"\n", kind, head)
	}
}

func (w *Writer) block(d *Decl) {
	b := d.Block
	var all []term.Name
	for _, t := range b.Types {
		all = append(all, t.Name)
	}
	group := w.nameList(all)
	var types, ctors, recs []string
	for _, t := range b.Types {
		types = append(types, fmt.Sprintf(`{"all":%s,"ctors":%s,"isRec":%t,"isReflexive":%t,"isUnsafe":%t,"levelParams":%s,"name":%d,"numIndices":%d,"numNested":%d,"numParams":%d,"type":%d}`,
			group, w.nameList(t.Ctors), t.Recursive, t.Reflexive, t.Unsafe, w.nameList(t.Params), w.name(t.Name), t.NumIndices, t.NumNested, t.NumParams, w.Expr(t.Type)))
	}
	for _, c := range b.Ctors {
		ctors = append(ctors, fmt.Sprintf(`{"cidx":%d,"induct":%d,"isUnsafe":%t,"levelParams":%s,"name":%d,"numFields":%d,"numParams":%d,"type":%d}`,
			c.Index, w.name(c.Induct), c.Unsafe, w.nameList(c.Params), w.name(c.Name), c.NumFields, c.NumParams, w.Expr(c.Type)))
	}
	for _, r := range b.Recs {
		var rules []string
		for _, rule := range r.Rules {
			rules = append(rules, fmt.Sprintf(`{"ctor":%d,"nfields":%d,"rhs":%d}`, w.name(rule.Ctor), rule.NumFields, w.Expr(rule.RHS)))
		}
		recs = append(recs, fmt.Sprintf(`{"all":%s,"isUnsafe":%t,"k":%t,"levelParams":%s,"name":%d,"numIndices":%d,"numMinors":%d,"numMotives":%d,"numParams":%d,"rules":[%s],"type":%d}`,
			group, r.Unsafe, r.K, w.nameList(r.Params), w.name(r.Name), r.NumIndices, r.NumMinors, r.NumMotives, r.NumParams, strings.Join(rules, ","), w.Expr(r.Type)))
	}
	w.printf(`{"inductive":{"ctors":[%s],"recs":[%s],"types":[%s]}}`+"\n", strings.Join(ctors, ","), strings.Join(recs, ","), strings.Join(types, ","))
}

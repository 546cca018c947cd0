// Package source reads a small, fully explicit fragment of Lean's syntax: the
// language of the kernel with names for bound variables. Certificates and tests
// are written in it.
//
//	def id.{u} : ∀ (α : Sort u), α → α := fun (α : Sort u) (a : α) => a
//	axiom em : ∀ (p : Prop), Or p (Not p)
//	theorem t : True := True.intro
//	opaque k : Nat := 3
//	inductive List.{u} 1 : Type u → Type u
//	  | nil : ∀ (α : Type u), List.{u} α
//	  | cons : ∀ (α : Type u), α → List.{u} α → List.{u} α
//	mutual inductive … inductive … end
//
// Nothing is implicit: every argument and every universe level is written, and
// an inductive type states its number of parameters. Terms are
//
//	fun (x y : A) => t   ∀ (x : A), B   A → B   let x : A := v; t
//	f a b   c.{u, v}   Prop   Type   Type u   Sort u   12   "text"   proj S 0 t
//
// and levels 0, u, u+1, max u v, imax u v. Comments start with --.
package source

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// Parse reads declarations and adds their terms to store. Blocks come without
// recursors. Heights of definitions are derived.
func Parse(store *term.Store, text string) ([]export.Decl, error) {
	p := &parser{s: store, heights: map[term.Name]uint32{}, line: 1}
	if err := p.scan(text); err != nil {
		return nil, err
	}
	return p.declarations()
}

// ParseTerm reads one closed term.
func ParseTerm(store *term.Store, text string) (e term.Expr, err error) {
	p := &parser{s: store, line: 1}
	if err := p.scan(text); err != nil {
		return 0, err
	}
	defer p.catch(&err)
	e = p.term()
	if p.peek() != "" {
		p.fail("unexpected %q", p.peek())
	}
	return e, nil
}

type token struct {
	text string
	line int
}

type parser struct {
	s        *term.Store
	tokens   []token
	at       int
	line     int
	bound    []string
	universe map[string]bool // parameters of the declaration
	heights  map[term.Name]uint32
	depth    int
}

type syntaxError struct{ msg string }

func (p *parser) fail(format string, args ...any) {
	panic(syntaxError{fmt.Sprintf("line %d: ", p.lineHere()) + fmt.Sprintf(format, args...)})
}

func (p *parser) catch(err *error) {
	switch e := recover().(type) {
	case nil:
	case syntaxError:
		*err = fmt.Errorf("%s", e.msg)
	default:
		panic(e)
	}
}

func (p *parser) lineHere() int {
	if p.at < len(p.tokens) {
		return p.tokens[p.at].line
	}
	return p.line
}

// symbols are the tokens that are no words, longest first.
var symbols = []string{":=", "=>", ".{", "→", "∀", "λ", "(", ")", "{", "}", ":", ",", ";", "|", "+"}

func (p *parser) scan(text string) error {
	for i := 0; i < len(text); {
		rest := text[i:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\n':
			p.line++
			i += size
			continue
		case unicode.IsSpace(r):
			i += size
			continue
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				return nil
			}
			i += end
			continue
		case r == '"':
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return fmt.Errorf("line %d: a string does not end", p.line)
			}
			p.tokens = append(p.tokens, token{quoted, p.line})
			i += len(quoted)
			continue
		}
		word := wordPrefix(rest)
		for _, s := range symbols {
			if word == "" && strings.HasPrefix(rest, s) {
				word = s
			}
		}
		if word == "" {
			return fmt.Errorf("line %d: unexpected character %q", p.line, r)
		}
		p.tokens = append(p.tokens, token{word, p.line})
		i += len(word)
	}
	return nil
}

// wordPrefix returns the identifier, with dots, or number that text starts with.
func wordPrefix(text string) string {
	quoted := false
	for i, r := range text {
		switch {
		case r == '«':
			quoted = true
		case r == '»':
			quoted = false
		case quoted:
		case r == 'λ':
			return text[:i]
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r >= '₀' && r <= '₉':
		case r == '.' && i > 0 && !strings.HasPrefix(text[i:], ".{"):
		default:
			return text[:i]
		}
	}
	return text
}

func (p *parser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at].text
	}
	return ""
}

func (p *parser) next() string {
	t := p.peek()
	if t == "" {
		p.fail("unexpected end")
	}
	p.at++
	return t
}

func (p *parser) take(text string) bool {
	if p.peek() == text {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(text string) {
	if !p.take(text) {
		p.fail("expected %q, found %q", text, p.peek())
	}
}

func isWord(t string) bool {
	if t == "" || t[0] == '"' {
		return false
	}
	for _, s := range symbols {
		if t == s {
			return false
		}
	}
	switch t {
	case "def", "abbrev", "theorem", "axiom", "opaque", "inductive", "mutual", "end", "fun", "let":
		return false
	}
	return true
}

func (p *parser) word() string {
	t := p.next()
	if !isWord(t) {
		p.at--
		p.fail("expected a name, found %q", t)
	}
	return t
}

func (p *parser) name() term.Name {
	t := p.word()
	n, ok := p.s.ParseName(t)
	if !ok {
		p.fail("%q is no name", t)
	}
	return n
}

func (p *parser) declarations() (out []export.Decl, err error) {
	defer p.catch(&err)
	for p.peek() != "" {
		d := export.Decl{Line: p.lineHere()}
		switch kind := p.next(); kind {
		case "def", "abbrev", "theorem", "opaque", "axiom":
			p.constant(kind, &d)
		case "inductive":
			d.Kind = export.Inductive
			d.Block = &export.Block{Partial: true}
			p.inductive(d.Block)
		case "mutual":
			d.Kind = export.Inductive
			d.Block = &export.Block{Partial: true}
			for !p.take("end") {
				p.want("inductive")
				p.inductive(d.Block)
			}
		default:
			p.at--
			p.fail("expected a declaration, found %q", kind)
		}
		if d.Block != nil {
			d.Name, d.Params = d.Block.Types[0].Name, d.Block.Types[0].Params
		}
		out = append(out, d)
	}
	return out, nil
}

func (p *parser) params() []term.Name {
	var out []term.Name
	p.universe = map[string]bool{}
	if p.take(".{") {
		for {
			p.universe[p.peek()] = true
			out = append(out, p.name())
			if p.take("}") {
				break
			}
			p.want(",")
		}
	}
	return out
}

func (p *parser) constant(kind string, d *export.Decl) {
	d.Name = p.name()
	d.Params = p.params()
	p.want(":")
	d.Type = p.term()
	if kind == "axiom" {
		d.Kind = export.Axiom
		return
	}
	p.want(":=")
	d.Value = p.term()
	switch kind {
	case "theorem":
		d.Kind = export.Theorem
	case "opaque":
		d.Kind = export.Opaque
	case "abbrev":
		d.Kind = export.Definition
		d.Hint.Kind = export.HintAbbrev
	case "def":
		d.Kind = export.Definition
		d.Hint = export.Hint{Kind: export.HintRegular, Height: p.height(d.Value)}
	}
	p.heights[d.Name] = d.Hint.Height
}

// height is one more than the greatest height of a definition that e mentions.
func (p *parser) height(e term.Expr) uint32 {
	h := uint32(0)
	p.s.Walk(e, map[term.Expr]bool{}, func(_ term.Expr, n *term.Node) bool {
		if n.Kind == term.Const {
			h = max(h, p.heights[term.Name(n.A)])
		}
		return true
	})
	return h + 1
}

func (p *parser) inductive(b *export.Block) {
	t := export.InductiveType{Name: p.name(), Params: p.params()}
	count, err := strconv.ParseUint(p.next(), 10, 16)
	if err != nil {
		p.fail("expected the number of parameters")
	}
	t.NumParams = uint32(count)
	p.want(":")
	t.Type = p.term()
	t.NumIndices = p.arity(t.Type, t.NumParams)
	for p.take("|") {
		k := export.Constructor{Induct: t.Name, Index: uint32(len(t.Ctors)), Params: t.Params, NumParams: t.NumParams}
		last, ok := p.s.ParseName(p.word())
		if !ok {
			p.fail("expected the name of a constructor")
		}
		text, _ := p.s.LastText(last)
		k.Name = p.s.Str(t.Name, text)
		p.want(":")
		k.Type = p.term()
		k.NumFields = p.arity(k.Type, k.NumParams)
		t.Ctors = append(t.Ctors, k.Name)
		b.Ctors = append(b.Ctors, k)
	}
	b.Types = append(b.Types, t)
}

// arity counts the leading binders of a type after the first n.
func (p *parser) arity(e term.Expr, n uint32) uint32 {
	k := uint32(0)
	for m := p.s.At(e); m.Kind == term.Pi; m = p.s.At(term.Expr(m.B)) {
		k++
	}
	return k - min(k, n)
}

// maxNesting bounds the nesting of terms and levels.
const maxNesting = 10_000

func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail("nested more than %d deep", maxNesting)
	}
}

func (p *parser) term() term.Expr {
	p.enter()
	defer func() { p.depth-- }()
	switch p.peek() {
	case "fun", "λ", "∀":
		return p.binders()
	case "let":
		p.at++
		name := p.word()
		p.want(":")
		typ := p.term()
		p.want(":=")
		value := p.term()
		p.want(";")
		p.bound = append(p.bound, name)
		body := p.term()
		p.bound = p.bound[:len(p.bound)-1]
		return p.s.Let(p.s.NameOf(name), typ, value, body)
	}
	left := p.application()
	if !p.take("→") {
		return left
	}
	p.bound = append(p.bound, "")
	right := p.term()
	p.bound = p.bound[:len(p.bound)-1]
	return p.s.Pi(term.Anonymous, term.Default, left, right)
}

func (p *parser) binders() term.Expr {
	lambda := p.next() != "∀"
	type binder struct {
		name string
		typ  term.Expr
	}
	var bs []binder
	for p.take("(") {
		var names []string
		for !p.take(":") {
			names = append(names, p.word())
		}
		start := p.at
		for _, n := range names {
			p.at = start // each name sees the ones before it
			bs = append(bs, binder{n, p.term()})
			p.bound = append(p.bound, n)
		}
		p.want(")")
	}
	if lambda {
		p.want("=>")
	} else {
		p.want(",")
	}
	e := p.term()
	for i := len(bs) - 1; i >= 0; i-- {
		n := p.s.NameOf(bs[i].name)
		if lambda {
			e = p.s.Lambda(n, term.Default, bs[i].typ, e)
		} else {
			e = p.s.Pi(n, term.Default, bs[i].typ, e)
		}
	}
	p.bound = p.bound[:len(p.bound)-len(bs)]
	return e
}

func (p *parser) application() term.Expr {
	e := p.atom()
	for p.startsAtom() {
		e = p.s.App(e, p.atom())
	}
	return e
}

func (p *parser) startsAtom() bool {
	t := p.peek()
	return t == "(" || t != "" && (t[0] == '"' || isWord(t))
}

func (p *parser) atom() term.Expr {
	t := p.next()
	switch {
	case t == "(":
		e := p.term()
		p.want(")")
		return e
	case t[0] == '"':
		text, err := strconv.Unquote(t)
		if err != nil || !utf8.ValidString(text) {
			p.fail("%s is no string", t)
		}
		return p.s.StrLit(text)
	case t[0] >= '0' && t[0] <= '9':
		n, ok := new(big.Int).SetString(t, 10)
		if !ok {
			p.fail("%q is no number", t)
		}
		return p.s.Nat(n)
	case t == "Prop":
		return p.s.Sort(term.Zero)
	case t == "Sort":
		return p.s.Sort(p.levelAtom())
	case t == "Type":
		if p.startsLevel() {
			return p.s.Sort(p.s.Succ(p.levelAtom()))
		}
		return p.s.Sort(p.s.Succ(term.Zero))
	case t == "proj":
		n := p.name()
		i, err := strconv.ParseUint(p.next(), 10, 32)
		if err != nil {
			p.fail("expected the number of a field")
		}
		return p.s.Proj(n, uint32(i), p.atom())
	case !isWord(t):
		p.at--
		p.fail("expected a term, found %q", t)
	}
	for i := len(p.bound) - 1; i >= 0; i-- {
		if p.bound[i] == t {
			return p.s.BVar(uint32(len(p.bound) - 1 - i))
		}
	}
	p.at--
	n := p.name()
	var levels []term.Level
	if p.take(".{") {
		for {
			levels = append(levels, p.level())
			if p.take("}") {
				break
			}
			p.want(",")
		}
	}
	return p.s.Const(n, p.s.LevelList(levels))
}

// startsLevel reports whether a level follows Type: a universe parameter, or a
// parenthesis with max, imax, a number or a parameter.
func (p *parser) startsLevel() bool {
	t := p.peek()
	if t != "(" {
		return p.universe[t]
	}
	if p.at+1 == len(p.tokens) {
		return false
	}
	t = p.tokens[p.at+1].text
	return t == "max" || t == "imax" || p.universe[t] || t[0] >= '0' && t[0] <= '9'
}

func (p *parser) level() term.Level {
	p.enter()
	defer func() { p.depth-- }()
	var l term.Level
	switch t := p.peek(); t {
	case "max", "imax":
		p.at++
		a, b := p.levelAtom(), p.levelAtom()
		if t == "max" {
			l = p.s.Max(a, b)
		} else {
			l = p.s.IMax(a, b)
		}
	default:
		l = p.levelAtom()
	}
	for p.take("+") {
		k, err := strconv.ParseUint(p.next(), 10, 8)
		if err != nil {
			p.fail("expected a small number")
		}
		for range k {
			l = p.s.Succ(l)
		}
	}
	return l
}

func (p *parser) levelAtom() term.Level {
	if p.take("(") {
		l := p.level()
		p.want(")")
		return l
	}
	if k, err := strconv.ParseUint(p.peek(), 10, 8); err == nil {
		p.at++
		l := term.Zero
		for range k {
			l = p.s.Succ(l)
		}
		return l
	}
	return p.s.Param(p.name())
}

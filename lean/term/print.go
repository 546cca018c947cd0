package term

import (
	"strconv"
	"strings"
)

// Format says how much of a term is printed.
type Format struct {
	Depth int // deeper subterms are printed as ⋯; 0 means 12
	Width int // the text is cut after about this many bytes; 0 means 400
}

// Print renders e for people: applications without implicit arguments being
// told apart, binders by name, names escaped. Terms that differ can print alike.
func (s *Store) Print(e Expr, f Format) string {
	if f.Depth == 0 {
		f.Depth = 12
	}
	if f.Width == 0 {
		f.Width = 400
	}
	p := printer{s: s, left: f.Width}
	p.expr(e, f.Depth, precLowest)
	return p.b.String()
}

// PrintLevel renders a universe level.
func (s *Store) PrintLevel(l Level) string {
	p := printer{s: s, left: 200}
	p.level(l, 12, false)
	return p.b.String()
}

const (
	precLowest = iota
	precArrow
	precApp
	precArg
)

type printer struct {
	s     *Store
	b     strings.Builder
	left  int
	bound []string
}

func (p *printer) write(text string) {
	if p.left <= 0 {
		return
	}
	if len(text) > p.left && p.left < 16 {
		text = "⋯"
		p.left = 0
	}
	p.left -= len(text)
	p.b.WriteString(text)
}

func (p *printer) open(paren bool) {
	if paren {
		p.write("(")
	}
}

func (p *printer) close(paren bool) {
	if paren {
		p.write(")")
	}
}

func (p *printer) expr(e Expr, depth, prec int) {
	if p.left <= 0 {
		return
	}
	if depth == 0 {
		p.write("⋯")
		return
	}
	s := p.s
	n := *s.At(e)
	switch n.Kind {
	case BVar:
		if i := len(p.bound) - 1 - int(n.A); i >= 0 {
			p.write(p.bound[i])
		} else {
			p.write("#" + strconv.Itoa(-i-1))
		}
	case FVar:
		p.write(p.binderName(n.Name))
	case Sort:
		p.sort(Level(n.A), prec)
	case Const:
		p.write(s.NameString(Name(n.A)))
	case NatLit:
		if v := s.NatValue(e); v.BitLen() <= 256 {
			p.write(v.String())
		} else {
			p.write("⟨a number of " + strconv.Itoa(v.BitLen()) + " bits⟩")
		}
	case StrLit:
		text := s.StrValue(e)
		if len(text) > 60 {
			text = text[:60] + "⋯"
		}
		p.write(strconv.QuoteToASCII(text))
	case App:
		p.app(e, depth, prec)
	case Lambda:
		p.open(prec > precLowest)
		p.write("fun ")
		p.binder(n, depth)
		p.write(" => ")
		p.under(n.Name, Expr(n.B), depth)
		p.close(prec > precLowest)
	case Pi:
		p.pi(n, depth, prec)
	case Let:
		p.open(prec > precLowest)
		p.write("let " + p.binderName(n.Name) + " := ")
		p.expr(Expr(n.B), depth-1, precLowest)
		p.write("; ")
		p.under(n.Name, Expr(n.C), depth)
		p.close(prec > precLowest)
	case Proj:
		p.expr(Expr(n.C), depth-1, precArg)
		p.write("." + strconv.Itoa(int(n.B)+1))
	}
}

func (p *printer) app(e Expr, depth, prec int) {
	var buf [8]Expr
	f, args := p.s.Spine(e, buf[:0])
	p.open(prec >= precArg)
	p.expr(f, depth-1, precApp)
	for _, a := range args {
		if p.left <= 0 {
			break
		}
		p.write(" ")
		p.expr(a, depth-1, precArg)
	}
	p.close(prec >= precArg)
}

func (p *printer) pi(n Node, depth, prec int) {
	p.open(prec >= precArrow)
	if n.Info == Default && !p.usesBVar0(Expr(n.B)) {
		p.expr(Expr(n.A), depth-1, precArrow)
		p.write(" → ")
	} else {
		p.write("∀ ")
		p.binder(n, depth)
		p.write(", ")
	}
	p.under(n.Name, Expr(n.B), depth)
	p.close(prec >= precArrow)
}

// usesBVar0 looks only at terms of moderate size; beyond, the dependent form is
// printed.
func (p *printer) usesBVar0(e Expr) bool {
	steps := 200
	var visit func(e Expr, i uint32) bool
	visit = func(e Expr, i uint32) bool {
		n := p.s.At(e)
		if n.Loose <= i {
			return false
		}
		if steps--; steps < 0 {
			return true
		}
		switch n.Kind {
		case BVar:
			return n.A == i
		case App:
			return visit(Expr(n.A), i) || visit(Expr(n.B), i)
		case Lambda, Pi:
			return visit(Expr(n.A), i) || visit(Expr(n.B), i+1)
		case Let:
			return visit(Expr(n.A), i) || visit(Expr(n.B), i) || visit(Expr(n.C), i+1)
		case Proj:
			return visit(Expr(n.C), i)
		}
		return false
	}
	return visit(e, 0)
}

func (p *printer) binder(n Node, depth int) {
	brackets := [...]string{"()", "{}", "⦃⦄", "[]"}[n.Info&3]
	half := len(brackets) / 2
	p.write(brackets[:half] + p.binderName(n.Name) + " : ")
	p.expr(Expr(n.A), depth-1, precLowest)
	p.write(brackets[half:])
}

func (p *printer) binderName(n Name) string {
	if n == Anonymous {
		return "_"
	}
	return p.s.NameString(n)
}

func (p *printer) under(name Name, body Expr, depth int) {
	p.bound = append(p.bound, p.binderName(name))
	p.expr(body, depth-1, precLowest)
	p.bound = p.bound[:len(p.bound)-1]
}

func (p *printer) sort(l Level, prec int) {
	base, k := p.s.peel(l)
	switch {
	case base == Zero && k == 0:
		p.write("Prop")
	case base == Zero && k == 1:
		p.write("Type")
	default:
		p.open(prec >= precArg)
		if k > 0 {
			p.write("Type ")
			l, _ = p.s.LevelArgs(l)
		} else {
			p.write("Sort ")
		}
		p.level(l, 12, true)
		p.close(prec >= precArg)
	}
}

func (p *printer) level(l Level, depth int, paren bool) {
	if depth == 0 {
		p.write("⋯")
		return
	}
	base, k := p.s.peel(l)
	if base == Zero {
		p.write(strconv.Itoa(k))
		return
	}
	n := *p.s.level(base)
	if n.kind == LevelParam {
		p.open(paren && k > 0)
		p.write(p.s.NameString(Name(n.a)))
	} else {
		p.open(paren)
		p.write(map[LevelKind]string{LevelMax: "max ", LevelIMax: "imax "}[n.kind])
		p.level(Level(n.a), depth-1, true)
		p.write(" ")
		p.level(Level(n.b), depth-1, true)
	}
	if k > 0 {
		p.write(" + " + strconv.Itoa(k))
	}
	p.close(paren && (k > 0 || n.kind != LevelParam))
}

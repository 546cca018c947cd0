package export

import "github.com/erdos1056/erdos1056/lean/term"

// maxHoist bounds the chain of declarations that are needed before their place.
const maxHoist = 1 << 14

// order brings the declarations of a text export into an order in which each
// comes after what it mentions. Text exports write axioms before what they
// mention, and the constructors of a type at some distance from it. A
// declaration with everything before it keeps its place; those in a cycle are
// left for the checker to reject.
func (b *builder) order() error {
	o := orderer{b: b, decls: b.file.Decls, state: make([]orderState, len(b.file.Decls)), at: map[term.Name]int{}}
	for i, d := range o.decls {
		if d.Kind != Inductive {
			o.at[d.Name] = i
			continue
		}
		for _, t := range d.Block.Types {
			o.at[t.Name] = i
		}
		for _, c := range d.Block.Ctors {
			o.at[c.Name] = i
		}
		for _, r := range d.Block.Recs {
			o.at[r.Name] = i
		}
	}
	for i := range o.decls {
		if o.state[i] == untouched {
			o.place(i, 0)
		}
	}
	b.file.Decls = o.out
	return o.err
}

type orderState uint8

const (
	untouched orderState = iota
	underWay
	placed
)

type orderer struct {
	b     *builder
	decls []Decl
	at    map[term.Name]int // where a name is declared
	state []orderState
	out   []Decl
	err   error
}

// place appends declaration i after what it needs.
func (o *orderer) place(i, depth int) {
	if depth > maxHoist {
		o.err = &Error{Reason: Limit, Line: o.decls[i].Line, Msg: "too many declarations are needed before their place"}
		return
	}
	o.state[i] = underWay
	d := &o.decls[i]
	for _, j := range o.needed(d) {
		if o.state[j] == untouched && o.err == nil {
			o.place(j, depth+1)
		}
	}
	o.state[i] = placed
	o.out = append(o.out, *d)
}

// needed returns the declarations whose constants d mentions.
func (o *orderer) needed(d *Decl) []int {
	var out []int
	seen := map[term.Expr]bool{}
	visit := func(e term.Expr) {
		o.b.store.Walk(e, seen, func(_ term.Expr, n *term.Node) bool {
			if n.Kind == term.Const || n.Kind == term.Proj {
				if j, ok := o.at[term.Name(n.A)]; ok {
					out = append(out, j)
				}
			}
			return true
		})
	}
	if d.Block == nil {
		visit(d.Type)
		if d.Kind == Definition || d.Kind == Theorem || d.Kind == Opaque {
			visit(d.Value)
		}
		return out
	}
	for _, t := range d.Block.Types {
		visit(t.Type)
	}
	for _, c := range d.Block.Ctors {
		visit(c.Type)
	}
	return out
}

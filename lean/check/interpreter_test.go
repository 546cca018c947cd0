package check

import (
	"errors"
	"math/big"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// An interpreter runs closed terms as a functional program: strictly, with
// environments instead of substitution, without types. It shares nothing with
// the checker but the terms, and serves as a second opinion on what is equal.
type interpreter struct {
	s     *term.Store
	defs  map[term.Name]*export.Decl
	ctors map[term.Name]int // constructors and their numbers of arguments
	recs  map[term.Name]*export.Recursor
	unary map[term.Name]int // constructors and their numbers of parameters
	fuel  int
}

type (
	// A runtime value is a *big.Int, a *made, a fun or nothing.
	value   any
	fun     func(value) value
	nothing struct{} // a type
	made    struct {
		ctor term.Name
		args []value
	}
)

var errStuck = errors.New("the interpreter cannot run this")

func newInterpreter(f *export.File) *interpreter {
	in := &interpreter{s: f.Store, defs: map[term.Name]*export.Decl{}, ctors: map[term.Name]int{}, recs: map[term.Name]*export.Recursor{}, unary: map[term.Name]int{}}
	for i := range f.Decls {
		d := &f.Decls[i]
		in.defs[d.Name] = d
		if d.Block == nil {
			continue
		}
		for _, k := range d.Block.Ctors {
			in.ctors[k.Name] = int(k.NumParams + k.NumFields)
			in.unary[k.Name] = int(k.NumParams)
		}
		for j := range d.Block.Recs {
			in.recs[d.Block.Recs[j].Name] = &d.Block.Recs[j]
		}
	}
	return in
}

// run returns the value of a closed term, and false if it takes too long or gets
// stuck.
func (in *interpreter) run(e term.Expr) (v value, ok bool) {
	in.fuel = 200_000
	defer func() {
		if p := recover(); p != nil {
			if p != errStuck {
				panic(p)
			}
			v, ok = nil, false
		}
	}()
	return in.eval(e, nil), true
}

func (in *interpreter) step() {
	if in.fuel--; in.fuel < 0 {
		panic(errStuck)
	}
}

func (in *interpreter) eval(e term.Expr, env []value) value {
	in.step()
	n := *in.s.At(e)
	switch n.Kind {
	case term.BVar:
		return env[len(env)-1-int(n.A)]
	case term.Sort, term.Pi:
		return nothing{}
	case term.NatLit:
		return in.s.NatValue(e)
	case term.Lambda:
		env := env[:len(env):len(env)]
		return fun(func(v value) value { return in.eval(term.Expr(n.B), append(env, v)) })
	case term.Let:
		return in.eval(term.Expr(n.C), append(env[:len(env):len(env)], in.eval(term.Expr(n.B), env)))
	case term.App:
		return in.apply(in.eval(term.Expr(n.A), env), in.eval(term.Expr(n.B), env))
	case term.Proj:
		if m, ok := in.eval(term.Expr(n.C), env).(*made); ok {
			return m.args[in.unary[m.ctor]+int(n.B)]
		}
	case term.Const:
		return in.constant(term.Name(n.A))
	}
	panic(errStuck)
}

func (in *interpreter) apply(f, a value) value {
	in.step()
	switch f := f.(type) {
	case fun:
		return f(a)
	case nothing:
		return f
	}
	panic(errStuck)
}

func (in *interpreter) constant(n term.Name) value {
	if r, ok := in.recs[n]; ok {
		return in.recursor(r)
	}
	if k, ok := in.ctors[n]; ok {
		return in.construct(n, k, nil)
	}
	d := in.defs[n]
	if d == nil {
		panic(errStuck)
	}
	switch d.Kind {
	case export.Definition, export.Theorem, export.Opaque:
		return in.eval(d.Value, nil)
	case export.Inductive:
		return nothing{}
	}
	panic(errStuck)
}

func (in *interpreter) construct(n term.Name, missing int, args []value) value {
	switch text := in.s.NameString(n); {
	case missing > 0:
		return fun(func(v value) value { return in.construct(n, missing-1, append(args[:len(args):len(args)], v)) })
	case text == "Nat.zero":
		return new(big.Int)
	case text == "Nat.succ":
		if k, ok := args[0].(*big.Int); ok {
			return new(big.Int).Add(k, big.NewInt(1))
		}
		panic(errStuck)
	}
	return &made{n, args}
}

func (in *interpreter) recursor(r *export.Recursor) value {
	premises := int(r.NumParams + r.NumMotives + r.NumMinors)
	total := premises + int(r.NumIndices) + 1
	var collect func(args []value) value
	collect = func(args []value) value {
		if len(args) < total {
			return fun(func(v value) value { return collect(append(args[:len(args):len(args)], v)) })
		}
		ctor, fields := in.match(r, args[total-1])
		for _, rule := range r.Rules {
			if rule.Ctor != ctor {
				continue
			}
			v := in.eval(rule.RHS, nil)
			for _, a := range append(args[:premises:premises], fields[len(fields)-int(rule.NumFields):]...) {
				v = in.apply(v, a)
			}
			return v
		}
		panic(errStuck)
	}
	return collect(nil)
}

// match takes a major premise apart.
func (in *interpreter) match(r *export.Recursor, major value) (term.Name, []value) {
	if r.K {
		return r.Rules[0].Ctor, nil
	}
	switch m := major.(type) {
	case *big.Int:
		if m.Sign() == 0 {
			return in.s.NameOf("Nat", "zero"), nil
		}
		return in.s.NameOf("Nat", "succ"), []value{new(big.Int).Sub(m, big.NewInt(1))}
	case *made:
		return m.ctor, m.args
	}
	panic(errStuck)
}

// same compares two values of data; ok is false if they hold functions.
func (in *interpreter) same(a, b value) (equal, ok bool) {
	switch x := a.(type) {
	case *big.Int:
		y, isNat := b.(*big.Int)
		return isNat && x.Cmp(y) == 0, isNat
	case *made:
		y, isMade := b.(*made)
		if !isMade || x.ctor != y.ctor || len(x.args) != len(y.args) {
			return false, isMade
		}
		for i := range x.args {
			if equal, ok := in.same(x.args[i], y.args[i]); !equal || !ok {
				return equal, ok
			}
		}
		return true, true
	case nothing:
		_, isNothing := b.(nothing)
		return true, isNothing
	}
	return false, false
}

// falseEquations returns the theorems of a file that state an equation between
// data which the interpreter finds to be false, and how many it could judge.
func falseEquations(f *export.File) (wrong []string, judged int) {
	in := newInterpreter(f)
	for _, d := range f.Decls {
		if d.Kind != export.Theorem {
			continue
		}
		h, args := f.Store.Spine(d.Type, nil)
		n := f.Store.At(h)
		if n.Kind != term.Const || f.Store.NameString(term.Name(n.A)) != "Eq" || len(args) != 3 {
			continue
		}
		a, okA := in.run(args[1])
		b, okB := in.run(args[2])
		if !okA || !okB {
			continue
		}
		equal, ok := in.same(a, b)
		if !ok {
			continue
		}
		judged++
		if !equal {
			wrong = append(wrong, f.Store.NameString(d.Name))
		}
	}
	return wrong, judged
}

package check

import (
	"fmt"
	"slices"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// addBlock checks declaration i, an inductive block, and makes its types,
// constructors and recursors known. It runs before any other checker uses the
// environment. Recursors are always built anew; the file's are only compared.
func (c *checker) addBlock(i int, b *export.Block) {
	first := b.Types[0]
	ord := declOrdinal(i)
	c.start(ord, first.Params)
	f := c.familyOf(b)
	consts := c.addTypes(ord, f)

	fc := newFamilyChecker(c, f)
	fc.checkTypes()
	c.bound = ord + 1
	for _, t := range f.types {
		for _, k := range t.ctors {
			c.sortOf(k.typ, true)
		}
	}
	recs, numFields := c.recursors(fc)
	recursive := fc.recursiveFamily()
	for j, k := range consts {
		k.ind.numIndices = fc.numIndices[j]
		k.ind.recursive = recursive
	}
	c.addCtors(ord+1, f, numFields)
	recConsts := c.addRecursors(ord+2, recs)

	c.start(ord+3, first.Params)
	c.compareCounts(b, consts, numFields)
	c.compareRecursors(b, recConsts)
	if len(recs) > len(f.types) {
		c.checkRecursors(recConsts)
	}
}

// familyOf matches the constructors of a block with its types.
func (c *checker) familyOf(b *export.Block) *family {
	if len(b.Types) > maxTypes || len(b.Ctors) > maxCtors {
		panic(&term.LimitError{What: fmt.Sprintf("a block has more than %d types or %d constructors", maxTypes, maxCtors)})
	}
	first := b.Types[0]
	f := &family{params: first.Params, numParams: int(first.NumParams)}
	byName := map[term.Name]export.Constructor{}
	for _, k := range b.Ctors {
		if _, ok := byName[k.Name]; ok {
			reject("name clash", "two constructors are named %s", c.nameString(k.Name))
		}
		byName[k.Name] = k
	}
	claimed := 0
	for _, t := range b.Types {
		if t.NumParams != first.NumParams {
			reject("inductive parameters", "the types of a mutual block have different numbers of parameters")
		}
		if !slices.Equal(t.Params, first.Params) {
			reject("universe parameter", "the types of a mutual block have different universe parameters")
		}
		ft := familyType{name: t.Name, typ: t.Type}
		for j, n := range t.Ctors {
			k, ok := byName[n]
			if !ok {
				reject("constructor", "%s names a constructor %s that the block lacks", c.nameString(t.Name), c.nameString(n))
			}
			if k.Induct != t.Name || int(k.Index) != j || k.NumParams != t.NumParams {
				reject("constructor", "%s is not described as constructor %d of %s", c.nameString(n), j, c.nameString(t.Name))
			}
			if !slices.Equal(k.Params, first.Params) {
				reject("universe parameter", "%s has other universe parameters than its type", c.nameString(n))
			}
			ft.ctors = append(ft.ctors, familyCtor{n, k.Type})
			claimed++
		}
		f.types = append(f.types, ft)
	}
	if claimed != len(b.Ctors) {
		reject("constructor", "a constructor of the block of %s belongs to none of its types, or to two", c.nameString(first.Name))
	}
	for _, t := range f.types {
		needClosed(c.s, t.typ)
		for _, k := range t.ctors {
			needClosed(c.s, k.typ)
		}
	}
	return f
}

func needClosed(s *term.Store, e term.Expr) {
	if s.Loose(e) > 0 {
		reject("loose variable", "a bound variable has no binder")
	}
}

func (c *checker) add(k *constant) *constant {
	if !c.env.add(k) {
		reject("name clash", "%s is declared already", c.nameString(k.name))
	}
	return k
}

func (c *checker) addTypes(ord ordinal, f *family) []*constant {
	var out []*constant
	var block []term.Name
	for _, t := range f.types {
		block = append(block, t.name)
	}
	for _, t := range f.types {
		info := &inductiveInfo{numParams: f.numParams, block: block, recursive: true}
		for _, k := range t.ctors {
			info.ctors = append(info.ctors, k.name)
		}
		out = append(out, c.add(&constant{kind: inductiveConst, name: t.name, ord: ord, params: f.params, typ: t.typ, ind: info}))
	}
	return out
}

// recursors checks the constructors and builds the recursors, those of the
// auxiliary types of a nested block last. It also returns the numbers of fields
// of the constructors by type.
func (c *checker) recursors(fc *familyChecker) ([]recursor, [][]int) {
	u := unnest(c, fc.f, fc.vars, fc.levels)
	if u == nil {
		fc.checkCtors()
		return fc.buildRecursors(), fc.fields
	}
	c.overlay = map[term.Name]*constant{}
	for _, t := range u.f.types[u.own:] {
		c.overlay[t.name] = &constant{kind: inductiveConst, name: t.name, params: u.f.params, typ: t.typ,
			ind: &inductiveInfo{numParams: u.f.numParams, recursive: true}}
	}
	all := newFamilyChecker(c, u.f)
	for k := range u.aux {
		all.recNames[u.own+k] = c.s.Str(fc.f.types[0].name, auxiliaryRec(k+1))
	}
	all.checkTypes()
	all.checkCtors()
	recs := all.buildRecursors()
	for i := range recs {
		r := &recs[i]
		r.typ = u.restore(r.typ, term.Pi)
		if i >= u.own {
			r.info.induct = term.Name(c.s.At(c.s.Head(u.aux[i-u.own].app)).A)
		}
		for j := range r.info.rules {
			rule := &r.info.rules[j]
			rule.rhs = u.restore(rule.rhs, term.Lambda)
			if i >= u.own {
				rule.ctor = u.aux[i-u.own].ctor[rule.ctor]
			}
		}
	}
	return recs, all.fields[:u.own]
}

// recursiveFamily reports whether a field of a constructor mentions a type of
// the family.
func (fc *familyChecker) recursiveFamily() bool {
	for _, t := range fc.f.types {
		for _, k := range t.ctors {
			fields, _ := fc.openCtor(k)
			for _, v := range fields {
				if fc.mentions(term.Expr(fc.c.s.At(v).B)) {
					return true
				}
			}
		}
	}
	return false
}

func (c *checker) addCtors(ord ordinal, f *family, numFields [][]int) {
	for i, t := range f.types {
		for j, k := range t.ctors {
			c.add(&constant{kind: ctorConst, name: k.name, ord: ord, params: f.params, typ: k.typ,
				ctor: &ctorInfo{induct: t.name, numParams: f.numParams, numFields: numFields[i][j]}})
		}
	}
}

// addRecursors brings the recursors into the store that all checkers share. The
// checker's own terms are invalid afterwards.
func (c *checker) addRecursors(ord ordinal, recs []recursor) []*constant {
	var out []*constant
	to := c.env.store
	for i := range recs {
		r := recs[i]
		k := &constant{kind: recConst, name: to.CopyName(c.s, r.name), ord: ord, typ: to.Copy(c.s, r.typ), rec: &r.info}
		for _, p := range r.params {
			k.params = append(k.params, to.CopyName(c.s, p))
		}
		for j := range r.info.rules {
			r.info.rules[j].rhs = to.Copy(c.s, r.info.rules[j].rhs)
		}
		out = append(out, c.add(k))
	}
	return out
}

// compareCounts compares what the file says about types and constructors with
// what was derived.
func (c *checker) compareCounts(b *export.Block, consts []*constant, numFields [][]int) {
	fields := map[term.Name]int{}
	for i, t := range b.Types {
		if int(t.NumIndices) != consts[i].ind.numIndices {
			reject("inductive type", "%s has %d indices, the file says %d", c.nameString(t.Name), consts[i].ind.numIndices, t.NumIndices)
		}
		for j, k := range t.Ctors {
			fields[k] = numFields[i][j]
		}
	}
	for _, k := range b.Ctors {
		if int(k.NumFields) != fields[k.Name] {
			reject("constructor", "%s has %d fields, the file says %d", c.nameString(k.Name), fields[k.Name], k.NumFields)
		}
	}
}

// compareRecursors compares the recursors of the file with those derived.
func (c *checker) compareRecursors(b *export.Block, recs []*constant) {
	derived := map[term.Name]*constant{}
	for _, r := range recs {
		derived[r.name] = r
	}
	seen := map[term.Name]bool{}
	for _, claim := range b.Recs {
		if seen[claim.Name] {
			reject("recursor", "%s is declared twice", c.nameString(claim.Name))
		}
		seen[claim.Name] = true
		k := derived[claim.Name]
		if k == nil {
			reject("recursor", "%s is no recursor of this block", c.nameString(claim.Name))
		}
		c.compareRecursor(&claim, k)
	}
	if !b.Partial {
		for _, r := range recs {
			if !seen[r.name] {
				reject("recursor", "%s is missing from the file", c.nameString(r.name))
			}
		}
	}
}

func (c *checker) compareRecursor(claim *export.Recursor, k *constant) {
	name := c.nameString(claim.Name)
	rec := k.rec
	for _, n := range []struct {
		what        string
		claim, real int
	}{
		{"universe parameters", len(claim.Params), len(k.params)},
		{"parameters", int(claim.NumParams), rec.numParams},
		{"indices", int(claim.NumIndices), rec.numIndices},
		{"motives", int(claim.NumMotives), rec.numMotives},
		{"minor premises", int(claim.NumMinors), rec.numMinors},
		{"rules", len(claim.Rules), len(rec.rules)},
	} {
		if n.claim != n.real {
			reject("recursor", "%s has %d %s, the file says %d", name, n.real, n.what, n.claim)
		}
	}
	if claim.K != rec.k {
		reject("recursor", "rule K of %s is %t, the file says %t", name, rec.k, claim.K)
	}
	needDistinct(c.s, claim.Params)
	levels := make([]term.Level, len(claim.Params))
	for i, p := range claim.Params {
		levels[i] = c.s.Param(p)
	}
	c.setParams(claim.Params)
	if have := c.s.SubstLevels(k.typ, k.params, levels); !c.claimHolds(have, claim.Type) {
		c.rejectTerms("recursor", name+" has another type than the file says", "derived", have, "file", claim.Type)
	}
	for i, rule := range rec.rules {
		if claim.Rules[i].Ctor != rule.ctor || int(claim.Rules[i].NumFields) != rule.numFields {
			reject("recursor", "rule %d of %s is for %s with %d fields, the file says %s with %d", i+1, name,
				c.nameString(rule.ctor), rule.numFields, c.nameString(claim.Rules[i].Ctor), claim.Rules[i].NumFields)
		}
		if have := c.s.SubstLevels(rule.rhs, k.params, levels); !c.claimHolds(have, claim.Rules[i].RHS) {
			c.rejectTerms("recursor", "the rule of "+name+" for "+c.nameString(rule.ctor)+" is another than the file says",
				"derived", have, "file", claim.Rules[i].RHS)
		}
	}
}

// claimHolds reports whether a term of the file is what was derived. It is
// checked first: to compare what has no type may take forever.
func (c *checker) claimHolds(derived, claim term.Expr) (holds bool) {
	if claim == derived {
		return true
	}
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(*Rejection); !ok {
				panic(p)
			}
			holds = false
		}
	}()
	needClosed(c.s, claim)
	c.check(claim)
	return c.defeq(derived, claim)
}

// checkRecursors type-checks recursors that were translated back from a family
// with auxiliary types: their types, and that each rule keeps the type.
func (c *checker) checkRecursors(recs []*constant) {
	s := c.s
	for _, k := range recs {
		c.setParams(k.params)
		c.sortOf(k.typ, true)
		var levels []term.Level
		for _, p := range k.params {
			levels = append(levels, s.Param(p))
		}
		for _, rule := range k.rec.rules {
			t := c.check(rule.rhs)
			fields := k.rec.numParams + k.rec.numMotives + k.rec.numMinors + rule.numFields
			want := c.ruleType(k, rule, s.LevelList(levels), fields)
			if t != want && !c.defeq(t, want) {
				c.rejectTerms("recursor", "a rule of "+c.nameString(k.name)+" does not keep the type", "rule", t, "expected", want)
			}
		}
	}
}

// ruleType returns the type of the recursor applied to the constructor of a
// rule, as a function of what the rule is a function of.
func (c *checker) ruleType(k *constant, rule recRule, levels term.Levels, binders int) term.Expr {
	s := c.s
	var vars []term.Expr
	body := rule.rhs
	for i := 0; i < binders; i++ {
		n := *s.At(body)
		if n.Kind != term.Lambda {
			reject("recursor", "a rule of %s takes too few arguments", c.nameString(k.name))
		}
		vars = append(vars, s.FVar(uint32(i), n.Name, s.Instantiate(term.Expr(n.A), vars)))
		body = term.Expr(n.B)
	}
	premises := vars[:binders-rule.numFields]
	// The constructor's parameters show in the type of the premise for it.
	major := c.majorFor(k, rule, vars)
	_, indices := s.Spine(c.whnf(c.infer(major)), nil)
	indices = indices[len(indices)-k.rec.numIndices:]
	e := s.Apps(s.Apps(s.Const(k.name, levels), premises...), indices...)
	return s.Pis(vars, c.infer(s.App(e, major)))
}

// majorFor returns the constructor of a rule applied to the fields. Its
// parameters are read off the type of the recursor's major premise.
func (c *checker) majorFor(k *constant, rule recRule, vars []term.Expr) term.Expr {
	s := c.s
	premises := vars[:len(vars)-rule.numFields]
	typ := c.applyPis(k.typ, premises)
	level := uint32(len(vars))
	var indices []term.Expr
	for range k.rec.numIndices {
		n := *s.At(typ)
		v := s.FVar(level, n.Name, s.Instantiate(term.Expr(n.A), indices))
		indices = append(indices, v)
		level++
		typ = term.Expr(n.B)
	}
	f, args := s.Spine(s.Instantiate(term.Expr(s.At(typ).A), indices), nil)
	ind := c.lookup(k.rec.induct)
	ctor := s.Const(rule.ctor, term.Levels(s.At(f).B))
	return s.Apps(s.Apps(ctor, args[:ind.ind.numParams]...), vars[len(vars)-rule.numFields:]...)
}

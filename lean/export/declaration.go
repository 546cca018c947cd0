package export

import "github.com/erdos1056/erdos1056/lean/term"

// declaration reads the content of a declaration of the given kind.
func (r *jsonReader) declaration(kind string) error {
	if r.old {
		switch kind {
		case "axiomInfo":
			kind = "axiom"
		case "quotInfo":
			kind = "quot"
		case "def", "thm", "opaque":
			if r.peek() != '[' {
				break
			}
			var err error
			r.elements(func() {
				if err == nil {
					err = r.constant(kind)
				}
				if err != nil && r.err == nil {
					r.err = err
				}
			})
			return err
		case "axiom", "quot":
			return malformed("%q is not a kind of format 3.0.0", kind)
		}
	}
	switch kind {
	case "axiom", "def", "thm", "opaque", "quot":
		return r.constant(kind)
	case "inductive":
		return r.inductive()
	}
	return unsupported("unknown kind of record %.60q", kind)
}

var constantFields = []string{"name", "levelParams", "type", "value", "hints", "safety", "all", "isUnsafe", "kind"}

const (
	fieldName = iota
	fieldParams
	fieldType
	fieldValue
	fieldHints
	fieldSafety
	fieldAll
	fieldIsUnsafe
	fieldKind
)

// constant reads a declaration that declares one constant.
func (r *jsonReader) constant(kind string) error {
	var name, typ, value uint64
	var params, all []uint64
	var d Decl
	var seen uint32
	optional := uint32(1<<fieldAll | 1<<fieldIsUnsafe | 1<<fieldHints | 1<<fieldSafety | 1<<fieldKind)
	switch kind {
	case "axiom", "quot":
		optional |= 1 << fieldValue
	}
	r.fields(constantFields, optional, func(i int) {
		seen |= 1 << i
		switch i {
		case fieldName:
			name = r.uint()
		case fieldParams:
			params = r.uints()
		case fieldType:
			typ = r.uint()
		case fieldValue:
			value = r.uint()
		case fieldHints:
			d.Hint = r.hint()
		case fieldSafety:
			d.Unsafe = r.safety() || d.Unsafe
		case fieldAll:
			all = r.uints()
		case fieldIsUnsafe:
			d.Unsafe = r.bool() || d.Unsafe
		case fieldKind:
			d.Quot = r.quotKind()
		}
	})
	if r.err != nil {
		return r.err
	}
	has := func(field int) bool { return seen&(1<<field) != 0 }
	switch kind {
	case "axiom":
		d.Kind = Axiom
	case "thm":
		d.Kind = Theorem
	case "opaque":
		d.Kind = Opaque
	case "quot":
		d.Kind = Quotient
	case "def":
		d.Kind = Definition
		if r.old && !has(fieldHints) && !has(fieldSafety) {
			d.Kind = Opaque // groups of 3.0.0 mix the two
		}
	}
	switch {
	case d.Kind == Definition && !(has(fieldHints) && has(fieldSafety)):
		return malformed(`a definition needs "hints" and "safety"`)
	case d.Kind != Definition && has(fieldHints):
		return malformed(`"hints" belongs to definitions only`)
	case (d.Kind == Quotient) != has(fieldKind):
		return malformed(`"kind" belongs to quotient constants, and must be there`)
	case (d.Kind == Axiom || d.Kind == Quotient) && has(fieldValue):
		return malformed("a declaration of this kind has no value")
	}
	if _, err := r.nameList(all); err != nil {
		return err
	}
	var err error
	if d.Name, err = r.name(name); err != nil {
		return err
	}
	if d.Params, err = r.nameList(params); err != nil {
		return err
	}
	if d.Type, err = r.expr(typ); err != nil {
		return err
	}
	if has(fieldValue) {
		if d.Value, err = r.expr(value); err != nil {
			return err
		}
	}
	r.declare(d)
	return nil
}

var hintFields = []string{"regular"}

func (r *jsonReader) hint() Hint {
	if r.peek() == '{' {
		var height uint64
		r.fields(hintFields, 0, func(int) { height = r.uint() })
		return Hint{HintRegular, uint32(min(height, maxIndex))}
	}
	switch string(r.rawString()) {
	case "opaque":
	case "abbrev":
		return Hint{Kind: HintAbbrev}
	default:
		r.fail("unknown reducibility hint")
	}
	return Hint{}
}

func (r *jsonReader) safety() (unsafe bool) {
	switch string(r.rawString()) {
	case "safe":
		return false
	case "unsafe", "partial":
		return true
	}
	r.fail("unknown safety")
	return true
}

func (r *jsonReader) quotKind() QuotKind {
	switch string(r.rawString()) {
	case "type":
		return QuotType
	case "ctor":
		return QuotMk
	case "lift":
		return QuotLift
	case "ind":
		return QuotInd
	}
	r.fail("unknown kind of quotient constant")
	return QuotType
}

var (
	blockFields    = []string{"types", "ctors", "recs"}
	oldBlockFields = []string{"inductiveVals", "constructorVals", "recursorVals"}
	typeFields     = []string{"name", "levelParams", "type", "numParams", "numIndices", "all", "ctors", "numNested", "isRec", "isUnsafe", "isReflexive"}
	ctorFields     = []string{"name", "levelParams", "type", "induct", "cidx", "numParams", "numFields", "isUnsafe"}
	recFields      = []string{"name", "levelParams", "type", "all", "numParams", "numIndices", "numMotives", "numMinors", "rules", "k", "isUnsafe"}
	ruleFields     = []string{"ctor", "nfields", "rhs"}
)

func (r *jsonReader) inductive() error {
	names := blockFields
	if r.old {
		names = oldBlockFields
	}
	var block Block
	var err error
	each := func(read func() error) {
		r.elements(func() {
			if e := read(); e != nil && r.err == nil {
				r.err = e
			}
		})
	}
	r.fields(names, 0, func(i int) {
		switch i {
		case 0:
			each(func() error {
				t, err := r.inductiveType()
				block.Types = append(block.Types, t)
				return err
			})
		case 1:
			each(func() error {
				c, err := r.constructor()
				block.Ctors = append(block.Ctors, c)
				return err
			})
		case 2:
			each(func() error {
				rec, err := r.recursor()
				block.Recs = append(block.Recs, rec)
				return err
			})
		}
	})
	if r.err != nil {
		return r.err
	}
	if err == nil {
		err = r.declareBlock(&block)
	}
	return err
}

// head resolves the parts that every constant has.
func (r *jsonReader) head(name, typ uint64, params []uint64) (n term.Name, t term.Expr, ps []term.Name, err error) {
	if r.err != nil {
		return 0, 0, nil, r.err
	}
	if n, err = r.name(name); err != nil {
		return
	}
	if t, err = r.expr(typ); err != nil {
		return
	}
	ps, err = r.nameList(params)
	return
}

func (r *jsonReader) count32() uint32 {
	n, err := r.count(r.uint(), "count")
	if err != nil && r.err == nil {
		r.err = err
	}
	return n
}

func (r *jsonReader) inductiveType() (t InductiveType, err error) {
	var name, typ uint64
	var params, all, ctors []uint64
	r.fields(typeFields, 1<<5|1<<7|1<<8|1<<9|1<<10, func(i int) {
		switch i {
		case 0:
			name = r.uint()
		case 1:
			params = r.uints()
		case 2:
			typ = r.uint()
		case 3:
			t.NumParams = r.count32()
		case 4:
			t.NumIndices = r.count32()
		case 5:
			all = r.uints()
		case 6:
			ctors = r.uints()
		case 7:
			t.NumNested = r.count32()
		case 8:
			t.Recursive = r.bool()
		case 9:
			t.Unsafe = r.bool()
		case 10:
			t.Reflexive = r.bool()
		}
	})
	if t.Name, t.Type, t.Params, err = r.head(name, typ, params); err != nil {
		return t, err
	}
	if _, err = r.nameList(all); err != nil {
		return t, err
	}
	t.Ctors, err = r.nameList(ctors)
	return t, err
}

func (r *jsonReader) constructor() (c Constructor, err error) {
	var name, typ, induct uint64
	var params []uint64
	r.fields(ctorFields, 1<<7, func(i int) {
		switch i {
		case 0:
			name = r.uint()
		case 1:
			params = r.uints()
		case 2:
			typ = r.uint()
		case 3:
			induct = r.uint()
		case 4:
			c.Index = r.count32()
		case 5:
			c.NumParams = r.count32()
		case 6:
			c.NumFields = r.count32()
		case 7:
			c.Unsafe = r.bool()
		}
	})
	if c.Name, c.Type, c.Params, err = r.head(name, typ, params); err != nil {
		return c, err
	}
	c.Induct, err = r.name(induct)
	return c, err
}

func (r *jsonReader) recursor() (rec Recursor, err error) {
	var name, typ uint64
	var params, all []uint64
	r.fields(recFields, 1<<3|1<<10, func(i int) {
		switch i {
		case 0:
			name = r.uint()
		case 1:
			params = r.uints()
		case 2:
			typ = r.uint()
		case 3:
			all = r.uints()
		case 4:
			rec.NumParams = r.count32()
		case 5:
			rec.NumIndices = r.count32()
		case 6:
			rec.NumMotives = r.count32()
		case 7:
			rec.NumMinors = r.count32()
		case 8:
			r.elements(func() {
				rule, e := r.rule()
				rec.Rules = append(rec.Rules, rule)
				if e != nil && r.err == nil {
					r.err = e
				}
			})
		case 9:
			rec.K = r.bool()
		case 10:
			rec.Unsafe = r.bool()
		}
	})
	if rec.Name, rec.Type, rec.Params, err = r.head(name, typ, params); err != nil {
		return rec, err
	}
	_, err = r.nameList(all)
	return rec, err
}

func (r *jsonReader) rule() (rule Rule, err error) {
	var ctor, rhs uint64
	r.fields(ruleFields, 0, func(i int) {
		switch i {
		case 0:
			ctor = r.uint()
		case 1:
			rule.NumFields = r.count32()
		case 2:
			rhs = r.uint()
		}
	})
	if r.err != nil {
		return rule, r.err
	}
	if rule.Ctor, err = r.name(ctor); err != nil {
		return rule, err
	}
	rule.RHS, err = r.expr(rhs)
	return rule, err
}

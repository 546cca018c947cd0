package export

import (
	"strings"

	"github.com/erdos1056/erdos1056/lean/term"
)

// jsonReader reads the records of NDJSON 3.1.x and 3.0.0. They differ in the
// keys of some declarations.
type jsonReader struct {
	*builder
	scanner
	old bool // 3.0.0
}

// meta reads the first line and checks the version.
func (r *jsonReader) meta(line []byte) error {
	m := &r.file.Meta
	found, format := false, false
	r.reset(line)
	r.members(func(key []byte) {
		if string(key) != "meta" {
			r.skip(100)
			return
		}
		found = true
		r.members(func(key []byte) {
			switch string(key) {
			case "format":
				format = true
				r.versions(map[string]*string{"version": &m.Format})
			case "exporter":
				r.versions(map[string]*string{"name": &m.Exporter, "version": &m.ExporterVersion})
			case "lean":
				r.versions(map[string]*string{"version": &m.Lean, "githash": &m.LeanHash})
			default:
				r.skip(100)
			}
		})
	})
	r.end()
	switch {
	case r.err != nil:
		return r.err
	case !found:
		return unsupported(`the first line has no "meta"; expected a lean4export file of format 3.1.x, 3.0.0 or 2.0.0`)
	case !format:
		return unsupported("the file names no format version (exporter %.60q, Lean %.60q): a draft before 3.0.0; export it again with lean4export 3.1.0 or newer", m.ExporterVersion, m.Lean)
	case m.Format == "3.0.0":
		r.old = true
	case !strings.HasPrefix(m.Format, "3.1."):
		return unsupported("format version %.60q is not supported; supported are 3.1.x, 3.0.0 and text 2.0.0", m.Format)
	}
	return nil
}

func (r *jsonReader) versions(into map[string]*string) {
	r.members(func(key []byte) {
		if p := into[string(key)]; p != nil {
			*p = r.string()
			return
		}
		r.skip(100)
	})
}

// record reads one line after the first.
func (r *jsonReader) record(line []byte) error {
	r.reset(line)
	var space string // "in", "il" or "ie"
	var index uint64
	var handle uint32
	var primitive string // the index space the record's content belongs to
	kinds := 0
	var err error
	r.members(func(key []byte) {
		switch string(key) {
		case "in", "il", "ie":
			if space != "" {
				r.fail("a record has two indices")
			}
			space = string(key)
			index = r.uint()
			return
		}
		kinds++
		if kinds > 1 {
			r.fail("a record has two kinds")
			return
		}
		kind := string(key)
		if handle, primitive, err = r.primitive(kind); err == nil && primitive == "" && r.err == nil {
			err = r.declaration(kind)
		}
		if err != nil && r.err == nil {
			r.err = err
		}
	})
	r.end()
	switch {
	case r.err != nil:
		return r.err
	case kinds == 0:
		return malformed("a record without a kind")
	case primitive != space:
		return malformed("a record has index space %q, expected %q", space, primitive)
	case space == "in":
		return r.names.define(index, handle)
	case space == "il":
		return r.levels.define(index, handle)
	case space == "ie":
		return r.exprs.define(index, handle)
	}
	return nil
}

// primitive reads the content of a name, level or expression and returns its
// handle and index space. For a declaration it reads nothing and returns "".
func (r *jsonReader) primitive(kind string) (uint32, string, error) {
	switch kind {
	case "str", "num":
		n, err := r.nameRecord(kind)
		return uint32(n), "in", err
	case "succ", "max", "imax", "param":
		l, err := r.levelRecord(kind)
		return uint32(l), "il", err
	case "bvar", "sort", "const", "app", "lam", "forallE", "letE", "proj", "natVal", "strVal", "mdata":
		e, err := r.exprRecord(kind)
		return uint32(e), "ie", err
	}
	return 0, "", nil
}

var (
	strFields   = []string{"pre", "str"}
	numFields   = []string{"pre", "i"}
	constFields = []string{"name", "us"}
	appFields   = []string{"fn", "arg"}
	bindFields  = []string{"name", "type", "body", "binderInfo"}
	letFields   = []string{"name", "type", "value", "body", "nondep"}
	projFields  = []string{"typeName", "idx", "struct"}
	mdataFields = []string{"expr", "data"}
)

func (r *jsonReader) nameRecord(kind string) (term.Name, error) {
	var parent, number uint64
	var text string
	if kind == "num" {
		r.fields(numFields, 0, func(i int) {
			if i == 0 {
				parent = r.uint()
			} else {
				number = r.uint()
			}
		})
	} else {
		r.fields(strFields, 0, func(i int) {
			if i == 0 {
				parent = r.uint()
			} else {
				text = r.string()
			}
		})
	}
	if r.err != nil {
		return 0, r.err
	}
	p, err := r.name(parent)
	if err != nil {
		return 0, err
	}
	if kind == "num" {
		return r.store.Num(p, number), nil
	}
	return r.store.Str(p, text), nil
}

func (r *jsonReader) levelRecord(kind string) (term.Level, error) {
	if kind == "succ" || kind == "param" {
		i := r.uint()
		if r.err != nil {
			return 0, r.err
		}
		if kind == "param" {
			n, err := r.name(i)
			if err != nil {
				return 0, err
			}
			return r.store.Param(n), nil
		}
		l, err := r.level(i)
		if err != nil {
			return 0, err
		}
		return r.store.Succ(l), nil
	}
	pair := r.uints()
	if r.err != nil {
		return 0, r.err
	}
	if len(pair) != 2 {
		return 0, malformed("%q needs two levels", kind)
	}
	a, err := r.level(pair[0])
	if err != nil {
		return 0, err
	}
	b, err := r.level(pair[1])
	if err != nil {
		return 0, err
	}
	if kind == "max" {
		return r.store.Max(a, b), nil
	}
	return r.store.IMax(a, b), nil
}

func (r *jsonReader) exprRecord(kind string) (term.Expr, error) {
	switch kind {
	case "app":
		var f, a uint64
		r.fields(appFields, 0, func(i int) {
			if i == 0 {
				f = r.uint()
			} else {
				a = r.uint()
			}
		})
		if r.err != nil {
			return 0, r.err
		}
		return r.appExpr(f, a)
	case "lam", "forallE":
		return r.binderRecord(kind)
	case "const":
		return r.constRecord()
	case "letE":
		return r.letRecord()
	case "proj":
		return r.projRecord()
	case "mdata":
		var inner uint64
		r.fields(mdataFields, 0, func(i int) {
			if i == 0 {
				inner = r.uint()
			} else {
				r.skip(100)
			}
		})
		if r.err != nil {
			return 0, r.err
		}
		return r.expr(inner)
	case "natVal":
		digits := r.string()
		if r.err != nil {
			return 0, r.err
		}
		return r.nat(digits)
	case "strVal":
		text := r.string()
		if r.err != nil {
			return 0, r.err
		}
		return r.store.StrLit(text), nil
	}
	i := r.uint()
	if r.err != nil {
		return 0, r.err
	}
	if kind == "bvar" {
		return r.bvar(i)
	}
	l, err := r.level(i)
	if err != nil {
		return 0, err
	}
	return r.store.Sort(l), nil
}

func (r *jsonReader) binderRecord(kind string) (term.Expr, error) {
	var name, typ, body uint64
	info := term.Default
	r.fields(bindFields, 0, func(i int) {
		switch i {
		case 0:
			name = r.uint()
		case 1:
			typ = r.uint()
		case 2:
			body = r.uint()
		case 3:
			switch string(r.rawString()) {
			case "default":
			case "implicit":
				info = term.Implicit
			case "strictImplicit":
				info = term.StrictImplicit
			case "instImplicit":
				info = term.InstImplicit
			default:
				r.fail("unknown binder annotation")
			}
		}
	})
	if r.err != nil {
		return 0, r.err
	}
	if kind == "lam" {
		return r.binderExpr(term.Lambda, info, name, typ, body)
	}
	return r.binderExpr(term.Pi, info, name, typ, body)
}

func (r *jsonReader) constRecord() (term.Expr, error) {
	var name uint64
	var us []uint64
	r.fields(constFields, 0, func(i int) {
		if i == 0 {
			name = r.uint()
		} else {
			us = r.uints()
		}
	})
	if r.err != nil {
		return 0, r.err
	}
	return r.constExpr(name, us)
}

func (r *jsonReader) letRecord() (term.Expr, error) {
	var at [4]uint64
	r.fields(letFields, 1<<4, func(i int) {
		if i == 4 {
			r.bool()
			return
		}
		at[i] = r.uint()
	})
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.name(at[0])
	if err != nil {
		return 0, err
	}
	var parts [3]term.Expr
	for i := range parts {
		if parts[i], err = r.expr(at[i+1]); err != nil {
			return 0, err
		}
	}
	return r.store.Let(n, parts[0], parts[1], parts[2]), nil
}

func (r *jsonReader) projRecord() (term.Expr, error) {
	var at [3]uint64
	r.fields(projFields, 0, func(i int) { at[i] = r.uint() })
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.name(at[0])
	if err != nil {
		return 0, err
	}
	idx, err := r.count(at[1], "field index")
	if err != nil {
		return 0, err
	}
	e, err := r.expr(at[2])
	if err != nil {
		return 0, err
	}
	return r.store.Proj(n, idx, e), nil
}

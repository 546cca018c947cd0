package term

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Name is the handle of a hierarchical name: a list of components, each a
// string or a number. Names are equal exactly if their components are; the
// printed form does not identify a name, because a component may contain dots,
// line breaks or anything else. The zero Name is the anonymous name.
type Name uint32

// Anonymous is the name without components.
const Anonymous Name = 0

type nameNode struct {
	parent Name
	number uint64
	text   string
	isText bool
}

// Str returns the name parent followed by the string component text.
func (s *Store) Str(parent Name, text string) Name {
	return s.internName(nameNode{parent: parent, text: text, isText: true})
}

// Num returns the name parent followed by the numeric component number.
func (s *Store) Num(parent Name, number uint64) Name {
	return s.internName(nameNode{parent: parent, number: number})
}

// NameOf returns the name with the given string components.
func (s *Store) NameOf(components ...string) Name {
	n := Anonymous
	for _, c := range components {
		n = s.Str(n, c)
	}
	return n
}

// LookupName is NameOf, but makes nothing: it reports false if the store holds
// no such name.
func (s *Store) LookupName(components ...string) (Name, bool) {
	n := Anonymous
	for _, c := range components {
		next, ok := s.findName(nameNode{parent: n, text: c, isText: true})
		if !ok {
			return 0, false
		}
		n = next
	}
	return n, true
}

// FreshName returns a name that differs from every other name, whatever its
// components; it prints as parent followed by text.
func (s *Store) FreshName(parent Name, text string) Name {
	return s.appendName(nameNode{parent: parent, text: text, isText: true})
}

// Parent returns a name without its last component.
func (s *Store) Parent(n Name) Name { return s.name(n).parent }

// LastText returns the last component of a name if that is a string.
func (s *Store) LastText(n Name) (string, bool) {
	node := s.name(n)
	return node.text, node.isText
}

// LastNumber returns the last component of a name if that is a number.
func (s *Store) LastNumber(n Name) uint64 { return s.name(n).number }

// Root returns the first component of a name if that is a string.
func (s *Store) Root(n Name) (string, bool) {
	if uint32(n) < s.nameBase {
		return s.LastText(s.parent.roots[n])
	}
	return s.LastText(s.roots[uint32(n)-s.nameBase])
}

// rootOf returns the first component of a new name, as a name.
func (s *Store) rootOf(n Name, parent Name) Name {
	switch {
	case parent == Anonymous:
		return n
	case uint32(parent) < s.nameBase:
		return s.parent.roots[parent]
	}
	return s.roots[uint32(parent)-s.nameBase]
}

// Components returns the components of a name in printed form, unescaped.
func (s *Store) Components(n Name) []string {
	var out []string
	for n != Anonymous {
		node := s.name(n)
		if node.isText {
			out = append(out, node.text)
		} else {
			out = append(out, strconv.FormatUint(node.number, 10))
		}
		n = node.parent
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// NameString prints a name for people. Components that are not plain identifiers
// are quoted «so», with control and other invisible characters escaped, so that
// no name can pass for another or break a line. Of a name of more than some
// hundred bytes the beginning, or that of a component, is left out: ⋯.
func (s *Store) NameString(n Name) string { return s.printName(n, maxNamePrinted) }

// FullName prints a name like [Store.NameString], but in full: different names
// print differently. A file can make it as long as the file for each name.
func (s *Store) FullName(n Name) string { return s.printName(n, math.MaxInt) }

// maxNamePrinted bounds a name printed for people, in bytes.
const maxNamePrinted = 400

func (s *Store) printName(n Name, limit int) string {
	if n == Anonymous {
		return "[anonymous]"
	}
	var parts []string
	for n != Anonymous {
		if limit <= 0 {
			parts = append(parts, "⋯")
			break
		}
		node := s.name(n)
		part := strconv.FormatUint(node.number, 10)
		if text := node.text; node.isText {
			cut := 0
			if len(text) > limit {
				cut = len(text) - limit
				for cut < len(text) && !utf8.RuneStart(text[cut]) {
					cut++
				}
			}
			if part = quoteComponent(text[cut:]); cut > 0 {
				part = "⋯" + part
			}
		}
		parts = append(parts, part)
		limit -= len(part) + len(".")
		n = node.parent
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

func quoteComponent(c string) string {
	if isIdentifier(c) {
		return c
	}
	var b strings.Builder
	b.WriteString("«")
	for i := 0; i < len(c); {
		r, size := utf8.DecodeRuneInString(c[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(c[i])|0x100, 16)[1:])
		case r == '»' || r == '\\' || !unicode.IsPrint(r):
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + "}")
		default:
			b.WriteRune(r)
		}
		i += size
	}
	b.WriteString("»")
	return b.String()
}

func isIdentifier(c string) bool {
	if c == "" {
		return false
	}
	for i, r := range c {
		switch {
		case r == '_' || unicode.IsLetter(r):
		case i > 0 && (unicode.IsDigit(r) || r == '\'' || r == '!' || r == '?' || (r >= '₀' && r <= '₉')):
		default:
			return false
		}
	}
	return utf8.ValidString(c)
}

func (s *Store) name(n Name) *nameNode {
	if uint32(n) < s.nameBase {
		return &s.parent.names[n]
	}
	return &s.names[uint32(n)-s.nameBase]
}

func (s *Store) findName(node nameNode) (Name, bool) {
	if s.parent != nil {
		if n, ok := s.parent.nameIndex[node]; ok {
			return n, true
		}
	}
	n, ok := s.nameIndex[node]
	return n, ok
}

func (s *Store) internName(node nameNode) Name {
	if n, ok := s.findName(node); ok {
		return n
	}
	n := s.appendName(node)
	s.nameIndex[node] = n
	return n
}

func (s *Store) appendName(node nameNode) Name {
	s.budget.Take(int64(128 + len(node.text)))
	s.names = append(s.names, node)
	n := Name(s.nameBase + uint32(len(s.names)-1))
	s.roots = append(s.roots, s.rootOf(n, node.parent))
	return n
}

// NameCount returns the number of names in the store and its parent; handles
// are below it.
func (s *Store) NameCount() int { return int(s.nameBase) + len(s.names) }

// ParseName reads a name as people write it: components between dots, those
// with other characters than an identifier's quoted «so», numbers as numeric
// components. It does not undo the escapes of [Store.NameString].
func (s *Store) ParseName(text string) (Name, bool) {
	n := Anonymous
	for first := true; text != "" || first; first = false {
		var component string
		quoted := false
		if rest, ok := strings.CutPrefix(text, "«"); ok {
			component, text, quoted = strings.Cut(rest, "»")
			if !quoted || text != "" && text[0] != '.' {
				return 0, false
			}
			text = strings.TrimPrefix(text, ".")
		} else {
			var dot bool
			component, text, dot = strings.Cut(text, ".")
			if component == "" || dot && text == "" {
				return 0, false
			}
		}
		if k, err := strconv.ParseUint(component, 10, 64); err == nil && !quoted {
			n = s.Num(n, k)
		} else {
			n = s.Str(n, component)
		}
	}
	return n, true
}

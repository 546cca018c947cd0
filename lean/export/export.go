// Package export reads the files that lean4export writes: the declarations of a
// Lean environment with all their terms.
//
// Three formats are read: NDJSON 3.1.x, NDJSON 3.0.0 and text 2.0.0, each plain
// or compressed with gzip. Other versions are refused by name. The reader keeps
// no more of the file in memory than the current line; what grows are the
// hash-consed terms, and those count against a budget.
//
// Reading gives no judgement. Everything the file says is passed on as a claim,
// in file order; package check decides what holds.
package export

import (
	"fmt"

	"github.com/erdos1056/erdos1056/lean/term"
)

// A File is the content of one export.
type File struct {
	Store *term.Store
	Meta  Meta
	Decls []Decl // in file order

	SHA256 string // of the input as given, in hex
	Bytes  int64  // of the input as given
	Lines  int    // after decompression
}

// Meta is what a file says about its origin. Only Format decides anything.
type Meta struct {
	Format          string `json:"format"`
	Exporter        string `json:"exporter,omitempty"`
	ExporterVersion string `json:"exporter_version,omitempty"`
	Lean            string `json:"lean,omitempty"`
	LeanHash        string `json:"lean_githash,omitempty"`
}

// A Kind says what a declaration declares.
type Kind uint8

// The kinds of declarations.
const (
	Axiom Kind = iota
	Definition
	Theorem
	Opaque
	Quotient
	Inductive
)

func (k Kind) String() string {
	return [...]string{"axiom", "definition", "theorem", "opaque", "quotient constant", "inductive type"}[k]
}

// A Decl is one declaration. An inductive block is one declaration, named by
// its first type.
type Decl struct {
	Kind   Kind
	Line   int // where it stands in the decompressed file, from 1
	Name   term.Name
	Params []term.Name // universe parameters
	Type   term.Expr   // not for Inductive
	Value  term.Expr   // of a Definition, Theorem or Opaque
	Hint   Hint        // of a Definition
	Unsafe bool        // marked unsafe or partial
	Quot   QuotKind    // of a Quotient
	Block  *Block      // of an Inductive
}

// A Hint tells in which order definitions are best unfolded. It has no bearing
// on what is true.
type Hint struct {
	Kind   HintKind
	Height uint32 // of a regular definition: greater is unfolded first
}

// A HintKind says how eagerly a definition is unfolded.
type HintKind uint8

// The kinds of hints.
const (
	HintOpaque HintKind = iota
	HintRegular
	HintAbbrev
)

// A QuotKind tells the four constants of quotient types apart.
type QuotKind uint8

// The quotient constants: Quot, Quot.mk, Quot.lift and Quot.ind.
const (
	QuotType QuotKind = iota
	QuotMk
	QuotLift
	QuotInd
)

// A Block is a group of mutually inductive types with all that comes with them.
// Only names, parameters, types and NumParams of the types define something;
// the rest can be derived and is there to be compared.
type Block struct {
	Types []InductiveType
	Ctors []Constructor
	Recs  []Recursor
	// Partial is set for formats that write only the recursors in use.
	Partial bool
}

// An InductiveType is one type of a block.
type InductiveType struct {
	Name       term.Name
	Params     []term.Name
	Type       term.Expr
	NumParams  uint32
	NumIndices uint32
	Ctors      []term.Name
	Unsafe     bool
	// Claims that nothing here rests on.
	Recursive, Reflexive bool
	NumNested            uint32
}

// A Constructor is one constructor of a type of a block.
type Constructor struct {
	Name      term.Name
	Params    []term.Name
	Type      term.Expr
	Induct    term.Name
	Index     uint32
	NumParams uint32
	NumFields uint32
	Unsafe    bool
}

// A Recursor is one eliminator of a block.
type Recursor struct {
	Name       term.Name
	Params     []term.Name
	Type       term.Expr
	NumParams  uint32
	NumIndices uint32
	NumMotives uint32
	NumMinors  uint32
	Rules      []Rule
	K          bool
	Unsafe     bool
}

// A Rule says what a recursor applied to a constructor reduces to.
type Rule struct {
	Ctor      term.Name
	NumFields uint32
	RHS       term.Expr
}

// A Reason classes reading errors.
type Reason uint8

// The reasons: the file breaks the format, is in a format or version that is not
// read, or passes a limit.
const (
	Malformed Reason = iota
	Unsupported
	Limit
)

// An Error reports why a file cannot be taken. Errors of the underlying reader
// are passed on as they are.
type Error struct {
	Reason Reason
	Line   int // from 1
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// DefaultLine bounds lines if no bound is given, in bytes.
const DefaultLine = 256 << 20

// Limits bound what Read takes from an untrusted file.
type Limits struct {
	MaxLine  int   // bytes in one line; 0 means DefaultLine
	MaxBytes int64 // bytes after decompression; 0 means 64 GiB
}

package main

import (
	"fmt"
	"strings"
)

// An emitter collects functions in Go's assembly and their declarations.
type emitter struct {
	asm, stubs strings.Builder
}

// function begins an assembly function without a frame, whose arguments take size bytes.
func (e *emitter) function(name, signature string, size int, doc ...string) {
	fmt.Fprintf(&e.asm, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $0-%d\n", name, signature, name, size)
	fmt.Fprintf(&e.stubs, "\n// %s\n//\n//go:noescape\nfunc %s%s\n", strings.Join(doc, "\n// "), name, signature)
}

func (e *emitter) comment(text string) { fmt.Fprintf(&e.asm, "\n\t// %s\n", text) }
func (e *emitter) label(name string)   { fmt.Fprintf(&e.asm, "\n%s:\n", name) }

// op writes an instruction without a comment.
func (e *emitter) op(mnemonic, format string, operands ...any) {
	e.line(mnemonic+" "+fmt.Sprintf(format, operands...), "")
}

func (e *emitter) line(instruction, comment string) {
	if comment != "" {
		comment = " // " + comment
	}
	e.asm.WriteString("\t" + strings.TrimRight(instruction, " ") + comment + "\n")
}

// four names four registers that are loaded or stored together.
func four(r vreg, arrangement string) string {
	var names []string
	for i := range vreg(4) {
		names = append(names, fmt.Sprintf("V%d.%s", r+i, arrangement))
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// dup copies the general register R<from> into both halves of d.
func (e *emitter) dup(from int, d vreg) { e.op("VDUP", "R%d, V%d.D2", from, d) }

// Of the instructions on two doubles, Go's assembler knows the fused ones and those that
// move bits; their operands come in the order m, n, d.

// mov sets d = n.
func (e *emitter) mov(d, n vreg, algebra string) {
	e.line(fmt.Sprintf("VMOV V%d.B16, V%d.B16", n, d), algebra)
}

// and sets d = n AND m.
func (e *emitter) and(d, n, m vreg, algebra string) {
	e.line(fmt.Sprintf("VAND V%d.B16, V%d.B16, V%d.B16", m, n, d), algebra)
}

// uzp1 sets d to the low halves of the four doubles of n and m.
func (e *emitter) uzp1(d, n, m vreg, algebra string) {
	e.line(fmt.Sprintf("VUZP1 V%d.S4, V%d.S4, V%d.S4", m, n, d), algebra)
}

// fmla sets d = d + n·m, rounded once.
func (e *emitter) fmla(d, n, m vreg, algebra string) {
	e.line(fmt.Sprintf("VFMLA V%d.D2, V%d.D2, V%d.D2", m, n, d), algebra)
}

// fmls sets d = d - n·m, rounded once.
func (e *emitter) fmls(d, n, m vreg, algebra string) {
	e.line(fmt.Sprintf("VFMLS V%d.D2, V%d.D2, V%d.D2", m, n, d), algebra)
}

// The others are written as words, with Arm's own spelling beside them, where d comes
// first. The opcodes are those of the Arm Architecture Reference Manual, C7.2, with Q = 1
// and sz = 1.

// fadd sets d = n + m.
func (e *emitter) fadd(d, n, m vreg, algebra string) { e.word("FADD", 0x4E60D400, d, n, m, algebra) }

// fsub sets d = n - m.
func (e *emitter) fsub(d, n, m vreg, algebra string) { e.word("FSUB", 0x4EE0D400, d, n, m, algebra) }

// fmul sets d = n·m.
func (e *emitter) fmul(d, n, m vreg, algebra string) { e.word("FMUL", 0x6E60DC00, d, n, m, algebra) }

func (e *emitter) word(mnemonic string, opcode uint32, d, n, m vreg, algebra string) {
	code := opcode | uint32(m)<<16 | uint32(n)<<5 | uint32(d)
	spelling := fmt.Sprintf("%s V%d.2D, V%d.2D, V%d.2D", mnemonic, d, n, m)
	e.line(fmt.Sprintf("WORD $0x%08X", code), strings.TrimRight(fmt.Sprintf("%-29s %s", spelling, algebra), " "))
}

// Command _asm writes the AVX2 and AVX-512 implementations of package residues.
//
// All functions walk the lanes of a floatLanes (float.go): vector u holds the lanes
// of one width from u·width on, its residues x stay in a register, and its factor is
// t = offset + i, with i common to all lanes. One step of a lane is x = x·t mod p in
// balanced floating point:
//
//	h = x·t                     exact while |x·t| < 2^53
//	q = (h·(1/p) + M) - M       M = 1.5·2^52 rounds to the nearest integer
//	x = h - q·p                 exact by fused multiply-add
//
// The wide functions take any p < 2^31, where h is rounded: its error l is had exactly
// by fused multiply-subtract and added back, and a second quotient brings the sum,
// which may miss [-p/2, p/2] by a little, into it:
//
//	l = x·t - h
//	x = (h - q·p) + l
//	q = (x·(1/p) + M) - M
//	x = x - q·p
//
// float.go proves both exact.
package main

import (
	"fmt"

	"github.com/erdos1056/erdos1056/kernel/residues/_asm/layout"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const vectors = 8 // in flight: enough to hide the latency of a step

type isa struct {
	name   string
	width  int // doubles in a vector
	vector func() VecVirtual
}

func main() {
	ConstraintExpr("!purego")
	for _, a := range []isa{{"AVX512", 8, ZMM}, {"AVX2", 4, YMM}} {
		for _, wide := range []bool{false, true} {
			products(a, wide)
			generate(a, wide)
		}
	}
	pairs(isa{"AVX512", 8, ZMM})
	countNibbles(isa{"AVX512", 8, ZMM})
	Generate()
}

func suffix(wide bool) string {
	if wide {
		return "Wide"
	}
	return ""
}

// lanes is what a function keeps in registers.
type lanes struct {
	isa
	base                          Register // *floatLanes
	x                             []VecVirtual
	p, inverse, magic, one, index VecVirtual
}

func load(a isa, base Register) lanes {
	l := lanes{isa: a, base: base, p: a.vector(), inverse: a.vector(), magic: a.vector(), index: a.vector()}
	Comment("p, 1/p, the common part i of the factors, and M")
	VBROADCASTSD(Mem{Base: base, Disp: layout.P}, l.p)
	VBROADCASTSD(Mem{Base: base, Disp: layout.Inverse}, l.inverse)
	VBROADCASTSD(Mem{Base: base, Disp: layout.Index}, l.index)
	VBROADCASTSD(constant("magic", 0x4338000000000000), l.magic)
	if a.width == 8 { // there are registers to spare
		l.one = a.vector()
		VBROADCASTSD(constant("one", 0x3FF0000000000000), l.one)
	}
	for u := range vectors {
		l.x = append(l.x, a.vector())
		VMOVUPD(l.at(u, layout.X), l.x[u])
	}
	return l
}

// at is the memory of vector u in the array that starts at disp.
func (l lanes) at(u, disp int) Mem { return Mem{Base: l.base, Disp: disp + 8*l.width*u} }

// store puts residues and index back.
func (l lanes) store() {
	for u := range vectors {
		VMOVUPD(l.x[u], l.at(u, layout.X))
	}
	VMOVSD(l.index.AsX(), Mem{Base: l.base, Disp: layout.Index})
}

// advance moves the common part of the factors on: i = i + 1.
func (l lanes) advance() {
	if l.one != nil {
		VADDPD(l.one, l.index, l.index)
		return
	}
	one := l.vector()
	VBROADCASTSD(constant("one", 0x3FF0000000000000), one)
	VADDPD(one, l.index, l.index)
}

// step multiplies vector u by its factors.
func (l lanes) step(u int, wide bool) {
	x, q, t := l.x[u], l.vector(), l.vector()
	VADDPD(l.at(u, layout.Offset), l.index, t) // t = offset + i
	if !wide {
		VMULPD(t, x, x)         // x = h = x·t
		l.quotient(x, q)        // q = round(h/p)
		VFNMADD231PD(l.p, q, x) // x = h - q·p
		return
	}
	h := l.vector()
	VMULPD(t, x, h)         // h = x·t, rounded
	VFMSUB213PD(h, t, x)    // x = l = x·t - h
	l.quotient(h, q)        // q = round(h/p)
	VFNMADD231PD(l.p, q, h) // h = h - q·p
	VADDPD(h, x, x)         // x = h + l
	l.quotient(x, q)        // q = round(x/p), one of -1, 0, 1
	VFNMADD231PD(l.p, q, x) // x = x - q·p
}

// quotient sets q = round(h·(1/p)).
func (l lanes) quotient(h, q VecVirtual) {
	VMOVAPD(l.magic, q)
	VFMADD231PD(l.inverse, h, q) // q = h·(1/p) + M
	VSUBPD(l.magic, q, q)        // q = q - M
}

func products(a isa, wide bool) {
	name := "products" + suffix(wide) + a.name
	TEXT(name, NOSPLIT, "func(lanes *float64, steps int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s multiplies every lane by its next factors, steps >= 1 times. steps is bounded by the caller.", name))
	base := Load(Param("lanes"), GP64())
	steps := Load(Param("steps"), GP64())
	l := load(a, base)
	Label(name + "Loop")
	for u := range vectors {
		l.step(u, wide)
	}
	l.advance()
	DECQ(steps)
	JNZ(LabelRef(name + "Loop"))
	l.store()
	VZEROUPPER()
	RET()
}

// pairs multiplies by two factors at once: those at the distance d from the middle c of a
// lane have the product c^2 - d^2, and c^2 - d^2 = c^2 - (d-1)^2 - (2d-1).
func pairs(a isa) {
	name := "pairs" + a.name
	TEXT(name, NOSPLIT, "func(lanes *float64, steps int)")
	Doc(name+" multiplies every lane by its next pairs of factors, 1 <= steps <= maxPairs times, narrow. It reduces",
		"the lanes' squares first, so that they stay below p in size until its end.")
	base := Load(Param("lanes"), GP64())
	steps := Load(Param("steps"), GP64())
	l := load(a, base)
	odd, two := a.vector(), a.vector()
	VBROADCASTSD(Mem{Base: base, Disp: layout.Odd}, odd)
	VBROADCASTSD(constant("two", 0x4000000000000000), two)
	var squares []VecVirtual
	Comment("squares mod p")
	for u := range vectors {
		v, q := a.vector(), a.vector()
		VMOVUPD(l.at(u, layout.Square), v)
		l.quotient(v, q)
		VFNMADD231PD(l.p, q, v) // v = v - q·p
		squares = append(squares, v)
	}
	Label(name + "Loop")
	for u, v := range squares {
		q := a.vector()
		VSUBPD(odd, v, v)            // v = c^2 - d^2
		VMULPD(v, l.x[u], l.x[u])    // x = h = x·v
		l.quotient(l.x[u], q)        // q = round(h/p)
		VFNMADD231PD(l.p, q, l.x[u]) // x = h - q·p
	}
	VADDPD(two, odd, odd) // 2d - 1 of the next d
	DECQ(steps)
	JNZ(LabelRef(name + "Loop"))
	l.store()
	for u, v := range squares {
		VMOVUPD(v, l.at(u, layout.Square))
	}
	VMOVSD(odd.AsX(), Mem{Base: base, Disp: layout.Odd})
	VZEROUPPER()
	RET()
}

func generate(a isa, wide bool) {
	name := "generate" + suffix(wide) + a.name
	TEXT(name, NOSPLIT, "func(keys *int32, lanes *float64, mask uint64, steps int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is products%s%s that stores the residues of every step as 32-bit integers: %d of them", name, suffix(wide), a.name, vectors*a.width),
		"a step. The bits of a residue are ANDed with mask: 1<<63-1 folds, all ones keep the sign.")
	keys := Load(Param("keys"), GP64())
	base := Load(Param("lanes"), GP64())
	steps := Load(Param("steps"), GP64())
	l := load(a, base)
	mask := a.vector()
	address := NewParamAddr("mask", 16)
	VBROADCASTSD(address, mask)
	Label(name + "Loop")
	for u := range vectors {
		l.step(u, wide)
		key := a.vector()
		if a.width == 8 {
			VPANDQ(mask, l.x[u], key) // |x|, or x
			VCVTPD2DQ(key, key.AsY())
			VMOVDQU(key.AsY(), Mem{Base: keys, Disp: 32 * u})
		} else {
			VANDPD(mask, l.x[u], key)
			VCVTPD2DQY(key, key.AsX())
			VMOVDQU(key.AsX(), Mem{Base: keys, Disp: 16 * u})
		}
	}
	l.advance()
	ADDQ(U32(4*vectors*a.width), keys)
	DECQ(steps)
	JNZ(LabelRef(name + "Loop"))
	l.store()
	VZEROUPPER()
	RET()
}

// countNibbles generates two steps, works out where they are counted, and counts them: the
// waits for the table's cache lines leave room for the arithmetic of the next two.
func countNibbles(a isa) {
	const stepsAtOnce = 2
	name := "countNibbles" + a.name
	TEXT(name, NOSPLIT, "func(table *byte, lanes *float64, steps int)")
	Pragma("noescape")
	Doc(name+" is generate"+a.name+", folding, that counts its keys instead of storing them: key a adds 1 to the low half",
		"of byte a/2 of the table if a is even, to its high half if a is odd. steps is even.")
	table := Load(Param("table"), GP64())
	base := Load(Param("lanes"), GP64())
	steps := Load(Param("steps"), GP64())
	l := load(a, base)
	width := stepsAtOnce * vectors * a.width
	places, increments := AllocLocal(4*width), AllocLocal(width)
	mask, odd, low, high := a.vector(), a.vector(), XMM(), XMM()
	VBROADCASTSD(constant("sign", 0x7FFFFFFFFFFFFFFF), mask)
	VPBROADCASTD(constant("odd", 0x0000000100000001), odd)
	VPBROADCASTB(constant("low", 1), low)
	VPBROADCASTB(constant("high", 16), high)
	Label(name + "Loop")
	for i := range stepsAtOnce {
		for u := 0; u < vectors; u += 2 {
			l.step(u, false)
			l.step(u+1, false)
			key, upper := a.vector(), a.vector()
			VPANDQ(mask, l.x[u], key) // |x|
			VCVTPD2DQ(key, key.AsY())
			VPANDQ(mask, l.x[u+1], upper)
			VCVTPD2DQ(upper, upper.AsY())
			VINSERTI64X4(Imm(1), upper.AsY(), key, key)
			k, increment, first := K(), XMM(), a.width*(vectors*i+u)
			VPTESTMD(odd, key, k)
			VPSRLD(Imm(1), key, key) // byte a/2
			VMOVDQU32(key, places.Offset(4*first))
			VPBLENDMB(high, low, k, increment) // 16 if a is odd, 1 if even
			VMOVDQU8(increment, increments.Offset(first))
		}
		l.advance()
	}
	for i := range width {
		at, by := GP64(), GP32()
		MOVL(places.Offset(4*i), at.As32())
		MOVBLZX(increments.Offset(i), by)
		ADDB(by.As8(), Mem{Base: table, Index: at, Scale: 1})
	}
	SUBQ(Imm(stepsAtOnce), steps)
	JNZ(LabelRef(name + "Loop"))
	l.store()
	VZEROUPPER()
	RET()
}

var constants = map[string]Mem{}

// constant returns the read-only 8 bytes of that name.
func constant(name string, bits uint64) Mem {
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		DATA(0, U64(bits))
		constants[name] = m
	}
	return m
}

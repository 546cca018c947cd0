// Command _asm writes the AVX2 and AVX-512 code of package special: many factorial chains
// side by side, one prime to a lane, all at the same cut t. One step is
//
//	h = x·t                     exact while |x·t| < 2^53
//	q = (h·(1/p) + M) - M       M = 1.5·2^52 rounds to the nearest integer
//	x = h - q·p                 exact by fused multiply-add
//
// and for p >= 2^27, where h is rounded, with its error l and a second quotient:
//
//	l = x·t - h
//	x = (h - q·p) + l
//	q = (x·(1/p) + M) - M
//	x = x - q·p
//
// Package residues proves both exact. Then |x| is compared with the lane's target.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Layout of the chains in bytes from the first residue; a test of package special holds it.
const (
	primeAt   = 1 * 8 * 64
	inverseAt = 2 * 8 * 64
	targetAt  = 3 * 8 * 64
	cutAt     = 4 * 8 * 64
	hitAt     = cutAt + 8
)

const vectors = 8

func main() {
	ConstraintExpr("!purego")
	for _, wide := range []bool{false, true} {
		advance("AVX512", 8, ZMM, wide)
		advance("AVX2", 4, YMM, wide)
	}
	Generate()
}

type chains struct {
	width           int
	vector          func() VecVirtual
	base            Register
	x, p, inverse   []Op
	cut, magic, one VecVirtual
	sign            VecVirtual
}

func advance(isa string, width int, vector func() VecVirtual, wide bool) {
	name := "advance" + isa
	if wide {
		name = "advanceWide" + isa
	}
	TEXT(name, NOSPLIT, "func(chains *float64, steps int) int")
	Doc(name+" multiplies every chain by cut+1, cut+2, ... It stops after steps >= 1 of them, or behind the first",
		"one at which some |x| equals its target: then it sets the bits of these lanes in hits.",
		"It moves the cut on and returns the number of steps made. steps is bounded by the caller.")
	c := chains{width: width, vector: vector}
	base, steps := Load(Param("chains"), GP64()), Load(Param("steps"), GP64())
	c.base = base
	c.cut, c.magic = vector(), vector()
	VBROADCASTSD(Mem{Base: base, Disp: cutAt}, c.cut)
	VBROADCASTSD(constant("magic", 0x4338000000000000), c.magic)
	if width == 8 {
		c.one, c.sign = vector(), vector()
		VBROADCASTSD(constant("one", 0x3FF0000000000000), c.one)
		VBROADCASTSD(constant("magnitude", 1<<63-1), c.sign)
	}
	for u := range vectors {
		x := vector()
		VMOVUPD(c.at(u, 0), x)
		c.x = append(c.x, x)
		if width == 8 { // there are registers to spare
			p, inverse := vector(), vector()
			VMOVUPD(c.at(u, primeAt), p)
			VMOVUPD(c.at(u, inverseAt), inverse)
			c.p, c.inverse = append(c.p, p), append(c.inverse, inverse)
		} else {
			c.p, c.inverse = append(c.p, c.at(u, primeAt)), append(c.inverse, c.at(u, inverseAt))
		}
	}
	left := GP64()
	MOVQ(steps, left)
	Label(name + "Loop")
	c.next()
	hits := c.steps(wide)
	DECQ(left)
	TESTQ(hits, hits)
	JNZ(LabelRef(name + "Hit"))
	TESTQ(left, left)
	JNZ(LabelRef(name + "Loop"))
	Label(name + "Hit")
	for u := range vectors {
		VMOVUPD(c.x[u], c.at(u, 0))
	}
	VMOVSD(c.cut.AsX(), Mem{Base: base, Disp: cutAt})
	MOVQ(hits, Mem{Base: base, Disp: hitAt})
	SUBQ(left, steps)
	Store(steps, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func (c chains) at(u, disp int) Mem { return Mem{Base: c.base, Disp: disp + 8*c.width*u} }

func (c chains) next() {
	one := c.one
	if one == nil {
		one = c.vector()
		VBROADCASTSD(constant("one", 0x3FF0000000000000), one)
	}
	VADDPD(one, c.cut, c.cut)
}

// steps moves all chains on and returns the register with the bits of the lanes that hit.
func (c chains) steps(wide bool) GPVirtual {
	hits := GP64()
	XORQ(hits, hits)
	for u := range vectors {
		c.step(u, wide)
		size, bits := c.vector(), GP64()
		if c.width == 8 {
			k := K()
			VPANDQ(c.sign, c.x[u], size) // |x|
			VCMPPD(Imm(0), c.at(u, targetAt), size, k)
			KMOVB(k, bits.As32())
		} else {
			magnitude := c.vector()
			VBROADCASTSD(constant("magnitude", 1<<63-1), magnitude)
			VANDPD(magnitude, c.x[u], size) // |x|
			VCMPPD(Imm(0), c.at(u, targetAt), size, size)
			VMOVMSKPD(size, bits.As32())
		}
		if u > 0 {
			SHLQ(Imm(uint64(c.width*u)), bits)
		}
		ORQ(bits, hits)
	}
	return hits
}

func (c chains) step(u int, wide bool) {
	x, q := c.x[u], c.vector()
	if !wide {
		VMULPD(c.cut, x, x)        // x = h = x·t
		c.quotient(u, x, q)        // q = round(h/p)
		VFNMADD231PD(c.p[u], q, x) // x = h - q·p
		return
	}
	h := c.vector()
	VMULPD(c.cut, x, h)        // h = x·t, rounded
	VFMSUB213PD(h, c.cut, x)   // x = l = x·t - h
	c.quotient(u, h, q)        // q = round(h/p)
	VFNMADD231PD(c.p[u], q, h) // h = h - q·p
	VADDPD(h, x, x)            // x = h + l
	c.quotient(u, x, q)        // q = round(x/p), one of -1, 0, 1
	VFNMADD231PD(c.p[u], q, x) // x = x - q·p
}

func (c chains) quotient(u int, h Op, q VecVirtual) {
	VMOVAPD(c.magic, q)
	VFMADD231PD(c.inverse[u], h, q) // q = h·(1/p) + M
	VSUBPD(c.magic, q, q)           // q = q - M
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

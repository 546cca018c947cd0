// Command _asm writes the amd64 code of package fibers: counting, summing up and
// partition, where the loop over single keys must not cost more than its memory accesses.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Layout of scanState in bytes; a test of package fibers holds it.
const (
	totalAt     = 0
	cellsAt     = 8
	squaresAt   = 16
	largestAt   = 24
	thresholdAt = 32
	outAt       = 40
	roomAt      = 48
)

func main() {
	ConstraintExpr("!purego")
	addNibblesAVX512()
	addNibblesAVX2()
	scanNibblesAVX512()
	scanBytesAVX512(false)
	scanBytesAVX512(true)
	partition()
	addBytes(16, "uint16")
	addBytes(32, "int32")
	countEqualAVX2()
	filterAVX512()
	Generate()
}

// increments adds inc(i) to the byte at idx(i) of the table for i < n.
func increments(table Register, n int, idx, inc func(i int) Mem) {
	for i := range n {
		at, by := GP64(), GP8()
		MOVL(idx(i), at.As32())
		MOVB(inc(i), by)
		ADDB(by, Mem{Base: table, Index: at, Scale: 1})
	}
}

func addNibblesAVX512() {
	TEXT("addNibblesAVX512", NOSPLIT, "func(table *byte, keys *int32, n int)")
	Doc("addNibblesAVX512 counts n keys, a multiple of 16 and at least 16: key a adds 1 to the low half of",
		"byte a/2 if a is even, to its high half if a is odd.")
	table, keys, n := Load(Param("table"), GP64()), Load(Param("keys"), GP64()), Load(Param("n"), GP64())
	scratch := AllocLocal(128)
	one, low, high := ZMM(), ZMM(), ZMM()
	Comment("A half counts in steps of 1 or of 16")
	broadcastD(1, one)
	broadcastD(1, low)
	broadcastD(16, high)
	Label("nibbles512")
	k, odd := ZMM(), K()
	VMOVDQU32(Mem{Base: keys}, k)
	VPTESTMD(one, k, odd)
	VPSRLD(Imm(1), k, k) // byte a/2
	VMOVDQU32(k, scratch)
	step := ZMM()
	VPBLENDMD(high, low, odd, step) // 16 if a is odd, 1 if even
	VMOVDQU32(step, scratch.Offset(64))
	increments(table, 16, func(i int) Mem { return scratch.Offset(4 * i) }, func(i int) Mem { return scratch.Offset(64 + 4*i) })
	ADDQ(Imm(64), keys)
	SUBQ(Imm(16), n)
	JNZ(LabelRef("nibbles512"))
	VZEROUPPER()
	RET()
}

func addNibblesAVX2() {
	TEXT("addNibblesAVX2", NOSPLIT, "func(table *byte, keys *int32, n int)")
	Doc("addNibblesAVX2 is addNibblesAVX512 for a multiple of 8 keys, at least 8.")
	table, keys, n := Load(Param("table"), GP64()), Load(Param("keys"), GP64()), Load(Param("n"), GP64())
	scratch := AllocLocal(64)
	one := YMM()
	broadcast256(1, one)
	Label("nibbles256")
	k, odd, step := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: keys}, k)
	VPAND(one, k, odd)
	VPSRLD(Imm(1), k, k) // byte a/2
	VMOVDQU(k, scratch)
	Comment("step = 1 + 16·odd - odd")
	VPSLLD(Imm(4), odd, step)
	VPSUBD(odd, step, step)
	VPADDD(one, step, step)
	VMOVDQU(step, scratch.Offset(32))
	increments(table, 8, func(i int) Mem { return scratch.Offset(4 * i) }, func(i int) Mem { return scratch.Offset(32 + 4*i) })
	ADDQ(Imm(32), keys)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("nibbles256"))
	VZEROUPPER()
	RET()
}

func broadcastD(v uint32, z VecVirtual) {
	r := GP32()
	MOVL(U32(v), r)
	VPBROADCASTD(r, z)
}

func broadcast256(v uint32, y VecVirtual) {
	r, x := GP32(), XMM()
	MOVL(U32(v), r)
	VMOVD(r, x)
	VPBROADCASTD(x, y)
}

func broadcastB(r GPVirtual, z VecVirtual) { VPBROADCASTB(r.As32(), z) }

// scan holds what the two scans share.
type scan struct {
	table, groups, state, out, room, base, cells GPVirtual
	zero, threshold, total, squares              VecVirtual
}

func beginScan() scan {
	s := scan{zero: ZMM(), threshold: ZMM(), total: ZMM(), squares: ZMM(), base: GP64(), cells: GP64(), out: GP64(), room: GP64()}
	s.table, s.groups, s.state = GP64(), GP64(), GP64()
	Load(Param("table"), s.table)
	Load(Param("groups"), s.groups)
	Load(Param("state"), s.state)
	VPXORQ(s.zero, s.zero, s.zero)
	VPXORQ(s.total, s.total, s.total)
	VPXORQ(s.squares, s.squares, s.squares)
	t := GP64()
	MOVQ(Mem{Base: s.state, Disp: thresholdAt}, t)
	broadcastB(t, s.threshold)
	MOVQ(Mem{Base: s.state, Disp: outAt}, s.out)
	MOVQ(Mem{Base: s.state, Disp: roomAt}, s.room)
	XORQ(s.base, s.base)
	XORQ(s.cells, s.cells)
	return s
}

// countCells adds the number of cells of v that are not 0.
func (s scan) countCells(v VecVirtual) {
	k, r := K(), GP64()
	VPTESTMB(v, v, k)
	KMOVQ(k, r)
	POPCNTQ(r, r)
	ADDQ(r, s.cells)
}

// list appends a cell for every bit of mask: index(bit), and its count.
func (s scan) list(label string, mask GPVirtual, emit func(bit GPVirtual)) {
	TESTQ(mask, mask)
	JZ(LabelRef(label + "Done"))
	Label(label)
	bit := GP64()
	TZCNTQ(mask, bit)
	emit(bit)
	ADDQ(Imm(8), s.out)
	DECQ(s.room)
	rest := GP64()
	LEAQ(Mem{Base: mask, Disp: -1}, rest)
	ANDQ(rest, mask)
	JNZ(LabelRef(label))
	Label(label + "Done")
}

// end adds up the lanes and puts everything into the state; it returns the groups done.
func (s scan) end(largest VecVirtual) {
	for _, v := range []struct {
		at  int
		vec VecVirtual
	}{{totalAt, s.total}, {squaresAt, s.squares}} {
		half, x, r := YMM(), XMM(), GP64()
		VEXTRACTI64X4(Imm(1), v.vec, half)
		VPADDQ(half, v.vec.AsY(), half)
		VEXTRACTI128(Imm(1), half, x)
		VPADDQ(x, half.AsX(), x)
		y := XMM()
		VPSHUFD(Imm(0x4E), x, y)
		VPADDQ(y, x, x)
		VMOVQ(x, r)
		ADDQ(r, Mem{Base: s.state, Disp: v.at})
	}
	ADDQ(s.cells, Mem{Base: s.state, Disp: cellsAt})
	if largest != nil {
		k, r := K(), GP64()
		VPMOVB2M(largest, k)
		KMOVQ(k, r)
		ORQ(r, Mem{Base: s.state, Disp: largestAt})
	}
	MOVQ(s.out, Mem{Base: s.state, Disp: outAt})
	MOVQ(s.room, Mem{Base: s.state, Disp: roomAt})
	SHRQ(Imm(6), s.base)
	Store(s.base, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func scanNibblesAVX512() {
	TEXT("scanNibblesAVX512", NOSPLIT, "func(table *byte, groups int, state *uint64) int")
	Doc("scanNibblesAVX512 sums up groups of 64 bytes, 128 cells, at least one group, into the state and lists",
		"the cells that reach the threshold. It stops before a group for which there may be no",
		"room and returns the number of groups done.")
	s := beginScan()
	nibble, squaresOf := ZMM(), ZMM()
	broadcastD(0x0F0F0F0F, nibble)
	Comment("squaresOf maps n to n·n")
	VBROADCASTI32X4(squareTable(), squaresOf)
	Label("scanNibbles")
	CMPQ(s.room, Imm(128))
	JB(LabelRef("scanNibblesEnd"))
	lo, hi, v := ZMM(), ZMM(), ZMM()
	VMOVDQU8(Mem{Base: s.table, Index: s.base, Scale: 1}, v)
	VPANDQ(nibble, v, lo)
	VPSRLW(Imm(4), v, hi)
	VPANDQ(nibble, hi, hi)
	Comment("total += sums of eight bytes of lo + hi")
	VPADDB(hi, lo, v)
	VPSADBW(s.zero, v, v)
	VPADDQ(v, s.total, s.total)
	for _, half := range []VecVirtual{lo, hi} {
		VPSHUFB(half, squaresOf, v)
		VPSADBW(s.zero, v, v)
		VPADDQ(v, s.squares, s.squares)
		s.countCells(half)
	}
	large, largeHi := K(), K()
	VPCMPUB(Imm(5), s.threshold, lo, large) // not less than
	VPCMPUB(Imm(5), s.threshold, hi, largeHi)
	KORTESTQ(large, largeHi)
	JZ(LabelRef("scanNibblesNext"))
	mask := GP64()
	for i, k := range []OpmaskVirtual{large, largeHi} {
		KMOVQ(k, mask)
		s.list([]string{"listLow", "listHigh"}[i], mask, func(bit GPVirtual) {
			index, count := GP64(), GP64()
			ADDQ(s.base, bit)
			MOVBLZX(Mem{Base: s.table, Index: bit, Scale: 1}, count.As32())
			LEAQ(Mem{Base: bit, Index: bit, Scale: 1, Disp: i}, index) // cell 2·byte + half
			if i == 0 {
				ANDL(Imm(15), count.As32())
			} else {
				SHRL(Imm(4), count.As32())
			}
			MOVL(index.As32(), Mem{Base: s.out})
			MOVL(count.As32(), Mem{Base: s.out, Disp: 4})
		})
	}
	Label("scanNibblesNext")
	ADDQ(Imm(64), s.base)
	DECQ(s.groups)
	JNZ(LabelRef("scanNibbles"))
	Label("scanNibblesEnd")
	s.end(nil)
}

func squareTable() Mem {
	m := GLOBL("squares", RODATA|NOPTR)
	for n := range 16 {
		DATA(n, U8(n*n))
	}
	return m
}

func scanBytesAVX512(clears bool) {
	name, what := "scanBytesAVX512", ""
	if clears {
		name, what = "takeBytesAVX512", ", and clears them"
	}
	TEXT(name, NOSPLIT, "func(table *byte, groups int, state *uint64) int")
	Doc(name+" is scanNibblesAVX512 for groups of 64 cells of one byte"+what+". Counts of 128",
		"and more set bits of the state's fourth word, and the sums are then wrong.")
	s := beginScan()
	ones, largest := ZMM(), ZMM()
	broadcastD(0x00010001, ones)
	VPXORQ(largest, largest, largest)
	Label(name + "scanBytes")
	CMPQ(s.room, Imm(64))
	JB(LabelRef(name + "scanBytesEnd"))
	v, w := ZMM(), ZMM()
	at := Mem{Base: s.table, Index: s.base, Scale: 1}
	VMOVDQU8(at, v)
	VPORQ(v, largest, largest)
	VPSADBW(s.zero, v, w)
	VPADDQ(w, s.total, s.total)
	Comment("squares += sums of two, then four products, then two of these")
	VPMADDUBSW(v, v, w)
	VPMADDWD(ones, w, w)
	lo := ZMM()
	VPSRLQ(Imm(32), w, lo)
	VPADDD(lo, w, w)
	clear := ZMM()
	VPSLLQ(Imm(32), w, clear)
	VPSRLQ(Imm(32), clear, w)
	VPADDQ(w, s.squares, s.squares)
	s.countCells(v)
	large, mask := K(), GP64()
	VPCMPUB(Imm(5), s.threshold, v, large) // not less than
	KMOVQ(large, mask)
	s.list(name+"listBytes", mask, func(bit GPVirtual) {
		count := GP64()
		ADDQ(s.base, bit)
		MOVBLZX(Mem{Base: s.table, Index: bit, Scale: 1}, count.As32())
		MOVL(bit.As32(), Mem{Base: s.out})
		MOVL(count.As32(), Mem{Base: s.out, Disp: 4})
	})
	if clears {
		VMOVDQU8(s.zero, at)
	}
	ADDQ(Imm(64), s.base)
	DECQ(s.groups)
	JNZ(LabelRef(name + "scanBytes"))
	Label(name + "scanBytesEnd")
	s.end(largest)
}

func partition() {
	TEXT("partitionKeys", NOSPLIT, "func(store *uint16, heads *uint64, keys *int32, n int)")
	Doc("partitionKeys puts the low 16 bits of each of n keys, an even number of at least 2, at",
		"store[heads[key>>16]] and moves that head on. The caller leaves room behind every head.")
	store, heads := Load(Param("store"), GP64()), Load(Param("heads"), GP64())
	keys, n := Load(Param("keys"), GP64()), Load(Param("n"), GP64())
	Label("partition")
	pair := GP64()
	MOVQ(Mem{Base: keys}, pair)
	for i := range 2 {
		bucket, head, key := GP64(), GP64(), GP64()
		MOVL(pair.As32(), key.As32())
		if i == 0 {
			SHRQ(Imm(32), pair)
		}
		MOVL(key.As32(), bucket.As32())
		SHRL(Imm(16), bucket.As32())
		slot := Mem{Base: heads, Index: bucket, Scale: 8}
		MOVQ(slot, head)
		MOVW(key.As16(), Mem{Base: store, Index: head, Scale: 2})
		INCQ(head)
		MOVQ(head, slot)
	}
	ADDQ(Imm(8), keys)
	SUBQ(Imm(2), n)
	JNZ(LabelRef("partition"))
	RET()
}

// addBytes writes the loops over single keys of one width in bits.
func addBytes(bits int, form string) {
	name := fmt.Sprintf("addBytes%d", bits)
	TEXT(name, NOSPLIT, "func(table *byte, keys *"+form+", n int)")
	Doc(fmt.Sprintf("%s adds 1 to the byte of the table at each of n %d-bit keys, a multiple of 8 and at least 8.", name, bits))
	table, keys, n := Load(Param("table"), GP64()), Load(Param("keys"), GP64()), Load(Param("n"), GP64())
	Label(name + "Loop")
	for i := range 8 {
		at := GP64()
		if bits == 16 {
			MOVWLZX(Mem{Base: keys, Disp: 2 * i}, at.As32())
		} else {
			MOVL(Mem{Base: keys, Disp: 4 * i}, at.As32())
		}
		INCB(Mem{Base: table, Index: at, Scale: 1})
	}
	ADDQ(Imm(uint64(bits)), keys)
	SUBQ(Imm(8), n)
	JNZ(LabelRef(name + "Loop"))
	RET()
}

func countEqualAVX2() {
	TEXT("countEqualAVX2", NOSPLIT, "func(keys *uint16, n int, key uint16) int")
	Doc("countEqualAVX2 returns how many of n keys, a multiple of 16 and at least 16, at most 2^19, equal key.")
	keys, n := Load(Param("keys"), GP64()), Load(Param("n"), GP64())
	key, wanted, sums := GP32(), YMM(), YMM()
	Load(Param("key"), key)
	x := XMM()
	VMOVD(key, x)
	VPBROADCASTW(x, wanted)
	VPXOR(sums, sums, sums)
	Label("equal")
	v := YMM()
	VPCMPEQW(Mem{Base: keys}, wanted, v) // -1 where equal
	VPSUBW(v, sums, sums)                // each of the 16 sums stays below 2^15
	ADDQ(Imm(32), keys)
	SUBQ(Imm(16), n)
	JNZ(LabelRef("equal"))
	Comment("add up the sixteen sums")
	ones := YMM()
	broadcast256(0x00010001, ones)
	VPMADDWD(ones, sums, sums)
	half := XMM()
	VEXTRACTI128(Imm(1), sums, half)
	VPADDD(half, sums.AsX(), half)
	y := XMM()
	VPSHUFD(Imm(0x4E), half, y)
	VPADDD(y, half, half)
	VPSHUFD(Imm(0xB1), half, y)
	VPADDD(y, half, half)
	r := GP32()
	VMOVD(half, r)
	wide := GP64()
	MOVL(r, wide.As32())
	Store(wide, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func filterAVX512() {
	TEXT("filterAVX512", NOSPLIT, "func(places *uint32, keys *int32, n int, marks *uint32) int")
	Doc("filterAVX512 stores the places, from 0 on, of those of n signed keys, a multiple of 16 and at least 16,",
		"whose class has its bit in the 64 marks, and returns their number. Class a has bit",
		"a>>6 mod 32 of mark a mod 64. There must be room for 16 places behind the last one.")
	places, keys := Load(Param("places"), GP64()), Load(Param("keys"), GP64())
	n, marks := Load(Param("n"), GP64()), Load(Param("marks"), GP64())
	var table [4]VecVirtual
	for i := range table {
		table[i] = ZMM()
		VMOVDQU32(Mem{Base: marks, Disp: 64 * i}, table[i])
	}
	one, upper, place, sixteen := ZMM(), ZMM(), ZMM(), ZMM()
	broadcastD(1, one)
	broadcastD(32, upper)
	broadcastD(16, sixteen)
	VMOVDQU32(placeTable(), place)
	count := GP64()
	XORQ(count, count)
	Label("filter")
	a, low, high := ZMM(), ZMM(), ZMM()
	VPABSD(Mem{Base: keys}, a)
	Comment("the mark: bits 0 to 4 of a select in one half of the marks, bit 5 the half")
	VMOVDQA32(a, low)
	VPERMI2D(table[1], table[0], low)
	VMOVDQA32(a, high)
	VPERMI2D(table[3], table[2], high)
	half, hit := K(), K()
	VPTESTMD(upper, a, half)
	VPBLENDMD(high, low, half, low)
	Comment("rotated right by a>>6 mod 32, its lowest bit decides")
	VPSRLD(Imm(6), a, a)
	VPRORVD(a, low, low)
	VPTESTMD(one, low, hit)
	VPCOMPRESSD(place, hit, low)
	VMOVDQU32(low, Mem{Base: places, Index: count, Scale: 4})
	hits := GP32()
	KMOVW(hit, hits)
	POPCNTL(hits, hits)
	ADDQ(hits.As64(), count)
	VPADDD(sixteen, place, place)
	ADDQ(Imm(64), keys)
	SUBQ(Imm(16), n)
	JNZ(LabelRef("filter"))
	Store(count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func placeTable() Mem {
	m := GLOBL("places", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i))
	}
	return m
}

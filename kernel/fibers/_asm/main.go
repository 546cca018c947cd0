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

// An isa is an instruction set with its vectors.
type isa struct {
	name   string
	width  int // bytes of a vector
	vector func() VecVirtual
}

var (
	avx512 = isa{"AVX512", 64, ZMM}
	avx2   = isa{"AVX2", 32, YMM}
)

func main() {
	ConstraintExpr("!purego")
	addNibblesAVX512()
	addNibblesAVX2()
	for _, a := range []isa{avx512, avx2} {
		scanNibbles(a)
		scanBytes(a, false)
		scanBytes(a, true)
	}
	partition(false)
	partition(true)
	addBytes(16, "uint16")
	addBytes(32, "int32")
	countEqualAVX2()
	filterAVX512("filter2AVX512", 0, 10)
	filterAVX512("filter4AVX512", 0, 10, 5, 12)
	filterAVX2()
	filterBitmapAVX2()
	Generate()
}

// Keys in one chunk of nibbles: places and steps are computed for so many in vectors and
// stored before the first is counted, since a load right behind the store that it reads
// from waits for it.
const (
	chunkAVX512 = 128
	chunkAVX2   = 64
)

// increments adds step(i) to the byte at place(i) of the table for i < n.
func increments(table Register, n int, place, step func(i int) Mem) {
	for i := range n {
		at, by := GP64(), GP8()
		MOVL(place(i), at.As32())
		MOVB(step(i), by)
		ADDB(by, Mem{Base: table, Index: at, Scale: 1})
	}
}

func addNibblesAVX512() {
	TEXT("addNibblesAVX512", NOSPLIT, "func(table *byte, keys *int32, n int)")
	Doc(fmt.Sprintf("addNibblesAVX512 counts n keys, a multiple of %d and at least that: key a adds 1 to the low half of", chunkAVX512),
		"byte a/2 if a is even, to its high half if a is odd.")
	table, keys, n := Load(Param("table"), GP64()), Load(Param("keys"), GP64()), Load(Param("n"), GP64())
	places, steps := AllocLocal(4*chunkAVX512), AllocLocal(chunkAVX512)
	one, low, high := ZMM(), XMM(), XMM()
	Comment("A half counts in steps of 1 or of 16")
	broadcastD(1, one)
	broadcastBytes(1, low)
	broadcastBytes(16, high)
	Label("nibbles512")
	for i := 0; i < chunkAVX512; i += 16 {
		k, odd, step := ZMM(), K(), XMM()
		VMOVDQU32(Mem{Base: keys, Disp: 4 * i}, k)
		VPTESTMD(one, k, odd)
		VPSRLD(Imm(1), k, k) // byte a/2
		VMOVDQU32(k, places.Offset(4*i))
		VPBLENDMB(high, low, odd, step) // 16 if a is odd, 1 if even
		VMOVDQU(step, steps.Offset(i))
	}
	increments(table, chunkAVX512, func(i int) Mem { return places.Offset(4 * i) }, func(i int) Mem { return steps.Offset(i) })
	ADDQ(U32(4*chunkAVX512), keys)
	SUBQ(U32(chunkAVX512), n)
	JNZ(LabelRef("nibbles512"))
	VZEROUPPER()
	RET()
}

func addNibblesAVX2() {
	TEXT("addNibblesAVX2", NOSPLIT, "func(table *byte, keys *int32, n int)")
	Doc(fmt.Sprintf("addNibblesAVX2 is addNibblesAVX512 for a multiple of %d keys, at least that.", chunkAVX2))
	table, keys, n := Load(Param("table"), GP64()), Load(Param("keys"), GP64()), Load(Param("n"), GP64())
	places, steps := AllocLocal(4*chunkAVX2), AllocLocal(4*chunkAVX2)
	one := YMM()
	broadcast256(1, one)
	Label("nibbles256")
	for i := 0; i < chunkAVX2; i += 8 {
		k, odd, step := YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: keys, Disp: 4 * i}, k)
		VPAND(one, k, odd)
		VPSRLD(Imm(1), k, k) // byte a/2
		VMOVDQU(k, places.Offset(4*i))
		Comment("step = 1 + 16·odd - odd")
		VPSLLD(Imm(4), odd, step)
		VPSUBD(odd, step, step)
		VPADDD(one, step, step)
		VMOVDQU(step, steps.Offset(4*i))
	}
	increments(table, chunkAVX2, func(i int) Mem { return places.Offset(4 * i) }, func(i int) Mem { return steps.Offset(4 * i) })
	ADDQ(U32(4*chunkAVX2), keys)
	SUBQ(Imm(chunkAVX2), n)
	JNZ(LabelRef("nibbles256"))
	VZEROUPPER()
	RET()
}

func broadcastBytes(v uint32, x VecVirtual) {
	r := GP32()
	MOVL(U32(v), r)
	VPBROADCASTB(r, x)
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

// groupBytes is what a scan takes at a time.
const groupBytes = 64

// scan holds what the scans share.
type scan struct {
	isa
	table, groups, state, out, room, base GPVirtual
	zero, ones, threshold                 VecVirtual // ones: 1 in every byte
	total, cells, squares                 VecVirtual // 64-bit sums
}

func beginScan(a isa) scan {
	s := scan{isa: a, table: GP64(), groups: GP64(), state: GP64(), out: GP64(), room: GP64(), base: GP64(), zero: a.vector(), ones: a.vector(),
		threshold: a.vector(), total: a.vector(), cells: a.vector(), squares: a.vector()}
	Load(Param("table"), s.table)
	Load(Param("groups"), s.groups)
	Load(Param("state"), s.state)
	for _, v := range []VecVirtual{s.zero, s.total, s.cells, s.squares} {
		s.clear(v)
	}
	s.broadcast(0x01010101, s.ones)
	Comment("the threshold in every byte")
	VPBROADCASTB(Mem{Base: s.state, Disp: thresholdAt}, s.threshold)
	MOVQ(Mem{Base: s.state, Disp: outAt}, s.out)
	MOVQ(Mem{Base: s.state, Disp: roomAt}, s.room)
	XORQ(s.base, s.base)
	return s
}

func (a isa) clear(v VecVirtual) {
	if a.width == 64 {
		VPXORQ(v, v, v)
	} else {
		VPXOR(v, v, v)
	}
}

func (a isa) broadcast(v uint32, to VecVirtual) {
	if a.width == 64 {
		broadcastD(v, to)
	} else {
		broadcast256(v, to)
	}
}

func (a isa) load(from Mem, v VecVirtual) {
	if a.width == 64 {
		VMOVDQU8(from, v)
	} else {
		VMOVDQU(from, v)
	}
}

func (a isa) store(v VecVirtual, to Mem) {
	if a.width == 64 {
		VMOVDQU8(v, to)
	} else {
		VMOVDQU(v, to)
	}
}

// and sets to = x AND y; or is the like.
func (a isa) and(x, y, to VecVirtual) {
	if a.width == 64 {
		VPANDQ(x, y, to)
	} else {
		VPAND(x, y, to)
	}
}

func (a isa) or(x, y, to VecVirtual) {
	if a.width == 64 {
		VPORQ(x, y, to)
	} else {
		VPOR(x, y, to)
	}
}

// addBytes adds the bytes of v to sum, which it destroys.
func (s scan) addBytes(v, sum VecVirtual) {
	VPSADBW(s.zero, v, v)
	VPADDQ(v, sum, sum)
}

// at is vector i of the group.
func (s scan) at(i int) Mem {
	return Mem{Base: s.table, Index: s.base, Scale: 1, Disp: s.width * i}
}

// vectors is the number of vectors in a group.
func (s scan) vectors() int { return groupBytes / s.width }

// reaching returns a bit for every byte of the group that is at least the threshold.
func (s scan) reaching(vs []VecVirtual) GPVirtual {
	mask := GP64()
	if s.width == 64 {
		k := K()
		VPCMPUB(Imm(5), s.threshold, vs[0], k) // not less than
		KMOVQ(k, mask)
		return mask
	}
	upper, w := GP64(), s.vector()
	for i, part := range []GPVirtual{mask, upper} {
		VPMAXUB(vs[i], s.threshold, w)
		VPCMPEQB(vs[i], w, w)
		VPMOVMSKB(w, part.As32())
	}
	SHLQ(Imm(32), upper)
	ORQ(upper, mask)
	return mask
}

// list appends a cell for every bit of mask: index(bit), and its count.
func (s scan) list(label string, mask GPVirtual, emit func(bit GPVirtual)) {
	TESTQ(mask, mask)
	JZ(LabelRef(label + "Done"))
	Label(label)
	bit := GP64()
	BSFQ(mask, bit)
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
	for _, sum := range []struct {
		at  int
		vec VecVirtual
	}{{totalAt, s.total}, {cellsAt, s.cells}, {squaresAt, s.squares}} {
		y, x, r := sum.vec.AsY(), XMM(), GP64()
		if s.width == 64 {
			upper := YMM()
			VEXTRACTI64X4(Imm(1), sum.vec, upper)
			VPADDQ(upper, y, y)
		}
		VEXTRACTI128(Imm(1), y, x)
		VPADDQ(x, sum.vec.AsX(), x)
		half := XMM()
		VPSHUFD(Imm(0x4E), x, half)
		VPADDQ(half, x, x)
		VMOVQ(x, r)
		ADDQ(r, Mem{Base: s.state, Disp: sum.at})
	}
	if largest != nil {
		r := GP64()
		if s.width == 64 {
			k := K()
			VPMOVB2M(largest, k)
			KMOVQ(k, r)
		} else {
			VPMOVMSKB(largest, r.As32())
		}
		ORQ(r, Mem{Base: s.state, Disp: largestAt})
	}
	MOVQ(s.out, Mem{Base: s.state, Disp: outAt})
	MOVQ(s.room, Mem{Base: s.state, Disp: roomAt})
	SHRQ(Imm(6), s.base)
	Store(s.base, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func scanNibbles(a isa) {
	name := "scanNibbles" + a.name
	TEXT(name, NOSPLIT, "func(table *byte, groups int, state *uint64) int")
	Doc(name+" sums up groups of 64 bytes, 128 cells, at least one group, into the state and lists",
		"the cells that reach the threshold. It stops before a group for which there may be no",
		"room and returns the number of groups done.")
	s := beginScan(a)
	nibble, squaresOf := a.vector(), a.vector()
	a.broadcast(0x0F0F0F0F, nibble)
	Comment("squaresOf maps n to n·n")
	if a.width == 64 {
		VBROADCASTI32X4(squareTable(), squaresOf)
	} else {
		VBROADCASTI128(squareTable(), squaresOf)
	}
	Label(name)
	CMPQ(s.room, Imm(128))
	JB(LabelRef(name + "End"))
	var halves [2][]VecVirtual // low and high ones, of each vector of the group
	for i := range s.vectors() {
		lo, hi, v, w := a.vector(), a.vector(), a.vector(), a.vector()
		halves[0], halves[1] = append(halves[0], lo), append(halves[1], hi)
		a.load(s.at(i), v)
		a.and(nibble, v, lo)
		VPSRLW(Imm(4), v, hi)
		a.and(nibble, hi, hi)
		VPADDB(hi, lo, v)
		s.addBytes(v, s.total)
		VPMINUB(lo, s.ones, v) // 1 where there is a count
		VPMINUB(hi, s.ones, w)
		VPADDB(w, v, v)
		s.addBytes(v, s.cells)
		for _, half := range []VecVirtual{lo, hi} {
			VPSHUFB(half, squaresOf, v)
			s.addBytes(v, s.squares)
		}
	}
	for i, half := range halves {
		mask := s.reaching(half)
		s.list(fmt.Sprintf("%sHalf%d", name, i), mask, func(bit GPVirtual) {
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
	ADDQ(Imm(groupBytes), s.base)
	DECQ(s.groups)
	JNZ(LabelRef(name))
	Label(name + "End")
	s.end(nil)
}

func squareTable() Mem {
	if squares == nil {
		m := GLOBL("squares", RODATA|NOPTR)
		for n := range 16 {
			DATA(n, U8(n*n))
		}
		squares = &m
	}
	return *squares
}

var squares *Mem

func scanBytes(a isa, clears bool) {
	name, what := "scanBytes"+a.name, ""
	if clears {
		name, what = "takeBytes"+a.name, ", and clears them"
	}
	TEXT(name, NOSPLIT, "func(table *byte, groups int, state *uint64) int")
	Doc(name+" is scanNibbles"+a.name+" for groups of 64 cells of one byte"+what+". Counts of 128",
		"and more set bits of the state's fourth word, and the sums are then wrong. groups is at most 2^13:",
		"the squares are summed up in 32 bits, eight cells a group, below 2^14 each.")
	s := beginScan(a)
	pairs, largest := a.vector(), a.vector() // pairs: 1 in every two bytes
	a.broadcast(0x00010001, pairs)
	s.clear(largest)
	Label(name)
	CMPQ(s.room, Imm(groupBytes))
	JB(LabelRef(name + "End"))
	var counts []VecVirtual
	for i := range s.vectors() {
		v, w := a.vector(), a.vector()
		counts = append(counts, v)
		a.load(s.at(i), v)
		a.or(v, largest, largest)
		VPSADBW(s.zero, v, w)
		VPADDQ(w, s.total, s.total)
		VPMINUB(v, s.ones, w) // 1 where there is a count
		s.addBytes(w, s.cells)
		VPMADDUBSW(v, v, w) // sums of two squares, then of four
		VPMADDWD(pairs, w, w)
		VPADDD(w, s.squares, s.squares)
	}
	s.list(name+"Large", s.reaching(counts), func(bit GPVirtual) {
		count := GP64()
		ADDQ(s.base, bit)
		MOVBLZX(Mem{Base: s.table, Index: bit, Scale: 1}, count.As32())
		MOVL(bit.As32(), Mem{Base: s.out})
		MOVL(count.As32(), Mem{Base: s.out, Disp: 4})
	})
	for i := range s.vectors() {
		if clears {
			s.store(s.zero, s.at(i))
		}
	}
	ADDQ(Imm(groupBytes), s.base)
	DECQ(s.groups)
	JNZ(LabelRef(name))
	Label(name + "End")
	Comment("the 32-bit squares in 64 bits")
	upper := a.vector()
	VPSRLQ(Imm(32), s.squares, upper)
	VPSLLQ(Imm(32), s.squares, s.squares)
	VPSRLQ(Imm(32), s.squares, s.squares)
	VPADDQ(upper, s.squares, s.squares)
	s.end(largest)
}

// partition writes the loop that sorts keys into buckets. With so many buckets that their
// heads do not all stay in the first-level cache, it asks for the lines to come.
func partition(far bool) {
	name, what := "partitionKeys", ""
	if far {
		name, what = "partitionKeysFar", " It fetches the line behind the next one of every head."
	}
	const ahead = 96 // bytes
	TEXT(name, NOSPLIT, "func(store *uint16, heads *uint64, keys *int32, n int)")
	Doc(name+" puts the low 16 bits of each of n keys, an even number of at least 2, at",
		"store[heads[key>>16]] and moves that head on. The caller leaves room behind every head."+what)
	store, heads := Load(Param("store"), GP64()), Load(Param("heads"), GP64())
	keys, n := Load(Param("keys"), GP64()), Load(Param("n"), GP64())
	Label(name)
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
		if far {
			PREFETCHT0(Mem{Base: store, Index: head, Scale: 2, Disp: ahead})
		}
		INCQ(head)
		MOVQ(head, slot)
	}
	ADDQ(Imm(8), keys)
	SUBQ(Imm(2), n)
	JNZ(LabelRef(name))
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

// The filters. A hash of w words takes the bits of a class from some bit on: log2 w of them
// choose a word of the marks, the next five a bit of that word. A class passes if the bits
// of all hashes are set.

// filterAVX512 has one hash for each of the first bits; the hashes of few classes may be
// fewer.
func filterAVX512(name string, firsts ...uint64) {
	TEXT(name, NOSPLIT, "func(places *uint32, keys *int32, n int, marks *uint32) int")
	Doc(fmt.Sprintf("%s stores the places, from 0 on, of those of n signed keys, a multiple of 16 and at least 16,", name),
		fmt.Sprintf("whose class has its bits in the marks, 32 words for each hash, from bits %d on, and returns their number.", firsts))
	f := beginFilter()
	table := make([]VecVirtual, 2*len(firsts))
	for i := range table {
		table[i] = ZMM()
		VMOVDQU32(Mem{Base: f.marks, Disp: 64 * i}, table[i])
	}
	one := ZMM()
	broadcastD(1, one)
	Label(name)
	a, all := ZMM(), ZMM()
	VPABSD(Mem{Base: f.keys, Index: f.at, Scale: 4}, a)
	Comment("each word rotated right by the number of its bit")
	for i, first := range firsts {
		word, bit := ZMM(), ZMM()
		if first == 0 {
			VMOVDQA32(a, word)
		} else {
			VPSRLD(Imm(first), a, word)
		}
		VPERMI2D(table[2*i+1], table[2*i], word)
		VPSRLD(Imm(first+5), a, bit)
		if i == 0 {
			VPRORVD(bit, word, all)
			continue
		}
		VPRORVD(bit, word, word)
		VPANDD(word, all, all)
	}
	hit, hits := K(), GP64()
	VPTESTMD(one, all, hit)
	KMOVW(hit, hits.As32())
	TESTL(hits.As32(), hits.As32())
	f.list(name, hits)
}

// filter holds what the filters share.
type filter struct{ places, keys, n, marks, count, at GPVirtual }

func beginFilter() filter {
	f := filter{GP64(), GP64(), GP64(), GP64(), GP64(), GP64()}
	Load(Param("places"), f.places)
	Load(Param("keys"), f.keys)
	Load(Param("n"), f.n)
	Load(Param("marks"), f.marks)
	XORQ(f.count, f.count)
	XORQ(f.at, f.at)
	return f
}

// list stores the places of the bits of hits, of which the zero flag tells whether there
// are any, and goes on with the next 16 keys.
func (f filter) list(loop string, hits GPVirtual) {
	JZ(LabelRef(loop + "Next"))
	Label(loop + "Hit")
	place, rest := GP64(), GP64()
	BSFL(hits.As32(), place.As32())
	ADDL(f.at.As32(), place.As32())
	MOVL(place.As32(), Mem{Base: f.places, Index: f.count, Scale: 4})
	INCQ(f.count)
	LEAQ(Mem{Base: hits, Disp: -1}, rest)
	ANDL(rest.As32(), hits.As32())
	JNZ(LabelRef(loop + "Hit"))
	Label(loop + "Next")
	ADDQ(Imm(16), f.at)
	CMPQ(f.at, f.n)
	JNE(LabelRef(loop))
	Store(f.count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// filterBitmapAVX2 looks the class of every key up: with many classes, hits are too frequent for
// a filter of which every hit must be looked at again.
func filterBitmapAVX2() {
	const chunk = 32
	TEXT("filterBitmapAVX2", NOSPLIT, "func(places *uint32, keys *int32, n int, marks *uint32) int")
	Doc(fmt.Sprintf("filterBitmapAVX2 stores the places, from 0 on, of those of n signed keys, a multiple of %d and at least", chunk),
		"that, whose class a has bit a of the marks, and returns their number.")
	f := beginFilter()
	classes, words := AllocLocal(4*chunk), AllocLocal(4*chunk)
	Label("bitmap")
	for i := 0; i < chunk; i += 8 {
		a, word := YMM(), YMM()
		VPABSD(Mem{Base: f.keys, Index: f.at, Scale: 4, Disp: 4 * i}, a)
		VPSRLD(Imm(5), a, word)
		VMOVDQU(a, classes.Offset(4*i))
		VMOVDQU(word, words.Offset(4*i))
	}
	for i := range chunk {
		next := fmt.Sprintf("bitmap%d", i)
		word, bits, a, place := GP64(), GP32(), GP32(), GP64()
		MOVL(words.Offset(4*i), word.As32())
		MOVL(Mem{Base: f.marks, Index: word, Scale: 4}, bits)
		MOVL(classes.Offset(4*i), a)
		BTL(a, bits)
		JCC(LabelRef(next))
		LEAQ(Mem{Base: f.at, Disp: i}, place)
		MOVL(place.As32(), Mem{Base: f.places, Index: f.count, Scale: 4})
		INCQ(f.count)
		Label(next)
	}
	ADDQ(Imm(chunk), f.at)
	CMPQ(f.at, f.n)
	JNE(LabelRef("bitmap"))
	Store(f.count, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func filterAVX2() {
	TEXT("filterAVX2", NOSPLIT, "func(places *uint32, keys *int32, n int, marks *uint32) int")
	Doc("filterAVX2 is filter2AVX512 with three hashes of 8 words, from bits 0, 8 and 16 on.")
	f := beginFilter()
	var table [3]VecVirtual
	for i := range table {
		table[i] = YMM()
		VMOVDQU(Mem{Base: f.marks, Disp: 32 * i}, table[i])
	}
	low := YMM()
	broadcast256(31, low)
	Label("filter256")
	var hits [2]GPVirtual // eight keys each
	for half := range hits {
		a, all := YMM(), YMM()
		VPABSD(Mem{Base: f.keys, Index: f.at, Scale: 4, Disp: 32 * half}, a)
		for i := range table {
			word, bit, marked := a, YMM(), all
			if i > 0 {
				word, marked = YMM(), YMM()
				VPSRLD(Imm(uint64(8*i)), a, word)
			}
			VPERMD(table[i], word, marked) // the three lowest bits count
			VPSRLD(Imm(uint64(8*i+3)), a, bit)
			VPAND(low, bit, bit)
			VPSRLVD(bit, marked, marked)
			if i > 0 {
				VPAND(marked, all, all)
			}
		}
		Comment("the lowest bits as a mask")
		VPSLLD(Imm(31), all, all)
		hits[half] = GP64()
		VMOVMSKPS(all, hits[half].As32())
	}
	SHLL(Imm(8), hits[1].As32())
	ORL(hits[1].As32(), hits[0].As32())
	f.list("filter256", hits[0])
}

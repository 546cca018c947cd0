package plan

import "math/bits"

// Cost estimates the number of cuts that a search of r covers, which is the sum of its
// primes: the integral of t/ln t, in integer arithmetic, so that every machine gets the
// same number. It is within one per cent for ranges of a million and more.
func (r Range) Cost() uint64 {
	var total uint64
	for _, c := range r.cells() {
		total += c
	}
	return total
}

// Cut cuts r into n contiguous ranges of about equal cost, or into as many as r has integers
// where those are fewer. The ranges tile r and are a pure function of r and n,
// 1 <= n <= MaxUnits.
func (r Range) Cut(n int) []Range {
	size := uint64(r.Hi) - uint64(r.Lo) + 1
	n = int(min(uint64(min(max(n, 1), MaxUnits)), size))
	cells, width := r.cells(), r.cellWidth()
	total := r.Cost()
	parts := make([]Range, 0, n)
	begin, done := 0, uint64(0)
	for i := range uint64(n) {
		share := total/uint64(n)*(i+1) + total%uint64(n)*(i+1)/uint64(n)
		end := begin + 1
		done += cells[begin]
		for end < len(cells)-(n-1-int(i)) && (done < share || int(i) == n-1) {
			done += cells[end]
			end++
		}
		lo := uint64(r.Lo) + uint64(begin)*width
		hi := min(uint64(r.Lo)+uint64(end)*width-1, uint64(r.Hi))
		parts = append(parts, Range{uint32(lo), uint32(hi)})
		begin = end
	}
	return parts
}

// cellWidth is the length of the pieces whose cost is estimated at their middle: r has
// between MaxUnits and 2·MaxUnits of them, or one for each integer.
func (r Range) cellWidth() uint64 {
	return max(1, (uint64(r.Hi)-uint64(r.Lo)+1)/MaxUnits)
}

// cells returns the estimated cost of each cell of r.
func (r Range) cells() []uint64 {
	width := r.cellWidth()
	var costs []uint64
	for lo := uint64(r.Lo); lo <= uint64(r.Hi); lo += width {
		n := min(width, uint64(r.Hi)-lo+1)
		middle := max(2, lo+n/2)
		costs = append(costs, n*middle<<16/logarithm(middle))
	}
	return costs
}

// logarithm returns ln x in units of 2^-16, 2 <= x < 2^32, within 2^-7. Between powers of two
// it takes log2(1+f) = f + 0.3466·f(1-f), which is exact at both ends.
func logarithm(x uint64) uint64 {
	const one, ln2, bend = 1 << 16, 45426, 22713 // 1, ln 2 and 0.3466 in units of 2^-16
	e := uint64(bits.Len64(x)) - 1
	f := x<<16>>e - one
	return (e<<16 + f + bend*(f*(one-f)>>16)>>16) * ln2 >> 16
}

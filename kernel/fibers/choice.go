package fibers

import "github.com/klauspost/cpuid/v2"

// A Counting is a way to count classes.
type Counting string

const (
	AutoCounting Counting = ""        // by the size of the prime and of the caches
	Bytes        Counting = "bytes"   // one byte for every class, hit at random
	Nibbles      Counting = "nibbles" // four bits for every class, hit at random; vector code only
	Buckets      Counting = "buckets" // keys are sorted into buckets that fit the cache
)

var (
	// bytesUpTo is the size of a byte table in bytes up to which it beats nibbles: the
	// private second-level cache.
	bytesUpTo = max(256<<10, cpuid.CPU.Cache.L2)

	// bucketsFrom is the size of a direct table in bytes from which buckets beat it: a
	// part of the last-level cache, which is shared, but not less than 4 MiB.
	bucketsFrom = max(4<<20, cpuid.CPU.Cache.L3/8)
)

// choose returns the way to count the classes of p. Buckets take 1.2 p bytes and are not
// chosen below p = 2^24, so that a worker stays small where they gain little.
func (s *Scanner) choose(p uint32) Counting {
	if s.Counting != AutoCounting {
		return s.Counting
	}
	size := int(p / 2)
	if size <= bytesUpTo {
		return Bytes
	}
	direct := Nibbles
	if machineNibbles(s.Implementation.Name) == nil {
		direct = Bytes
	} else {
		size /= 2
	}
	if size > bucketsFrom && p > 1<<24 {
		return Buckets
	}
	return direct
}

// Countings lists the ways to count by name.
func Countings() []Counting { return []Counting{Bytes, Nibbles, Buckets} }

// Used lists the ways in which this Scanner has counted.
func (s *Scanner) Used() []Counting {
	var used []Counting
	for _, how := range Countings() {
		if _, ok := s.tables[how]; ok {
			used = append(used, how)
		}
	}
	return used
}

// counts returns the empty counts for p.
func (s *Scanner) counts(p uint32) counts {
	name := s.Implementation.Name
	how := s.choose(p)
	c, ok := s.tables[how]
	if !ok {
		switch how {
		case Bytes:
			c = &byteTable{functions: machineBytes(name)}
		case Nibbles:
			f := machineNibbles(name)
			if f == nil {
				f = &nibbleFunctions{}
			}
			c = &nibbleTable{functions: *f}
		case Buckets:
			c = &bucketTable{functions: machineBuckets(name)}
		default:
			panic("fibers: no counting " + string(how))
		}
		if s.tables == nil {
			s.tables = map[Counting]counts{}
		}
		s.tables[how] = c
	}
	c.reset(p)
	return c
}

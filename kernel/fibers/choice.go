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
	// bytesUpTo is the size in bytes of a byte table up to which nibbles, half as large, gain
	// nothing: a part of the last-level cache, which is shared, or the private second-level
	// cache.
	bytesUpTo = max(256<<10, cpuid.CPU.Cache.L2, cpuid.CPU.Cache.L3/8)

	// directUpTo is the size of a table, of bytes or nibbles, up to which hitting it at random
	// beats buckets.
	directUpTo = max(4<<20, cpuid.CPU.Cache.L3/4)
)

// choose returns the way to count the classes of p. Buckets take 1.1 p bytes and are not
// chosen below p = 2^24, so that a worker stays small where they gain little, unless the
// tables of a team are too large together.
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
	switch workers := max(s.Workers, 1); {
	case workers*size <= directUpTo, workers == 1 && p <= 1<<24:
		return direct
	}
	return Buckets
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

// counts returns the empty counts for p, and hands them to the parts.
func (s *Scanner) counts(p uint32, how Counting) counts {
	c := s.kept(how)
	c.reset(p)
	for i, part := range s.parts {
		part.counts = c
		switch team := c.(type) {
		case bucketTeam:
			part.counts = team[i]
		case *directTeam:
			part.counts = team.tables[i]
		}
	}
	return c
}

// kept returns the counts that this Scanner keeps from one prime to the next.
func (s *Scanner) kept(how Counting) counts {
	c, ok := s.tables[how]
	if !ok {
		c = s.newCounts(how)
		if s.tables == nil {
			s.tables = map[Counting]counts{}
		}
		s.tables[how] = c
	}
	return c
}

// newCounts returns counts for all parts.
func (s *Scanner) newCounts(how Counting) counts {
	if s.Workers <= 1 {
		return s.newTable(how)
	}
	if how == Buckets {
		var team bucketTeam
		for range s.Workers {
			team = append(team, s.newTable(how).(*bucketTable))
		}
		return team
	}
	team := &directTeam{}
	for i := range s.Workers {
		table := s.newTable(how)
		if s.members != nil {
			table = s.members[i].kept(how)
		}
		team.tables = append(team.tables, table.(directTable))
	}
	return team
}

// newTable returns the counts of one part.
func (s *Scanner) newTable(how Counting) counts {
	name := s.Implementation.Name
	switch how {
	case Bytes:
		return &byteTable{functions: machineBytes(name)}
	case Nibbles:
		if f := machineNibbles(name); f != nil {
			return &nibbleTable{functions: *f}
		}
		return &nibbleTable{}
	case Buckets:
		return &bucketTable{functions: machineBuckets(name), share: s.Workers}
	}
	panic("fibers: no counting " + string(how))
}

package fibers

// bucketTeam is the bucket tables of several goroutines that work on one prime: each sorts the
// keys of its part of the cuts into its own buckets; then each counts every n-th bucket,
// of all tables together.
type bucketTeam []*bucketTable

func (t bucketTeam) reset(p uint32) {
	sideBySide(len(t), func(i int) {
		t[i].reset(p)
		t[i].mates = t
	})
}

// add counts keys in the first table. The members of a team add to their own.
func (t bucketTeam) add(keys []int32) { t[0].add(keys) }

func (t bucketTeam) scan(threshold int, found []cell) (sums, []cell, error) {
	return together(len(t), found, func(i int) (sums, []cell, error) { return t[i].scanEvery(len(t), i, threshold, nil) })
}

func (t bucketTeam) lookup(cells []cell) { t[0].lookup(cells) }

func (t bucketTeam) bytes() (n int) {
	for _, table := range t {
		n += table.bytes()
	}
	return n
}

func (t bucketTeam) release() {
	for _, table := range t {
		table.release()
	}
}

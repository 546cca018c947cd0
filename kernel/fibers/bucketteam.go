package fibers

import (
	"errors"
	"sync"
)

// bucketTeam is the bucket tables of several goroutines that work on one prime: each sorts the
// keys of its part of the cuts into its own buckets; then each counts every n-th bucket,
// of all tables together.
type bucketTeam []*bucketTable

func (t bucketTeam) reset(p uint32) {
	for _, table := range t {
		table.reset(p)
		table.mates = t
	}
}

// add counts keys in the first table. The members of a team add to their own.
func (t bucketTeam) add(keys []int32) { t[0].add(keys) }

func (t bucketTeam) scan(threshold int, found []cell) (s sums, _ []cell, err error) {
	parts := make([]struct {
		sums
		found []cell
		err   error
	}, len(t))
	var workers sync.WaitGroup
	for i, table := range t {
		workers.Go(func() {
			p := &parts[i]
			p.sums, p.found, p.err = table.scanEvery(len(t), i, threshold, nil)
		})
	}
	workers.Wait()
	for _, p := range parts {
		s.add(p.sums)
		found = append(found, p.found...)
		err = errors.Join(err, p.err)
	}
	return s, found, err
}

func (t bucketTeam) lookup(cells []cell) { t[0].lookup(cells) }

func (t bucketTeam) bytes() (n int) {
	for _, table := range t {
		n += table.bytes()
	}
	return n
}

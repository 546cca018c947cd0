package check

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// BenchmarkInitMedium reads and checks a real export of 3653 constants.
func BenchmarkInitMedium(b *testing.B) {
	data, err := os.ReadFile("../../testdata/lean/ansatz/init-medium.ndjson.gz")
	if err != nil {
		b.Fatal(err)
	}
	read := func() *export.File {
		f, err := export.Read(bytes.NewReader(data), term.NewStore(nil), export.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			read()
		}
	})
	for threads := 1; threads <= 2; threads++ {
		b.Run(fmt.Sprintf("check/threads=%d", threads), func(b *testing.B) {
			f := read()
			for b.Loop() {
				r, err := Check(context.Background(), f, Options{Threads: threads})
				if err != nil || r.Verdict != Accept {
					b.Fatal(r, err)
				}
			}
		})
	}
}

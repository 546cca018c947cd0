package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

// rangeFlag is --range: an inclusive range, unset while Hi is 0.
type rangeFlag struct{ plan.Range }

func (r *rangeFlag) String() string {
	if r.Hi == 0 {
		return ""
	}
	return r.Range.String()
}
func (r *rangeFlag) Type() string { return "A..B" }
func (r *rangeFlag) Set(s string) (err error) {
	r.Range, err = plan.ParseRange(s)
	return err
}

// shardFlag is --shard i/n or, with base 0, --shard-index.
type shardFlag struct {
	*plan.Shard
	base int // of the first shard
}

func (s shardFlag) String() string {
	if s.Shard == nil || s.N == 0 {
		return ""
	}
	return s.Shard.String()
}
func (s shardFlag) Type() string { return "i/n" }
func (s shardFlag) Set(text string) error {
	if s.base == 0 {
		i, n, ok := strings.Cut(text, "/")
		index, err := strconv.Atoi(i)
		if !ok || err != nil || index < 0 {
			return fmt.Errorf("%q: expected i/n with 0 <= i < n, for example 2/8", text)
		}
		text = fmt.Sprintf("%d/%s", index+1, n)
	}
	shard, err := plan.ParseShard(text)
	*s.Shard = shard
	return err
}

// wholeFlag is a whole number in one of the forms of plan.ParseNumber, within bounds.
type wholeFlag struct {
	value  *int
	lo, hi int
}

func (w wholeFlag) String() string {
	if w.value == nil {
		return ""
	}
	return strconv.Itoa(*w.value)
}
func (w wholeFlag) Type() string { return "N" }
func (w wholeFlag) Set(s string) error {
	v, err := plan.ParseNumber(s)
	if err != nil {
		return err
	}
	if v < uint64(w.lo) || v > uint64(w.hi) {
		return fmt.Errorf("expected %d to %d", w.lo, w.hi)
	}
	*w.value = int(v)
	return nil
}

func kernelNames() []string {
	names := []string{kernel.Auto}
	for _, impl := range residues.All() {
		names = append(names, impl.Name)
	}
	return append(names, kernel.Reference)
}

func countingNames() []string {
	names := []string{"auto"}
	for _, how := range fibers.Countings() {
		names = append(names, string(how))
	}
	return names
}

// work holds the flags that every computing verb has.
type work struct {
	kernel   string
	counting string
	threads  int
	progress string
}

func (w *work) add(f *pflag.FlagSet, defaultKernel string) {
	w.kernel, w.counting, w.progress = defaultKernel, "auto", "auto"
	f.Var(wholeFlag{&w.threads, 1, 1024}, "threads", "workers; what the process may use if not given")
	f.Lookup("threads").DefValue = "0"
	f.Var(cli.Choice{Value: &w.kernel, Words: kernelNames()}, "kernel", "how to compute; auto is the fastest kernel of this machine")
	f.Var(cli.Choice{Value: &w.counting, Words: countingNames()}, "counting", "how the fast kernels count; auto chooses by the size of the prime and of the caches")
	f.Var(cli.Choice{Value: &w.progress, Words: []string{"auto", "bar", "lines", "json", "none"}}, "progress", "how to report on stderr; auto is a bar on a terminal, a line every 10 s elsewhere")
}

// options resolves what was left open, so that messages say what is used.
func (w *work) options() kernel.Options {
	o := kernel.Options{Kernel: w.kernel, Threads: w.threads}
	if o.Kernel == kernel.Auto {
		o.Kernel = residues.Best().Name
	}
	if w.counting != "auto" {
		o.Counting = fibers.Counting(w.counting)
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	return o
}

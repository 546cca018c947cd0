package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test program plays the measured process when called with one of these arguments.
var children = map[string]func(){
	"cores": func() {
		cores, err := allowedCores()
		if err != nil {
			panic(err)
		}
		fmt.Print(cores)
	},
	"memory": func() {
		block := make([]byte, childMemory)
		for i := range block {
			block[i] = byte(i)
		}
		runtime.KeepAlive(block)
	},
	"work": func() {
		var used syscall.Rusage
		for used.Utime.Nano()+used.Stime.Nano() < int64(childWork) {
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
				panic(err)
			}
		}
	},
	"fail": func() {
		fmt.Fprintln(os.Stderr, strings.Repeat("noise\n", tailSize)+"the last words")
		os.Exit(3)
	},
	"sleep": func() { time.Sleep(time.Hour) },
}

const (
	childMemory = 64 << 20
	childWork   = 30 * time.Millisecond
)

func TestMain(m *testing.M) {
	if child := children[os.Args[len(os.Args)-1]]; child != nil && len(os.Args) == 2 {
		child()
		return
	}
	os.Exit(m.Run())
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func self(t *testing.T, child string) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path, child}
}

func TestProcessIsPinnedToTheLastCores(t *testing.T) {
	before, err := allowedCores()
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= len(before); n++ {
		_, answer, err := measure(t.Context(), self(t, "cores"), n)
		if err != nil {
			t.Fatal(err)
		}
		if want := digest(fmt.Sprint(before[len(before)-n:])); answer != want {
			t.Errorf("pinned to %d cores, the process does not see cores %v", n, before[len(before)-n:])
		}
	}
	if after, err := allowedCores(); err != nil || !slices.Equal(before, after) {
		t.Errorf("this process was left with cores %v, %v; want %v", after, err, before)
	}
}

func TestMoreCoresThanAllowedIsAnError(t *testing.T) {
	cores, err := allowedCores()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := measure(t.Context(), self(t, "cores"), len(cores)+1); err == nil || !strings.Contains(err.Error(), "expected") {
		t.Errorf("error %v, want one that says how many cores there are", err)
	}
}

func TestCoresAreKeptBusyBeforeARun(t *testing.T) {
	cores, err := allowedCores()
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	if err := wake(cores[:1]); err != nil || time.Since(started) < wakeTime {
		t.Errorf("awake after %v, %v; want %v of work", time.Since(started), err, wakeTime)
	}
	if err := wake([]int{1023}); err == nil || !strings.Contains(err.Error(), "core 1023") {
		t.Errorf("error %v, want one that names the core that is not there", err)
	}
}

func TestWorkAndMemoryAreCounted(t *testing.T) {
	used, _, err := measure(t.Context(), self(t, "work"), 1)
	if err != nil || used.CPU < childWork {
		t.Errorf("a process that works for %v was counted with %v, %v", childWork, used.CPU, err)
	}
	if used.Wall <= 0 {
		t.Errorf("it took %v", used.Wall)
	}
	used, _, err = measure(t.Context(), self(t, "memory"), 1)
	if err != nil || used.Memory < childMemory || used.Memory > 4*childMemory {
		t.Errorf("a process that fills %d bytes was counted with %d, %v", childMemory, used.Memory, err)
	}
}

func TestFailureOfAProcessShowsItsLastMessages(t *testing.T) {
	_, _, err := measure(t.Context(), self(t, "fail"), 1)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.HasSuffix(err.Error(), "the last words\n") {
		t.Errorf("error %v, want exit status 3 and the last words", err)
	}
	if err != nil && len(err.Error()) > tailSize+500 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
	if _, _, err := measure(t.Context(), []string{"no/such/program"}, 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one that says that there is no such program", err)
	}
}

func TestInterruptEndsTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(wakeTime+20*time.Millisecond, cancel)
	if _, _, err := measure(ctx, self(t, "sleep"), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

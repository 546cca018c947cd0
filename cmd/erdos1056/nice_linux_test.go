package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// All threads of the process run at the lowest priority.
func TestNiceLowersThePriority(t *testing.T) {
	pid, _, interrupt := begin(t, t.TempDir(), "--nice")
	defer interrupt()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatal(tasks, err)
	}
	for _, task := range tasks {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/stat", pid, task.Name()))
		if err != nil {
			continue // the thread has ended
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if nice := fields[16]; nice != "19" {
			t.Errorf("thread %s has nice %s, want 19", task.Name(), nice)
		}
	}
}

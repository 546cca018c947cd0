package main

import (
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{1, 2}, 1.5},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{5, 5, 1000, 5, 0}, 5},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestMedianLeavesItsValuesInOrder(t *testing.T) {
	values := []float64{3, 1, 2}
	median(values)
	if values[0] != 3 || values[1] != 1 || values[2] != 2 {
		t.Errorf("the values became %v", values)
	}
}

// trialOf has runs of the given CPU times; the wall time is twice as long.
func trialOf(w Workload, p Program, memory int64, cpu ...time.Duration) *Trial {
	t := &Trial{Workload: w, Program: p}
	for _, c := range cpu {
		t.Runs = append(t.Runs, Run{CPU: c, Wall: 2 * c, Memory: memory})
	}
	return t
}

func TestSpeedIsTheRatioOfTimesPerCut(t *testing.T) {
	fast := trialOf(Workload{Cuts: 1000}, Program{}, 0, 3*time.Microsecond, 2*time.Microsecond, time.Microsecond)
	slow := trialOf(Workload{Cuts: 100}, Program{}, 0, time.Microsecond)
	if got := fast.perCut(fast.median(cpu)); got != 2 {
		t.Errorf("%v ns per cut, want 2", got)
	}
	if got := fast.speed(slow); got != 5 {
		t.Errorf("the fast one is %v times as fast, want 5", got)
	}
	if got := slow.speed(fast); got != 0.2 {
		t.Errorf("the slow one is %v times as fast, want 0.2", got)
	}
	if least, most := fast.least(wall), fast.most(wall); least != 2000 || most != 6000 {
		t.Errorf("wall times from %v to %v, want 2000 to 6000", least, most)
	}
}

package main

import "slices"

// Figures of a run, in nanoseconds and bytes.
func cpu(r Run) float64    { return float64(r.CPU) }
func wall(r Run) float64   { return float64(r.Wall) }
func memory(r Run) float64 { return float64(r.Memory) }

// median returns the middle value, or of an even number of values the mean of the two in
// the middle. There must be a value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// median is the median of one figure over the runs.
func (t *Trial) median(figure func(Run) float64) float64 { return median(t.figures(figure)) }

func (t *Trial) figures(figure func(Run) float64) []float64 {
	values := make([]float64, len(t.Runs))
	for i, r := range t.Runs {
		values[i] = figure(r)
	}
	return values
}

// perCut is a CPU time in nanoseconds per cut.
func (t *Trial) perCut(cpu float64) float64 { return cpu / float64(t.Workload.Cuts) }

// speed says how many times the CPU time per cut of t another trial needs.
func (t *Trial) speed(other *Trial) float64 {
	return other.perCut(other.median(cpu)) / t.perCut(t.median(cpu))
}

func (t *Trial) least(figure func(Run) float64) float64 { return slices.Min(t.figures(figure)) }
func (t *Trial) most(figure func(Run) float64) float64  { return slices.Max(t.figures(figure)) }

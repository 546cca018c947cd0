package main

import (
	"slices"
	"testing"
)

// pairs writes trials as "workload, program".
func pairs(trials []*Trial) []string {
	var names []string
	for _, t := range trials {
		names = append(names, t.String())
	}
	return names
}

func TestSchedule(t *testing.T) {
	near5e7 := Workload{Name: "hunt near 5e7", Question: Hunt}
	ws := []Workload{someArtifact, someHunt, near5e7, someSpecial}
	all := contest{"baseline", "erdos1056", []string{"avx512", "avx2", "generic"}, []Program{named("scan", true)}, []Program{named("special", true)}, true}
	oneCore := all
	oneCore.twoCores, oneCore.hunters, oneCore.special = false, nil, nil
	for _, c := range []struct {
		name    string
		contest contest
		want    []string
	}{
		{"two cores and peers", all, []string{
			"artifact, baseline", "artifact, avx512", "artifact, avx512, 2 threads", "artifact, avx2", "artifact, generic",
			standard + ", avx512", standard + ", avx512, 2 threads", standard + ", scan",
			"hunt near 5e7, avx512", "hunt near 5e7, scan",
			"residue -1, avx512", "residue -1, special",
		}},
		{"one core", oneCore, []string{
			"artifact, baseline", "artifact, avx512", "artifact, avx2", "artifact, generic",
			standard + ", avx512", "hunt near 5e7, avx512", "residue -1, avx512",
		}},
	} {
		if got := pairs(schedule(ws, c.contest)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestGenericKernelIsEverywhere(t *testing.T) {
	if names := kernels(); !slices.Contains(names, "generic") {
		t.Errorf("kernels %v, want generic among them", names)
	}
}

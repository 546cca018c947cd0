//go:build !race

package fibers

func raceRead([]int32) {}

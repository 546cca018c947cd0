//go:build !linux

package fibers

func allocate(n int) (whole []byte, mapped bool) { return make([]byte, n), false }

func unmap([]byte) {}

// adviseHugePages does nothing: these systems choose the size of pages themselves.
func adviseHugePages([]byte) {}

//go:build !linux

package fibers

// adviseHugePages does nothing: these systems choose the size of pages themselves.
func adviseHugePages([]byte) {}

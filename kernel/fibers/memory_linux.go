package fibers

import "golang.org/x/sys/unix"

// adviseHugePages asks for huge pages. A refusal costs speed only.
func adviseHugePages(memory []byte) {
	_ = unix.Madvise(memory, unix.MADV_HUGEPAGE)
}

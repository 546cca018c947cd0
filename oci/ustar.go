package oci

import "fmt"

const (
	blockSize = 512
	maxName   = 100 // longer names would need a prefix field; no verifier has one
)

// tarBytes returns the tree as a POSIX ustar archive whose bytes depend on the
// tree and the time alone: owner 0, no names of users, no extension records.
func tarBytes(tree Tree, seconds int64) ([]byte, error) {
	var archive []byte
	for _, e := range tree {
		header, err := tarHeader(e, seconds)
		if err != nil {
			return nil, err
		}
		archive = append(append(archive, header...), e.Data...)
		archive = append(archive, make([]byte, -len(e.Data)&(blockSize-1))...)
	}
	return append(archive, make([]byte, 2*blockSize)...), nil
}

// tarHeader returns the header block of an entry: the fields of struct posix_header
// in their order, numbers in octal.
func tarHeader(e Entry, seconds int64) ([]byte, error) {
	name, kind, mode := e.Path, byte('0'), int64(e.Mode.Perm())
	if e.Mode.IsDir() {
		name, kind = name+"/", '5'
	}
	if len(name) > maxName {
		return nil, fmt.Errorf("oci: %s: the name is too long for a tar header", e.Path)
	}
	const maxOctal = 1 << 33 // eleven octal digits
	if int64(len(e.Data)) >= maxOctal || seconds < 0 || seconds >= maxOctal {
		return nil, fmt.Errorf("oci: %s: size %d or time %d does not fit a tar header", e.Path, len(e.Data), seconds)
	}
	block := make([]byte, 0, blockSize)
	field := func(size int, value string) {
		block = append(block, value...)
		block = append(block, make([]byte, size-len(value))...)
	}
	field(100, name)
	field(8, fmt.Sprintf("%07o", mode))
	field(8, "0000000") // user
	field(8, "0000000") // group
	field(12, fmt.Sprintf("%011o", len(e.Data)))
	field(12, fmt.Sprintf("%011o", seconds))
	field(8, "        ") // checksum, see below
	block = append(block, kind)
	field(100, "") // link
	field(8, "ustar\x0000")
	field(32, "")       // user name
	field(32, "")       // group name
	field(8, "0000000") // device
	field(8, "0000000")
	field(155, "") // prefix
	field(12, "")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	return block, nil
}

package oci

import (
	"encoding/binary"
	"hash/crc32"
)

// storedGzip wraps data in a gzip member (RFC 1952) made of stored deflate
// blocks (RFC 1951, 3.2.4). Registries and runtimes see an ordinary compressed
// layer, but no compressor, whose output changes with its version and even with
// the processor, has a say in the digest.
func storedGzip(data []byte) []byte {
	const (
		maxStored  = 1<<16 - 1
		deflate    = 8
		noFlags    = 0
		unknownOS  = 255
		finalBlock = 1
	)
	out := make([]byte, 0, len(data)+5*(len(data)/maxStored+1)+18)
	out = append(out, 0x1f, 0x8b, deflate, noFlags, 0, 0, 0, 0, 0, unknownOS)
	for rest := data; ; {
		n := min(len(rest), maxStored)
		var header byte
		if n == len(rest) {
			header = finalBlock
		}
		out = append(out, header)
		out = binary.LittleEndian.AppendUint16(out, uint16(n))
		out = binary.LittleEndian.AppendUint16(out, ^uint16(n))
		out = append(out, rest[:n]...)
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
	}
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(out, uint32(len(data)))
}

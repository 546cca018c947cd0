// Package oci packs a tree of files into a container image that anyone can
// rebuild to the same digest, and moves such images to and from layouts,
// archives and registries.
//
// The way of the data is
//
//	tree → layer → image per platform → index
//
// and every byte of it is decided here: the tar headers, the compression (none:
// gzip's stored blocks), the JSON. Nothing depends on the clock, the user, the
// file system, or a compressor's version. An image is always an index, even for
// one platform, and its name is the index digest.
//
// Formats: OCI Image Format Specification 1.1, OCI Distribution Specification
// 1.1, POSIX.1-1988 ustar, RFC 1952 (gzip) and RFC 1951 (deflate).
package oci

package schema

import "regexp"

// Forms that many formats share.
var (
	// Digest is "sha256:" and 64 lower-case hexadecimal digits.
	Digest = Named{"digest", String{0, 71, regexp.MustCompile(`^sha256:[0-9a-f]{64}$`), "a digest (sha256: and 64 lower-case hexadecimal digits)"}}

	// GitObject is a full SHA-1 or SHA-256 object name.
	GitObject = Named{"gitObject", String{0, 64, regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`), "a Git object name (40 or 64 lower-case hexadecimal digits)"}}

	// RelativePath is a portable path below some root: segments that are neither
	// empty nor "." nor "..", without backslashes and control characters.
	RelativePath = Named{"relativePath", String{1, 1024, relativePath, "a relative path of plain segments (no '.', '..', empty segment, backslash or control character)"}}
)

const segment = `(?:[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*|\.(?:[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*|\.[^/\\\x00-\x1f\x7f]+))`

var relativePath = regexp.MustCompile(`^` + segment + `(?:/` + segment + `)*$`)

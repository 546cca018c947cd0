package canon

import "github.com/erdos1056/erdos1056/internal/digest"

// ContentDigest returns the digest of a value's canonical text and one newline.
func ContentDigest(v Value) (digest.Digest, error) {
	line, err := EncodeLine(v)
	if err != nil {
		return "", err
	}
	return digest.Of(line), nil
}

// ProtocolDigest returns the digest of a value's canonical text alone.
func ProtocolDigest(v Value) (digest.Digest, error) {
	text, err := Encode(v)
	if err != nil {
		return "", err
	}
	return digest.Of(text), nil
}

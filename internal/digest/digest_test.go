package digest

import (
	"strings"
	"testing"
)

const ofNothing = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestDigestOfBytes(t *testing.T) {
	if got := Of(nil); got != ofNothing || got.Hex() != strings.TrimPrefix(ofNothing, "sha256:") {
		t.Errorf("the digest of nothing is %s with digits %s", got, got.Hex())
	}
	h := New()
	h.Write([]byte("some "))
	h.Write([]byte("bytes"))
	if got, expected := From(h), Of([]byte("some bytes")); got != expected {
		t.Errorf("written in two parts: expected %s, found %s", expected, got)
	}
}

func TestParseAcceptsOneSpelling(t *testing.T) {
	if d, err := Parse(ofNothing); err != nil || d != ofNothing {
		t.Errorf("%s, %v", d, err)
	}
	for _, bad := range []string{
		"", ofNothing[7:], ofNothing[:70], ofNothing + "0", strings.ToUpper(ofNothing), "sha256:" + strings.ToUpper(ofNothing[7:]),
		" " + ofNothing, ofNothing + "\n", "sha512:" + ofNothing[7:], strings.Repeat("x", 1000),
	} {
		if _, err := Parse(bad); err == nil || len(err.Error()) > 200 {
			t.Errorf("Parse(%q): %v; expected a short error", bad, err)
		}
	}
}

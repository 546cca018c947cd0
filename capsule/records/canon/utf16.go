package canon

import (
	"strings"
	"unicode/utf8"
)

func isHighSurrogate(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLowSurrogate(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }

// writeSurrogate appends the WTF-8 form of a lone surrogate.
func writeSurrogate(text *strings.Builder, unit rune) {
	text.WriteByte(0xed)
	text.WriteByte(0x80 | byte(unit>>6&0x3f))
	text.WriteByte(0x80 | byte(unit&0x3f))
}

// decodeRune decodes the first code point of WTF-8 text.
func decodeRune(s string) (r rune, size int) {
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2] >= 0x80 && s[2] <= 0xbf {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return utf8.DecodeRuneInString(s)
}

// UTF16Length returns the length of s in UTF-16 code units, which is how
// ECMAScript measures a string.
func UTF16Length(s string) int {
	n := 0
	for len(s) > 0 {
		r, size := decodeRune(s)
		if r >= 0x10000 {
			n++
		}
		n++
		s = s[size:]
	}
	return n
}

// CompareUTF16 orders two strings by their UTF-16 code units, which is how
// ECMAScript and RFC 8785 sort the keys of an object. It differs from byte
// order where a character beyond U+FFFF meets one of U+E000..U+FFFF.
func CompareUTF16(a, b string) int {
	x, y := units{rest: a}, units{rest: b}
	for {
		ux, okx := x.next()
		uy, oky := y.next()
		switch {
		case !okx && !oky:
			return 0
		case !okx:
			return -1
		case !oky:
			return 1
		case ux != uy:
			return int(ux) - int(uy)
		}
	}
}

// units yields the UTF-16 code units of WTF-8 text.
type units struct {
	rest string
	low  rune
}

func (u *units) next() (rune, bool) {
	if u.low != 0 {
		unit := u.low
		u.low = 0
		return unit, true
	}
	if u.rest == "" {
		return 0, false
	}
	r, size := decodeRune(u.rest)
	u.rest = u.rest[size:]
	if r < 0x10000 {
		return r, true
	}
	r -= 0x10000
	u.low = 0xdc00 + r&0x3ff
	return 0xd800 + r>>10, true
}

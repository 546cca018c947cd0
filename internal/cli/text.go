package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// longest bounds a piece of foreign text on a terminal, in characters.
const longest = 200

// Quote is how text is shown that comes from a file, a registry, or another program: in
// quotes, at most 200 characters, everything that a terminal could act on escaped.
func Quote(text string) string {
	if utf8.RuneCountInString(text) <= longest {
		return strconv.Quote(text)
	}
	cut := string([]rune(text)[:longest])
	return fmt.Sprintf("%s... (%d bytes)", strconv.Quote(cut), len(text))
}

// Clean escapes what a terminal could act on: control characters but the newline and the
// tab, marks that turn the direction of writing, and bytes that are no text.
func Clean(text string) string { return escape(text, "\n\t") }

// cleanLine is Clean for what must stay one line.
func cleanLine(text string) string { return escape(text, "\t") }

func escape(text, kept string) string {
	var b strings.Builder
	for i, width := 0, 0; i < len(text); i += width {
		var r rune
		r, width = utf8.DecodeRuneInString(text[i:])
		piece := text[i : i+width]
		switch {
		case r == utf8.RuneError && width == 1:
			fmt.Fprintf(&b, `\x%02x`, piece[0])
		case strings.ContainsRune(kept, r), unicode.IsPrint(r), unicode.Is(unicode.Zs, r):
			b.WriteString(piece)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// utf16Units returns the code units of JSON's escapes.
func utf16Units(r rune) []uint16 { return utf16.Encode([]rune{r}) }

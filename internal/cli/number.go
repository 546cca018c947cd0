package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Thousands writes a number with its digits in groups of three, as in 10 428 401.
func Thousands[N ~int | ~int64 | ~uint64 | ~uint32](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	if n > 0 {
		digits = strconv.FormatUint(uint64(n), 10)
	}
	sign := strings.TrimRight(digits, "0123456789")
	digits = digits[len(sign):]
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + " " + digits[i:]
	}
	return sign + digits
}

// Metric writes a quantity with three digits and a prefix, as in 1.31 G.
func Metric(x float64) string {
	prefixes := []string{"", "k", "M", "G", "T", "P"}
	i := 0
	for ; i < len(prefixes)-1 && x >= 999.5; i++ {
		x /= 1000
	}
	return strings.TrimSpace(fmt.Sprintf("%.3g %s", x, prefixes[i]))
}

// Bytes writes a size, as in 1.9 MB.
func Bytes[N ~int | ~int64](n N) string {
	switch x := float64(n); {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case x < 999.5e3:
		return fmt.Sprintf("%.3g kB", x/1e3)
	default:
		return fmt.Sprintf("%.1f MB", x/1e6)
	}
}

// Duration writes a time in seconds with the units that matter, as in 9 h 12 min.
func Duration(seconds float64) string {
	if s := int(math.Round(seconds)); s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	m := int(math.Round(seconds / 60))
	if m < 60 {
		return fmt.Sprintf("%d min", m)
	}
	return fmt.Sprintf("%d h %d min", m/60, m%60)
}

// Plural writes a number of things, as in "1 folder" and "3 folders".
func Plural[N ~int | ~int64 | ~uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Thousands(n) + " " + thing + "s"
}

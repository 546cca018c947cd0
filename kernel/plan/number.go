package plan

import (
	"fmt"
	"math/big"
	"strings"
)

// NumberForms describes what ParseNumber accepts, for usage messages.
const NumberForms = "a whole number such as 10428401, 10_428_401, 1e7, 1.5e7 or 2^24"

// maxDigits bounds the mantissa, the exponent and the power of a number
// expression before any arithmetic is done on them.
const maxDigits = 24

// ParseNumber reads one non-negative whole number below 2^63 written as plain
// digits, with single underscores between digits, in scientific notation
// (1e7, 1.0428e7; the value must be whole) or as a power (2^24).
func ParseNumber(s string) (uint64, error) {
	if s == "" {
		return 0, fmt.Errorf("expected %s, found nothing", NumberForms)
	}
	bad := func(why string) error {
		return fmt.Errorf("%q: %s; write %s", s, why, NumberForms)
	}
	if len(s) > 3*maxDigits {
		return 0, bad("too long")
	}
	if s[0] == '-' {
		return 0, bad("negative")
	}
	var v *big.Int
	switch {
	case strings.Contains(s, "^"):
		base, exp, _ := strings.Cut(s, "^")
		b, ok1 := digits(base)
		e, ok2 := digits(exp)
		if !ok1 || !ok2 {
			return 0, bad("not a power")
		}
		if !e.IsUint64() || e.Uint64() > 63 {
			return 0, bad("the exponent is above 63")
		}
		v = new(big.Int).Exp(b, e, nil)
	case strings.ContainsAny(s, "eE."):
		mantissa, exp, hasExp := strings.Cut(strings.ToLower(s), "e")
		whole, frac, hasFrac := strings.Cut(mantissa, ".")
		if hasFrac && frac == "" {
			return 0, bad("digits are missing after the point")
		}
		m, ok := digits(whole + frac)
		if !ok || whole == "" || strings.HasPrefix(frac, "_") || strings.HasSuffix(whole, "_") {
			return 0, bad("not a number")
		}
		e := int64(0)
		if hasExp {
			x, ok := digits(exp)
			if !ok || !x.IsInt64() || x.Int64() > maxDigits {
				return 0, bad("not an exponent from 0 to 24")
			}
			e = x.Int64()
		}
		e -= int64(len(strings.ReplaceAll(frac, "_", "")))
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(e, -e)), nil)
		v = new(big.Int)
		if e >= 0 {
			v.Mul(m, scale)
		} else {
			rem := new(big.Int)
			if v.QuoRem(m, scale, rem); rem.Sign() != 0 {
				return 0, bad("not a whole number")
			}
		}
	default:
		d, ok := digits(s)
		if !ok {
			return 0, bad("not a number")
		}
		v = d
	}
	if !v.IsInt64() {
		return 0, bad("too large")
	}
	return v.Uint64(), nil
}

// digits reads decimal digits with single underscores between them.
func digits(s string) (*big.Int, bool) {
	if s == "" || len(s) > 2*maxDigits {
		return nil, false
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] >= '0' && s[i] <= '9':
		case s[i] == '_' && i > 0 && i < len(s)-1 && s[i-1] != '_':
		default:
			return nil, false
		}
	}
	return new(big.Int).SetString(strings.ReplaceAll(s, "_", ""), 10)
}

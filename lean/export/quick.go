package export

// quick reads applications, seven lines in ten of a real export, when they are
// spelled exactly as the exporter does. It reports false for every other line,
// which is left to the scanner.
func (r *jsonReader) quick(line []byte) (bool, error) {
	c := cursor{rest: line, ok: true}
	c.need(`{"app":{"arg":`)
	if !c.ok {
		return false, nil
	}
	arg := c.number()
	c.need(`,"fn":`)
	fn := c.number()
	c.need(`},"ie":`)
	index := c.number()
	c.need("}")
	if !c.ok || len(c.rest) > 0 {
		return false, nil
	}
	f, err := r.expr(fn)
	if err != nil {
		return true, err
	}
	a, err := r.expr(arg)
	if err != nil {
		return true, err
	}
	return true, r.defineExpr(index, r.store.App(f, a))
}

// A cursor matches a line against a fixed spelling.
type cursor struct {
	rest []byte
	ok   bool
}

// need takes text, which must come next.
func (c *cursor) need(text string) {
	if len(c.rest) < len(text) || string(c.rest[:len(text)]) != text {
		c.ok = false
		return
	}
	c.rest = c.rest[len(text):]
}

// number takes a number of one to nine digits without leading zeros.
func (c *cursor) number() uint64 {
	n, i := uint64(0), 0
	for ; i < len(c.rest) && i < 10 && c.rest[i] >= '0' && c.rest[i] <= '9'; i++ {
		n = 10*n + uint64(c.rest[i]-'0')
	}
	c.ok = c.ok && i > 0 && i < 10 && (i == 1 || c.rest[0] != '0')
	c.rest = c.rest[i:]
	return n
}

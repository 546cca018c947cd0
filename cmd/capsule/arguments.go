package main

// oneFile returns the one file or folder that a verb is about.
func (c *call) oneFile(what string) (string, error) {
	if len(c.args) != 1 {
		return "", usageError("expected %s, found %d arguments; give one", what, len(c.args))
	}
	return c.args[0], nil
}

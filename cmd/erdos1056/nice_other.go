//go:build !unix || solaris || aix

package main

import "errors"

func lowestPriority() error {
	return errors.New("not supported on this system; lower the priority from outside")
}

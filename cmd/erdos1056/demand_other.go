//go:build !unix

package main

import "os"

// onDemand delivers nothing: there is no SIGUSR1 here.
func onDemand() (<-chan os.Signal, func()) { return nil, func() {} }

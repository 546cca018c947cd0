//go:build !linux

package main

import (
	"context"
	"errors"
)

var errNotLinux = errors.New("measuring needs Linux, which pins a process to cores and counts its memory")

func allowedCores() ([]int, error) { return nil, errNotLinux }

func measure(context.Context, []string, int) (Run, string, error) { return Run{}, "", errNotLinux }

package main

import (
	"errors"
	"fmt"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// readFile reads a bounded file that the user named with a flag or as an
// argument.
func readFile(what, name string, limit int64) ([]byte, error) {
	if name == "" {
		return nil, cli.Usagef("no file given; write %s FILE", what)
	}
	text, err := disk.Read(name, limit, disk.FollowLinks)
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return text, err
}

// unfit is the error of an input that was read and is not what it should be.
func unfit(name string, err error) error {
	return classified(cli.BadInput, fmt.Errorf("%s: %w", name, err))
}

// failedCheck is the error of a document that was to be judged and is not what
// it claims to be. A limit of the reader is no verdict.
func failedCheck(err error) error {
	var limit *canon.LimitError
	if errors.As(err, &limit) {
		return cli.BadInputf("no verdict: %w", err)
	}
	return classified(cli.Failed, err)
}

// classified gives an error a code unless it tells what became of a file, such as
// that it is missing.
func classified(code int, err error) error {
	if cli.ExitCode(err) != cli.Internal {
		return err
	}
	return cli.WithCode(code, err)
}

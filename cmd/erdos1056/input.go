package main

import (
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// readInput reads a regular file of at most limit bytes that the user names.
func readInput(name string, limit int64) ([]byte, error) {
	return disk.Read(name, limit, disk.FollowLinks)
}

// unfit is the error of an input that is not what it should be; one that tells what became of
// a file keeps its own code.
func unfit(err error) error { return classified(cli.BadInput, err) }

// judged is the error of something that was to be judged and is not what it claims to be.
func judged(err error) error { return classified(cli.Failed, err) }

func classified(code int, err error) error {
	if cli.ExitCode(err) != cli.Internal {
		return err
	}
	return cli.WithCode(code, err)
}

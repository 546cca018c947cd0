package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

func runVersion(_ context.Context, args []string) error {
	if err := parse(newFlags("version", "erdos1056 version prints the version of this program.\n"), args, 0, "erdos1056 version"); err != nil {
		return helped(err)
	}
	fmt.Printf("erdos1056 %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// version is the module's version as the Go tool recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

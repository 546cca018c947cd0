//go:build !unix

package durable

import "os"

// syncDir does nothing: these systems cannot sync a folder.
func syncDir(*os.File) error { return nil }

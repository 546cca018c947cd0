module github.com/erdos1056/erdos1056

go 1.26.0

toolchain go1.26.8

require (
	github.com/spf13/pflag v1.1.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/term v0.48.0 // indirect
)

module github.com/erdos1056/erdos1056

go 1.26.0

toolchain go1.26.8

require (
	github.com/elastic/go-seccomp-bpf v1.6.0
	github.com/landlock-lsm/go-landlock v0.11.2
	github.com/opencontainers/runtime-spec v1.3.0
	golang.org/x/sys v0.50.0
)

require (
	golang.org/x/net v0.41.0 // indirect
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.78 // indirect
)

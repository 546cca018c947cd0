module github.com/erdos1056/erdos1056

go 1.26.0

toolchain go1.26.8

require (
	github.com/gowebpki/jcs v1.0.2
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
)

require golang.org/x/text v0.14.0 // indirect

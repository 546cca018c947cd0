module github.com/erdos1056/erdos1056

go 1.26.0

toolchain go1.26.8

require github.com/gowebpki/jcs v1.0.2 // indirect

package conformance

import (
	"bytes"
	"os"
	"testing"
)

const testdata = "../../testdata/cuecrux/"

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testdata + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGeneratedSchemaEqualsThePublishedOne(t *testing.T) {
	generated, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	published := readFile(t, "pack.conformance.v1.schema.json")
	if !bytes.Equal(generated, published) {
		t.Fatalf("generated schema differs from the published document:\n%s", generated)
	}
}

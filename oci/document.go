package oci

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/erdos1056/erdos1056/internal/digest"
)

// Media types of the OCI image specification and of sigstore bundles.
const (
	IndexType     = "application/vnd.oci.image.index.v1+json"
	ManifestType  = "application/vnd.oci.image.manifest.v1+json"
	ConfigType    = "application/vnd.oci.image.config.v1+json"
	LayerType     = "application/vnd.oci.image.layer.v1.tar+gzip"
	emptyType     = "application/vnd.oci.empty.v1+json"
	BundleType    = "application/vnd.dev.sigstore.bundle.v0.3+json"
	schemaVersion = 2
)

// A Digest is "sha256:" and 64 lower-case hexadecimal digits.
type Digest = digest.Digest

// ParseDigest checks the form of a digest.
func ParseDigest(s string) (Digest, error) { return digest.Parse(s) }

// A Platform is an operating system and a processor architecture in Go's words.
type Platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

func (p Platform) String() string { return p.OS + "/" + p.Architecture }

// A Descriptor points to a blob.
type Descriptor struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType,omitempty"`
	Digest       Digest            `json:"digest"`
	Size         int64             `json:"size"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	Platform     *Platform         `json:"platform,omitempty"`
}

type indexDocument struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Manifests     []Descriptor      `json:"manifests"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type manifestDocument struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	ArtifactType  string            `json:"artifactType,omitempty"`
	Config        Descriptor        `json:"config"`
	Layers        []Descriptor      `json:"layers"`
	Subject       *Descriptor       `json:"subject,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type configDocument struct {
	Created      string          `json:"created"`
	Author       string          `json:"author,omitempty"`
	Architecture string          `json:"architecture"`
	OS           string          `json:"os"`
	Config       containerConfig `json:"config"`
	RootFS       rootFS          `json:"rootfs"`
	History      []history       `json:"history"`
}

type containerConfig struct {
	User       string            `json:"User,omitempty"`
	Env        []string          `json:"Env,omitempty"`
	Entrypoint []string          `json:"Entrypoint,omitempty"`
	WorkingDir string            `json:"WorkingDir,omitempty"`
	Labels     map[string]string `json:"Labels,omitempty"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []Digest `json:"diff_ids"`
}

type history struct {
	Created    string `json:"created,omitempty"`
	CreatedBy  string `json:"created_by,omitempty"`
	EmptyLayer bool   `json:"empty_layer,omitempty"`
}

// encode returns the document's JSON: fields in the order of the specification,
// map keys sorted, no blanks, no newline, nothing escaped for HTML.
func encode(document any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(document); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// timestamp formats seconds since 1970 as the specification wants it.
func timestamp(seconds int64) string {
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}

package attestation

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Contents says what one platform's image is made of.
type Contents struct {
	Name     string // of the image
	Digest   string // sha256 of its manifest, hexadecimal
	Created  time.Time
	Tool     string // who wrote the document, "name-version"
	License  string // SPDX expression
	Files    []ContentFile
	Packages []ContentPackage // what the files were built from
}

// A ContentFile is a file of the image.
type ContentFile struct {
	Path string
	Data []byte
}

// A ContentPackage is a module or a standard library in a file.
type ContentPackage struct {
	Name, Version string
	PURL          string // package URL
}

type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		DataLicense   string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Files         []spdxFile         `json:"files"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		Name             string          `json:"name"`
		ID               string          `json:"SPDXID"`
		Version          string          `json:"versionInfo,omitempty"`
		Location         string          `json:"downloadLocation"`
		FilesAnalyzed    bool            `json:"filesAnalyzed"`
		Checksums        []spdxChecksum  `json:"checksums,omitempty"`
		LicenseConcluded string          `json:"licenseConcluded"`
		LicenseDeclared  string          `json:"licenseDeclared"`
		Copyright        string          `json:"copyrightText"`
		References       []spdxReference `json:"externalRefs,omitempty"`
		Purpose          string          `json:"primaryPackagePurpose,omitempty"`
	}
	spdxFile struct {
		Name             string         `json:"fileName"`
		ID               string         `json:"SPDXID"`
		Checksums        []spdxChecksum `json:"checksums"`
		LicenseConcluded string         `json:"licenseConcluded"`
		Copyright        string         `json:"copyrightText"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxReference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		Kind string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

// NewContents returns the SPDX 2.3 document of one platform's image as a
// statement about its manifest.
func NewContents(c Contents) (Statement, error) {
	const document, image, unknown = "SPDXRef-DOCUMENT", "SPDXRef-Image", "NOASSERTION"
	d := spdxDocument{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: document, Name: c.Name,
		Namespace: "https://github.com/erdos1056/erdos1056/spdx/" + c.Digest,
		Creation:  spdxCreation{timestamp(c.Created), []string{"Tool: " + c.Tool}},
		Packages: []spdxPackage{{
			Name: c.Name, ID: image, Location: unknown, Purpose: "CONTAINER",
			Checksums:        []spdxChecksum{{"SHA256", c.Digest}},
			LicenseConcluded: c.License, LicenseDeclared: c.License, Copyright: unknown,
		}},
		Relationships: []spdxRelationship{{document, "DESCRIBES", image}},
	}
	for i, f := range c.Files {
		id := fmt.Sprintf("SPDXRef-File-%d", i+1)
		sum1, sum256 := sha1.Sum(f.Data), sha256.Sum256(f.Data) // SPDX wants both
		d.Files = append(d.Files, spdxFile{
			Name: "./" + f.Path, ID: id, LicenseConcluded: c.License, Copyright: unknown,
			Checksums: []spdxChecksum{{"SHA1", hex.EncodeToString(sum1[:])}, {"SHA256", hex.EncodeToString(sum256[:])}},
		})
		d.Relationships = append(d.Relationships, spdxRelationship{image, "CONTAINS", id})
	}
	for i, p := range c.Packages {
		id := fmt.Sprintf("SPDXRef-Package-%d", i+1)
		d.Packages = append(d.Packages, spdxPackage{
			Name: p.Name, ID: id, Version: p.Version, Location: unknown,
			LicenseConcluded: unknown, LicenseDeclared: unknown, Copyright: unknown,
			References: []spdxReference{{"PACKAGE-MANAGER", "purl", p.PURL}},
		})
		d.Relationships = append(d.Relationships, spdxRelationship{image, "CONTAINS", id})
	}
	return newStatement(SPDXType, d, []Subject{NewSubject(c.Name, c.Digest)})
}

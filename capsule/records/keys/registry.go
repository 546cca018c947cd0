package keys

import (
	"crypto/ed25519"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// Role is what a key may sign.
type Role string

// The roles.
const (
	Publisher Role = "publisher" // manifests, declarations and their verdicts
	Entrant   Role = "entrant"   // run bundles
	Proctor   Role = "proctor"   // co-signatures of run bundles, and certificates
)

// Entry says whom a public key belongs to.
type Entry struct {
	Fingerprint Fingerprint // set by Registry.With
	Public      ed25519.PublicKey
	Holder      string // a name for people
	Roles       []Role
}

// May tells whether the key may sign in a role.
func (e Entry) May(role Role) bool { return slices.Contains(e.Roles, role) }

// Registry is a list of keys that a verifier trusts. The zero Registry trusts
// nobody.
type Registry struct{ entries []Entry }

// NewRegistry returns a registry of the given keys; a later entry of one key
// replaces an earlier one.
func NewRegistry(entries ...Entry) Registry {
	var r Registry
	for _, e := range entries {
		r = r.With(e)
	}
	return r
}

// With returns the registry with one entry added, or replaced when it has the
// key already.
func (r Registry) With(e Entry) Registry {
	e.Fingerprint = FingerprintOf(e.Public)
	entries := slices.DeleteFunc(slices.Clone(r.entries), func(old Entry) bool { return old.Fingerprint == e.Fingerprint })
	entries = append(entries, e)
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(string(a.Fingerprint), string(b.Fingerprint)) })
	return Registry{entries}
}

// Entries returns the entries in the order of their fingerprints.
func (r Registry) Entries() []Entry { return slices.Clone(r.entries) }

// Lookup finds a key by its fingerprint.
func (r Registry) Lookup(f Fingerprint) (Entry, bool) {
	for _, e := range r.entries {
		if e.Fingerprint == f {
			return e, true
		}
	}
	return Entry{}, false
}

// registryFile is the file form of a registry.
type registryFile struct {
	Schema string          `json:"schema"`
	Keys   []registryEntry `json:"keys"`
}

type registryEntry struct {
	Fingerprint  Fingerprint `json:"fingerprint"`
	PublicKeyHex string      `json:"public_key_hex"`
	Holder       string      `json:"holder"`
	Roles        []Role      `json:"roles"`
}

// FingerprintForm is the form of a fingerprint in a document.
var FingerprintForm = schema.String{Min: 34, Max: 34, Pattern: regexp.MustCompile(`^p_[0-9a-f]{32}$`), Form: "a fingerprint (p_ and 32 lower-case hexadecimal digits)"}

// RegistrySpec is the format of a registry file.
var RegistrySpec = schema.Spec[registryFile]{
	Name:   "registry",
	ID:     "erdos1056.keys.v1",
	Title:  "Registry of trusted keys",
	Limits: canon.DocumentLimits,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("erdos1056.keys.v1")),
		schema.Required("keys", schema.Array{Max: 4096, Items: schema.Object{
			schema.Required("fingerprint", FingerprintForm),
			schema.Required("public_key_hex", schema.String{Min: 64, Max: 64, Pattern: regexp.MustCompile(`^[0-9a-f]{64}$`), Form: "a public key of 64 lower-case hexadecimal digits"}),
			schema.Required("holder", schema.String{Min: 1, Max: 256}),
			schema.Required("roles", schema.Array{Min: 1, Max: 3, Unique: true, Items: schema.Enum{string(Publisher), string(Entrant), string(Proctor)}}),
		}}),
	},
	Rules: []schema.Rule[registryFile]{
		{Text: "The fingerprint of an entry is that of its public key, and no key is listed twice.", Check: checkFingerprints},
	},
}

// Documents are the formats of this package.
var Documents = []schema.Document{RegistrySpec}

func checkFingerprints(f registryFile) error {
	seen := map[Fingerprint]bool{}
	for _, e := range f.Keys {
		public, err := ParsePublic(e.PublicKeyHex)
		if err != nil {
			return schema.Violation("keys", "%v", err)
		}
		if actual := FingerprintOf(public); e.Fingerprint != actual {
			return schema.Violation("keys", "expected the fingerprint %s for the key of %q, found %s", actual, e.Holder, e.Fingerprint)
		}
		if seen[e.Fingerprint] {
			return schema.Violation("keys", "the key %s is listed twice", e.Fingerprint)
		}
		seen[e.Fingerprint] = true
	}
	return nil
}

// ParseRegistry reads a registry file.
func ParseRegistry(data []byte) (Registry, error) {
	file, err := RegistrySpec.Parse(data)
	if err != nil {
		return Registry{}, err
	}
	var r Registry
	for _, e := range file.Keys {
		public, err := ParsePublic(e.PublicKeyHex)
		if err != nil {
			return Registry{}, err
		}
		r = r.With(Entry{Public: public, Holder: e.Holder, Roles: e.Roles})
	}
	return r, nil
}

// Encode returns the registry as a file.
func (r Registry) Encode() ([]byte, error) {
	file := registryFile{Schema: RegistrySpec.ID, Keys: []registryEntry{}}
	for _, e := range r.entries {
		file.Keys = append(file.Keys, registryEntry{e.Fingerprint, hex.EncodeToString(e.Public), e.Holder, e.Roles})
	}
	return RegistrySpec.Encode(file)
}

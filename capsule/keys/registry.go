package keys

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/canon"
)

// RegistrySchema is the schema tag of a registry file.
const RegistrySchema = "erdos1056.keys.v1"

// Role is what a key may sign.
type Role string

// The roles.
const (
	Publisher Role = "publisher" // manifests, declarations and their verdicts
	Entrant   Role = "entrant"   // run bundles
	Proctor   Role = "proctor"   // co-signatures of run bundles, and certificates
)

var roles = []Role{Publisher, Entrant, Proctor}

// Entry says whom a public key belongs to.
type Entry struct {
	Fingerprint Fingerprint
	Public      ed25519.PublicKey
	Holder      string
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

// ParseRegistry reads a registry file:
//
//	{"schema":"erdos1056.keys.v1","keys":[
//	  {"fingerprint":"p_…","public_key_hex":"…","holder":"…","roles":["publisher","entrant"]}]}
//
// It refuses unknown keys, an unknown role, a repeated entry, and a
// fingerprint that is not the key's.
func ParseRegistry(data []byte) (Registry, error) {
	root, err := canon.ParseStrict(data, canon.DocumentLimits)
	if err != nil {
		return Registry{}, fmt.Errorf("registry: %w", err)
	}
	list, err := registryKeys(root)
	if err != nil {
		return Registry{}, fmt.Errorf("registry: %w", err)
	}
	var r Registry
	for i, v := range list {
		entry, err := parseEntry(v)
		if err != nil {
			return Registry{}, fmt.Errorf("registry: keys[%d]: %w", i, err)
		}
		if _, repeated := r.Lookup(entry.Fingerprint); repeated {
			return Registry{}, fmt.Errorf("registry: keys[%d]: the key %s is listed twice", i, entry.Fingerprint)
		}
		r = r.With(entry)
	}
	return r, nil
}

func registryKeys(root canon.Value) ([]canon.Value, error) {
	if err := exactly(root, "schema", "keys"); err != nil {
		return nil, err
	}
	if schema, _ := root.Lookup("schema"); schema.Text() != RegistrySchema {
		return nil, fmt.Errorf("schema: expected %q, found %q", RegistrySchema, schema.Text())
	}
	keys, _ := root.Lookup("keys")
	if keys.Kind() != canon.Array {
		return nil, fmt.Errorf("keys: expected an array, found %s", keys.Kind())
	}
	return keys.Elements(), nil
}

// exactly requires an object to have the given keys and no others.
func exactly(v canon.Value, keys ...string) error {
	if v.Kind() != canon.Object {
		return fmt.Errorf("expected an object, found %s", v.Kind())
	}
	for _, m := range v.Members() {
		if !slices.Contains(keys, m.Key) {
			return fmt.Errorf("unknown key %q; expected %s", m.Key, strings.Join(keys, ", "))
		}
	}
	for _, key := range keys {
		if _, ok := v.Lookup(key); !ok {
			return fmt.Errorf("the key %q is missing", key)
		}
	}
	return nil
}

func parseEntry(v canon.Value) (Entry, error) {
	if err := exactly(v, "fingerprint", "public_key_hex", "holder", "roles"); err != nil {
		return Entry{}, err
	}
	digits, _ := v.Lookup("public_key_hex")
	public, err := ParsePublic(digits.Text())
	if err != nil {
		return Entry{}, fmt.Errorf("public_key_hex: %w", err)
	}
	entry := Entry{Fingerprint: FingerprintOf(public), Public: public}
	if stated, _ := v.Lookup("fingerprint"); stated.Text() != string(entry.Fingerprint) {
		return Entry{}, fmt.Errorf("fingerprint: expected %s for this public key, found %q", entry.Fingerprint, stated.Text())
	}
	holder, _ := v.Lookup("holder")
	if entry.Holder = holder.Text(); strings.TrimSpace(entry.Holder) == "" {
		return Entry{}, fmt.Errorf("holder: expected the name of the one who holds the key")
	}
	list, _ := v.Lookup("roles")
	for _, word := range list.Elements() {
		role := Role(word.Text())
		if !slices.Contains(roles, role) {
			return Entry{}, fmt.Errorf("roles: expected some of %q, found %q", roles, role)
		}
		entry.Roles = append(entry.Roles, role)
	}
	if len(entry.Roles) == 0 {
		return Entry{}, fmt.Errorf("roles: expected some of %q", roles)
	}
	return entry, nil
}

// Encode returns the registry as a file of canonical JSON.
func (r Registry) Encode() ([]byte, error) {
	list := make([]canon.Value, len(r.entries))
	for i, e := range r.entries {
		words := make([]canon.Value, len(e.Roles))
		for j, role := range e.Roles {
			words[j] = canon.NewString(string(role))
		}
		list[i] = canon.NewObject(
			canon.Member{Key: "fingerprint", Value: canon.NewString(string(e.Fingerprint))},
			canon.Member{Key: "public_key_hex", Value: canon.NewString(hex.EncodeToString(e.Public))},
			canon.Member{Key: "holder", Value: canon.NewString(e.Holder)},
			canon.Member{Key: "roles", Value: canon.NewArray(words...)},
		)
	}
	return canon.EncodeLine(canon.NewObject(
		canon.Member{Key: "schema", Value: canon.NewString(RegistrySchema)},
		canon.Member{Key: "keys", Value: canon.NewArray(list...)},
	))
}

package profile

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Pack lists the files of a packed profile.
type Pack struct {
	Schema        string       `json:"schema"`
	Profile       string       `json:"profile"`
	ProfileSHA256 string       `json:"profile_sha256"`
	Files         []PackedFile `json:"files"` // by path, as comparePaths orders them
}

// PackedFile is one file of a packed profile.
type PackedFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"` // in bytes
}

// PackSpec is the file profile-pack.json.
var PackSpec = schema.Spec[Pack]{
	Name: "profile_pack", ID: "canopus.profile-pack.v1", Title: "Files of a packed profile", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.profile-pack.v1")),
		schema.Required("profile", schema.String{Min: 1, Max: 128}),
		schema.Required("profile_sha256", schema.Digest),
		schema.Required("files", schema.Array{Min: 1, Max: 64, Items: schema.Object{
			schema.Required("path", schema.RelativePath),
			schema.Required("sha256", schema.Digest),
			schema.Required("size", schema.Integer{Min: 0, Max: maxCapsuleBytes}),
		}}),
	},
	Rules: []schema.Rule[Pack]{{Text: "files ascend by path, in the alphabetic order of English.", Check: func(p Pack) error {
		compare := comparePaths()
		for i := 1; i < len(p.Files); i++ {
			if compare(p.Files[i-1].Path, p.Files[i].Path) >= 0 {
				return schema.Violation(fmt.Sprintf("files[%d].path", i), "paths must ascend; %q does not follow %q", p.Files[i].Path, p.Files[i-1].Path)
			}
		}
		return nil
	}}},
}

// comparePaths returns the order in which the original lists the files of a
// pack: ECMAScript's localeCompare in an English locale, that is the Unicode
// Collation Algorithm, in which a comes before B and a_b before a-b. Of paths
// that it holds equal, which no two of printable ASCII are, the bytes decide.
func comparePaths() func(a, b string) int {
	alphabet := collate.New(language.English)
	return func(a, b string) int {
		return cmp.Or(alphabet.CompareString(a, b), strings.Compare(a, b))
	}
}

// paths returns the files that a profile consists of, in the order of a pack,
// each once.
func (p Profile) paths() []string {
	paths := []string{"profiles/" + p.Name + ".json", p.Draft}
	if p.ResultContract != "" {
		paths = append(paths, p.ResultContract)
	}
	for _, platform := range p.Platforms {
		paths = append(paths, platform.WorkerProfile, platform.VerifierCapsule)
	}
	slices.SortFunc(paths, comparePaths())
	return slices.Compact(paths)
}

// Pack validates a profile and copies its files, under their relative paths,
// with profile-pack.json into a new folder. It returns the pack and the digest
// of profile-pack.json.
func (p Package) Pack(name, output string) (pack Pack, root digest.Digest, err error) {
	validation, err := p.Validate(name)
	if err != nil {
		return Pack{}, "", err
	}
	profile, _, err := p.Load(name)
	if err != nil {
		return Pack{}, "", err
	}
	pack = Pack{Schema: PackSpec.ID, Profile: name, ProfileSHA256: validation.ProfileSHA256}
	err = disk.CreateFolder(output, func(draft string) error {
		for _, path := range profile.paths() {
			packed, err := p.copyFile(path, draft, profile.isCapsule(path))
			if err != nil {
				return err
			}
			pack.Files = append(pack.Files, packed)
		}
		manifest, err := PackSpec.Encode(pack)
		if err != nil {
			return err
		}
		root = digest.Of(manifest)
		return disk.Create(filepath.Join(draft, "profile-pack.json"), manifest, 0o644)
	})
	return pack, root, err
}

func (p Profile) isCapsule(path string) bool {
	for _, platform := range p.Platforms {
		if platform.VerifierCapsule == path {
			return true
		}
	}
	return false
}

func (p Package) copyFile(path, folder string, executable bool) (PackedFile, error) {
	data, err := disk.ReadBelow(p.Root, path, maxCapsuleBytes)
	if err != nil {
		return PackedFile{}, err
	}
	return PackedFile{path, string(digest.Of(data)), int64(len(data))}, disk.CreateBelow(folder, path, data, permissions(executable))
}

func permissions(executable bool) fs.FileMode {
	if executable {
		return 0o755
	}
	return 0o644
}

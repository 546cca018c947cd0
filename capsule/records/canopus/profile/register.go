package profile

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Registration is what a profile adds to a mission that is made of its draft.
type Registration struct {
	Reference mission.ProfileReference
	Landing   mission.Landing
	Contract  *mission.ResultContract // needed for the route permit
}

// Register reads a profile file in the folder profiles/ of its package and
// checks that it registers the draft. Any image and any known host will do: what
// counts here is the draft.
func Register(path string, draft []byte) (Registration, error) {
	data, err := disk.Read(path, maxDocumentBytes, disk.RefuseLinks)
	if err != nil {
		return Registration{}, err
	}
	profile, policy, err := parseAny(data)
	if err == nil {
		err = profile.CheckDraft(draft)
	}
	if err != nil {
		return Registration{}, fmt.Errorf("%s: %w", path, err)
	}
	r := Registration{Reference: mission.ProfileReference{Name: profile.Name, Root: string(digest.Of(data))}, Landing: profile.Landing}
	root, err := filepath.Abs(filepath.Join(filepath.Dir(path), ".."))
	if err != nil {
		return Registration{}, err
	}
	r.Contract, err = Package{Root: root, Policy: policy}.contract(profile)
	return r, err
}

// parseAny reads a profile of version 2 under a policy made from itself.
func parseAny(data []byte) (Profile, Policy, error) {
	policy := Policy{ImageIDs: true}
	doc, err := canon.ParseStrict(data, canon.DocumentLimits)
	if err != nil {
		return Profile{}, policy, fmt.Errorf("profile: %w", err)
	}
	platforms, _ := doc.Lookup("platforms")
	for _, m := range platforms.Members() {
		host, known := HostsByName[m.Key]
		if !known {
			return Profile{}, policy, schema.Violation("profile.platforms."+m.Key, "this host is not known")
		}
		policy.Hosts = append(policy.Hosts, host)
		image, _ := m.Value.Lookup("verifier_image")
		if name, _, named := strings.Cut(image.Text(), "@"); named {
			policy.Images = append(policy.Images, name)
		}
	}
	profile, err := policy.Parse(data)
	return profile, policy, err
}

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/file"
	"github.com/erdos1056/erdos1056/capsule/profile"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

var profileVerb = verb{
	name:    "profile",
	summary: "list, show NAME, validate NAME, pack NAME, or make (new) profiles",
	example: "capsule profile new --range 10428401..10428600 --image NAME@sha256:... --capsule linux-x86_64=FILE --capsule darwin-arm64=FILE",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		f := new(profileFlags)
		f.declare(flags)
		return f.act
	},
}

type profileFlags struct {
	root, output, image, rangeText, worker string
	names, hosts, capsules                 []string
	imageIDs                               bool
	k                                      int
}

func (f *profileFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.root, "package", ".", "folder that holds profiles/ and what they name")
	flags.StringSliceVar(&f.names, "image-name", profile.Original.Images, "names that a verifier's image may have")
	flags.BoolVar(&f.imageIDs, "image-ids", false, "let an image id stand for an image")
	flags.StringSliceVar(&f.hosts, "host", []string{"darwin-arm64", "linux-x86_64"}, "hosts that a profile registers, of darwin-arm64, linux-arm64, linux-x86_64")
	flags.StringVar(&f.output, "output", "", "folder to pack into")
	flags.StringVar(&f.rangeText, "range", "", "range of a new profile, "+plan.RangeForms)
	flags.IntVar(&f.k, "k", 15, "number of consecutive intervals of a new profile")
	flags.StringVar(&f.image, "image", "", "image of a new profile, NAME@sha256:...")
	flags.StringArrayVar(&f.capsules, "capsule", nil, "frozen verifier of a new profile, HOST=FILE; once for each host")
	flags.StringVar(&f.worker, "worker-profile", "", "permission profile of a new profile's worker (default: workspace only)")
}

func (f *profileFlags) act(_ context.Context, c *call) error {
	p, err := f.pkg()
	if err != nil {
		return err
	}
	action, rest := "", []string(nil)
	if len(c.args) > 0 {
		action, rest = c.args[0], c.args[1:]
	}
	named := action == "show" || action == "validate" || action == "pack"
	if named && len(rest) != 1 || !named && len(rest) != 0 {
		return usageError("write profile list, profile new, or profile show, validate or pack with one NAME")
	}
	switch action {
	case "list":
		return c.listProfiles(p)
	case "show":
		return c.showProfile(p, rest[0])
	case "validate":
		return c.validateProfile(p, rest[0])
	case "pack":
		return c.packProfile(p, rest[0], f.output)
	case "new":
		return f.make(c, p)
	}
	return usageError("profile %s: write list, show, validate, pack or new", action)
}

func (f *profileFlags) pkg() (profile.Package, error) {
	policy := profile.Policy{Images: f.names, ImageIDs: f.imageIDs}
	for _, name := range f.hosts {
		host, ok := profile.HostsByName[name]
		if !ok {
			return profile.Package{}, usageError("--host %s: expected darwin-arm64, linux-arm64 or linux-x86_64", name)
		}
		policy.Hosts = append(policy.Hosts, host)
	}
	return profile.Package{Root: f.root, Policy: policy}, nil
}

func (c *call) listProfiles(p profile.Package) error {
	names, err := p.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		c.text("%s", name)
	}
	return c.object(struct {
		Type     string   `json:"type"`
		OK       bool     `json:"ok"`
		Command  string   `json:"command"`
		Profiles []string `json:"profiles"`
	}{"profiles", true, "profile list", names})
}

func (c *call) showProfile(p profile.Package, name string) error {
	shown, root, err := p.Load(name)
	if err != nil {
		return err
	}
	c.text("name      %s\nroot      %s\ntarget    %s\ndraft     %s\nlanding   %s", shown.Name, root, shown.Target, shown.Draft, shown.Landing.Route())
	for _, host := range p.Policy.Hosts {
		platform := shown.Platforms[host.Name]
		c.text("%-13s %s %s in %s", host.Name, platform.VerifierCapsule, platform.VerifierCapsuleSHA256, platform.VerifierImage)
	}
	return c.object(struct {
		Type    string          `json:"type"`
		OK      bool            `json:"ok"`
		Command string          `json:"command"`
		Root    string          `json:"profile_sha256"`
		Profile profile.Profile `json:"profile"`
	}{"profile", true, "profile show", string(root), shown})
}

func (c *call) validateProfile(p profile.Package, name string) error {
	v, err := p.Validate(name)
	if err != nil {
		return mismatchError("%w", err)
	}
	c.text("valid     %s  %s", v.Name, v.ProfileSHA256)
	return c.object(struct {
		Type       string             `json:"type"`
		OK         bool               `json:"ok"`
		Command    string             `json:"command"`
		Validation profile.Validation `json:"validation"`
	}{"profile_validation", true, "profile validate", v})
}

func (c *call) packProfile(p profile.Package, name, output string) error {
	if output == "" {
		return usageError("no folder given; write --output DIR")
	}
	pack, root, err := p.Pack(name, output)
	if err != nil {
		return mismatchError("%w", err)
	}
	return c.print(map[string]any{"type": "profile_pack", "ok": true, "command": "profile pack", "output": output, "pack_sha256": root, "files": pack.Files},
		"packed    %s  %d files  %s", output, len(pack.Files), root)
}

func (f *profileFlags) make(c *call, p profile.Package) error {
	r, err := plan.ParseRange(f.rangeText)
	if err != nil {
		return usageError("--range: %v", err)
	}
	in := profile.Ingredients{Range: profile.Range{K: int64(f.k), Start: int64(r.Lo), End: int64(r.Hi)}, Image: f.image, Capsules: map[string]profile.CapsuleOf{}}
	for _, text := range f.capsules {
		host, name, ok := strings.Cut(text, "=")
		if !ok {
			return usageError("--capsule %s: write HOST=FILE", text)
		}
		binary, err := file.ReadRegular(name, 256<<20)
		if err != nil {
			return err
		}
		platform, err := platformOf(binary)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		in.Capsules[host] = profile.CapsuleOf{Platform: platform.String(), Binary: binary}
	}
	if f.worker != "" {
		if in.WorkerProfile, err = file.ReadRegular(f.worker, 1<<20); err != nil {
			return err
		}
	}
	name, err := p.New(in)
	if err != nil {
		return err
	}
	return c.validateProfile(p, name)
}

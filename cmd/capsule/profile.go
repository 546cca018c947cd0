package main

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/profile"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// packageFlags name the folder that holds profiles, and how strict to be.
type packageFlags struct {
	root     string
	names    []string
	hosts    []string
	imageIDs bool
}

func (f *packageFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.root, "package", ".", "folder that holds profiles/ and what they name")
	flags.StringSliceVar(&f.names, "image-name", profile.Original.Images, "names that a verifier's image may have")
	flags.BoolVar(&f.imageIDs, "image-ids", false, "let an image id stand for an image")
	flags.StringSliceVar(&f.hosts, "host", []string{"darwin-arm64", "linux-x86_64"}, "hosts that a profile registers, of darwin-arm64, linux-arm64, linux-x86_64")
}

func (f *packageFlags) open() (profile.Package, error) {
	policy := profile.Policy{Images: f.names, ImageIDs: f.imageIDs}
	for _, name := range f.hosts {
		host, ok := profile.HostsByName[name]
		if !ok {
			return profile.Package{}, cli.Usagef("--host %s: expected darwin-arm64, linux-arm64 or linux-x86_64", name)
		}
		policy.Hosts = append(policy.Hosts, host)
	}
	return profile.Package{Root: f.root, Policy: policy}, nil
}

// profileVerb is a verb about the profiles of one package.
func profileVerb(name, args, summary, example string, declare func(flags *pflag.FlagSet) func(*cli.Call, profile.Package) error) cli.Verb {
	return cli.Verb{Name: "profile " + name, Args: args, Summary: summary, Example: "capsule profile " + name + example,
		Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
			var f packageFlags
			act := declare(flags)
			f.declare(flags)
			return func(_ context.Context, c *cli.Call) error {
				p, err := f.open()
				if err != nil {
					return err
				}
				return act(c, p)
			}
		}}
}

// withoutFlags declares a verb that has no flags of its own.
func withoutFlags(act func(*cli.Call, profile.Package) error) func(*pflag.FlagSet) func(*cli.Call, profile.Package) error {
	return func(*pflag.FlagSet) func(*cli.Call, profile.Package) error { return act }
}

var profileList = profileVerb("list", "", "list the profiles of a package", "", withoutFlags(func(c *cli.Call, p profile.Package) error {
	names, err := p.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		printText(c, "%s", name)
	}
	return printRecord(c, struct {
		Type     string   `json:"type"`
		OK       bool     `json:"ok"`
		Command  string   `json:"command"`
		Profiles []string `json:"profiles"`
	}{"profiles", true, "profile list", names})
}))

var profileShow = profileVerb("show", "PROFILE", "show a profile", " erdos1056-k15-10428401-10428600", withoutFlags(func(c *cli.Call, p profile.Package) error {
	name := c.Args[0]
	shown, root, err := p.Load(name)
	if err != nil {
		return failedCheck(err)
	}
	printText(c, "name      %s", shown.Name)
	printText(c, "root      %s", root)
	printText(c, "target    %s", shown.Target)
	printText(c, "draft     %s", shown.Draft)
	printText(c, "landing   %s", shown.Landing.Route())
	for _, host := range p.Policy.Hosts {
		platform := shown.Platforms[host.Name]
		printText(c, "%-13s %s %s in %s", host.Name, platform.VerifierCapsule, platform.VerifierCapsuleSHA256, platform.VerifierImage)
	}
	return printRecord(c, struct {
		Type    string          `json:"type"`
		OK      bool            `json:"ok"`
		Command string          `json:"command"`
		Root    string          `json:"profile_sha256"`
		Profile profile.Profile `json:"profile"`
	}{"profile", true, "profile show", string(root), shown})
}))

var profileValidate = profileVerb("validate", "PROFILE", "check a profile and every file that it names", " erdos1056-k15-10428401-10428600", withoutFlags(func(c *cli.Call, p profile.Package) error {
	name := c.Args[0]
	return validateProfile(c, p, name)
}))

func validateProfile(c *cli.Call, p profile.Package, name string) error {
	v, err := p.Validate(name)
	if err != nil {
		return failedCheck(err)
	}
	printText(c, "valid     %s  %s", v.Name, v.ProfileSHA256)
	return printRecord(c, struct {
		Type       string             `json:"type"`
		OK         bool               `json:"ok"`
		Command    string             `json:"command"`
		Validation profile.Validation `json:"validation"`
	}{"profile_validation", true, "profile validate", v})
}

var profilePack = profileVerb("pack", "PROFILE", "copy a profile and every file that it names", " erdos1056-k15-10428401-10428600 --output pack", func(flags *pflag.FlagSet) func(*cli.Call, profile.Package) error {
	output := flags.String("output", "", "folder to pack into")
	return func(c *cli.Call, p profile.Package) error {
		name := c.Args[0]
		if *output == "" {
			return cli.Usagef("no folder given; write --output DIR")
		}
		pack, root, err := p.Pack(name, *output)
		if err != nil {
			return failedCheck(err)
		}
		return c.Result(map[string]any{"type": "profile_pack", "ok": true, "command": "profile pack", "output": *output, "pack_sha256": root, "files": pack.Files},
			"packed    %s  %d files  %s", *output, len(pack.Files), root)
	}
})

var profileNew = profileVerb("new", "", "make a profile for any range",
	" --range 10428401..10428600 --image NAME@sha256:... --capsule linux-x86_64=FILE --capsule darwin-arm64=FILE",
	func(flags *pflag.FlagSet) func(*cli.Call, profile.Package) error {
		var f newProfileFlags
		flags.StringVar(&f.rangeText, "range", "", "the range, "+plan.RangeForms)
		flags.IntVar(&f.k, "k", 15, "number of consecutive intervals")
		flags.StringVar(&f.image, "image", "", "image of the verifier, NAME@sha256:...")
		flags.StringArrayVar(&f.capsules, "capsule", nil, "frozen verifier of a host, HOST=FILE; once for each host")
		flags.StringVar(&f.worker, "worker-profile", "", "permission profile of the worker (default: its workspace and nothing else)")
		return f.make
	})

type newProfileFlags struct {
	rangeText, image, worker string
	k                        int
	capsules                 []string
}

func (f *newProfileFlags) make(c *cli.Call, p profile.Package) error {
	r, err := plan.ParseRange(f.rangeText)
	if err != nil {
		return cli.Usagef("--range: %v", err)
	}
	in := profile.Ingredients{Range: profile.Range{K: int64(f.k), Start: int64(r.Lo), End: int64(r.Hi)}, Image: f.image, Capsules: map[string]profile.CapsuleOf{}}
	for _, text := range f.capsules {
		host, name, ok := strings.Cut(text, "=")
		if !ok {
			return cli.Usagef("--capsule %s: write HOST=FILE", text)
		}
		binary, err := disk.Read(name, maxCapsule, disk.RefuseLinks)
		if err != nil {
			return err
		}
		platform, err := platformOf(binary)
		if err != nil {
			return unfit(name, err)
		}
		in.Capsules[host] = profile.CapsuleOf{Platform: platform.String(), Binary: binary}
	}
	if f.worker != "" {
		if in.WorkerProfile, err = disk.Read(f.worker, maxDocument, disk.RefuseLinks); err != nil {
			return err
		}
	}
	name, err := p.New(in)
	if err != nil {
		return cli.Usagef("%v", err)
	}
	return validateProfile(c, p, name)
}

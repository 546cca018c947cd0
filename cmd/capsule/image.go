package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	capsuleimage "github.com/erdos1056/erdos1056/capsule/image"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/oci"
)

var image = cli.Verb{
	Name:    "image",
	Summary: "pack a capsule into an image with the same digest everywhere",
	Example: "capsule image --range 10428401..10428600 --oci-layout-path dist/oci --push localhost:5000/erdos1056",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(imageFlags)
		f.declare(flags)
		return f.run
	},
}

type imageFlags struct {
	claim                 capsuleFlags
	registry              registryFlags
	capsules              []string
	base                  string
	options               capsuleimage.Options
	layout, archive, push string
	refs                  string
	sbom, sbomDir         string
	lock                  string
	check, writeLock      bool
}

func (f *imageFlags) declare(flags *pflag.FlagSet) {
	f.claim.declare(flags)
	flags.StringArrayVar(&f.capsules, "capsule", nil, "a frozen verifier to pack instead of --range; once per platform")
	flags.StringVar(&f.base, "base", "scratch", "scratch, or an image to build upon as NAME@sha256:... of its index")
	flags.StringToStringVar(&f.options.Annotations, "image-annotation", nil, "further annotations, KEY=VALUE")
	flags.StringToStringVar(&f.options.Labels, "image-label", nil, "labels, KEY=VALUE")
	flags.StringVar(&f.options.User, "image-user", "", "user and group of the program (default 65532:65532)")
	flags.StringVar(&f.layout, "oci-layout-path", "", "write an OCI image layout into this new folder")
	flags.StringVar(&f.archive, "tarball", "", "write an archive, both OCI and Docker, to this file")
	flags.StringVar(&f.push, "push", "", "push to this repository, with a tag if one is named")
	flags.StringVar(&f.refs, "image-refs", "", "write the pinned name of the image to this file")
	flags.StringVar(&f.sbom, "sbom", "none", "spdx: write an SPDX 2.3 document per platform; none")
	flags.StringVar(&f.sbomDir, "sbom-dir", ".", "folder for the SPDX documents")
	flags.StringVar(&f.lock, "lock", "images.lock.json", "file with pinned digests")
	flags.BoolVar(&f.check, "check", false, "rebuild every image of the lock file and show what differs")
	flags.BoolVar(&f.writeLock, "write-lock", false, "pin this image in the lock file")
	f.registry.declare(flags)
}

func (f *imageFlags) run(ctx context.Context, c *cli.Call) error {
	if f.sbom != "none" && f.sbom != "spdx" {
		return cli.Usagef("--sbom %s: want spdx or none", f.sbom)
	}
	if f.registry.Offline && f.push != "" {
		return cli.Usagef("--offline: --push needs the network")
	}
	if f.check {
		return f.compare(ctx, c)
	}
	challenge, err := f.pinnable()
	if err != nil {
		return err
	}
	capsule, err := f.capsule(ctx, c)
	if err != nil {
		return err
	}
	if f.writeLock && capsule.Formal != nil && challenge == "" {
		return cli.Usagef("--write-lock: the lock file also pins where the challenge is: write --lean and --challenge instead of --capsule")
	}
	if f.options.Created, _, err = sourceDateEpoch(); err != nil {
		return err
	}
	if err := f.resolveBase(ctx); err != nil {
		return err
	}
	im, err := capsule.Image(f.options)
	if err != nil {
		return err
	}
	name, _ := oci.SplitTag(f.push)
	if name == "" {
		name = capsule.Name()
	}
	if err := f.announce(c, name, im); err != nil {
		return err
	}
	if err := f.deliver(ctx, c, capsule, name, im); err != nil || !f.writeLock {
		return err
	}
	return f.updateLock(capsuleimage.LockClaim(capsule, challenge), im)
}

// capsule freezes the claim, or takes the verifiers that are there.
func (f *imageFlags) capsule(ctx context.Context, c *cli.Call) (capsuleimage.Capsule, error) {
	if len(f.capsules) == 0 {
		return f.claim.freeze(ctx, c)
	}
	if f.claim.given() {
		return capsuleimage.Capsule{}, cli.Usagef("--capsule brings its own claim: leave --range out, and --lean")
	}
	var whole capsuleimage.Capsule
	for i, name := range f.capsules {
		verifier, err := readFile("--capsule", name, 64<<20)
		if err != nil {
			return whole, err
		}
		capsule, err := capsuleOf(verifier)
		if err != nil {
			return whole, unfit(name, err)
		}
		if i == 0 {
			whole = capsule
			continue
		}
		if capsule.Name() != whole.Name() {
			return whole, cli.Usagef("%s is frozen to the claim %s; the others to %s", name, capsule.Name(), whole.Name())
		}
		for platform := range capsule.Verifiers {
			if _, ok := whole.Verifiers[platform]; ok {
				return whole, cli.Usagef("%s: a second verifier for %v", name, platform)
			}
			whole.Verifiers[platform] = verifier
		}
	}
	return whole, nil
}

// capsuleOf returns the capsule of one verifier.
func capsuleOf(verifier []byte) (capsuleimage.Capsule, error) {
	platform, err := platformOf(verifier)
	if err != nil {
		return capsuleimage.Capsule{}, err
	}
	return capsuleimage.ReadCapsule(verifier, platform)
}

func platformOf(verifier []byte) (freeze.Platform, error) {
	program, err := elf.NewFile(bytes.NewReader(verifier))
	if err != nil {
		return freeze.Platform{}, err
	}
	for _, p := range freeze.Platforms {
		if p.Architecture == map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[program.Machine] {
			return p, nil
		}
	}
	return freeze.Platform{}, fmt.Errorf("a program for %v; want amd64 or arm64", program.Machine)
}

func (f *imageFlags) resolveBase(ctx context.Context) (err error) {
	if f.base == "scratch" {
		return nil
	}
	if _, _, err := oci.SplitDigest(f.base); err != nil {
		return cli.Usagef("--base: %v", err)
	}
	f.options.BaseName = f.base
	f.options.Base, err = f.registry.Open(ctx, f.base)
	return err
}

// announce prints the pinned name before anything leaves this machine.
func (f *imageFlags) announce(c *cli.Call, name string, im *oci.Image) error {
	pinned := name + "@" + string(im.Digest())
	platforms := make(map[string]any)
	var text []string
	for _, m := range im.Manifests {
		platforms[m.Platform.String()] = m.Digest
		text = append(text, fmt.Sprintf("%v %s", m.Platform, m.Digest))
	}
	if f.refs != "" {
		if err := disk.Replace(f.refs, []byte(pinned+"\n"), 0o644); err != nil {
			return err
		}
	}
	return c.Result(map[string]any{"type": "image", "image": pinned, "digest": im.Digest(), "platforms": platforms},
		"%s  %s", pinned, strings.Join(text, "  "))
}

// deliver writes and pushes the image, and reads back whatever was written.
func (f *imageFlags) deliver(ctx context.Context, c *cli.Call, capsule capsuleimage.Capsule, name string, im *oci.Image) error {
	_, tag := oci.SplitTag(f.push)
	if tag == "" {
		tag = "latest"
	}
	if f.layout != "" {
		if err := im.WriteLayout(f.layout, tag); err != nil {
			return err
		}
		if _, err := oci.ReadLayout(f.layout, im.Digest()); err != nil {
			return fmt.Errorf("reading back what was written: %w", err)
		}
	}
	if f.archive != "" {
		if err := im.WriteArchive(f.archive, name, tag); err != nil {
			return err
		}
		if _, err := oci.ReadArchive(f.archive, im.Digest()); err != nil {
			return fmt.Errorf("reading back what was written: %w", err)
		}
	}
	if f.sbom == "spdx" {
		if err := f.writeSBOMs(im); err != nil {
			return err
		}
	}
	if f.push != "" {
		if err := f.registry.Push(ctx, f.push, im); err != nil {
			return err
		}
		c.Say("pushed; the registry answers the same digest")
	}
	return nil
}

func (f *imageFlags) writeSBOMs(im *oci.Image) error {
	for _, m := range im.Manifests {
		statement, err := capsuleimage.Contents(im, m, time.Unix(f.options.Created, 0))
		if err != nil {
			return err
		}
		name := filepath.Join(f.sbomDir, fmt.Sprintf("sha256-%s.spdx.json", m.Digest.Hex()))
		if err := disk.Replace(name, append(statement.Predicate, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pinnable makes sure that --check will be able to rebuild what --write-lock is
// to pin. It returns where the challenge of a formal capsule lies, below the
// folder of the lock file.
func (f *imageFlags) pinnable() (challenge string, err error) {
	o := f.options
	switch {
	case !f.writeLock:
		return "", nil
	case len(o.Annotations) > 0 || len(o.Labels) > 0 || o.User != "" || f.base != "scratch":
		return "", cli.Usagef("--write-lock: an image is rebuilt from its claim alone: leave out --base, --image-annotation, --image-label and --image-user")
	case f.claim.theorem.challenge == "":
		return "", nil
	}
	folder, err := filepath.Abs(filepath.Dir(f.lock))
	if err != nil {
		return "", err
	}
	name, err := filepath.Abs(f.claim.theorem.challenge)
	if err != nil {
		return "", err
	}
	below, err := filepath.Rel(folder, name)
	if err != nil || !filepath.IsLocal(below) {
		return "", cli.Usagef("--write-lock: the challenge must lie below %s, the folder of the lock file, to be found when the image is rebuilt", folder)
	}
	return filepath.ToSlash(below), nil
}

func (f *imageFlags) updateLock(claim capsuleimage.LockedClaim, im *oci.Image) error {
	var lock capsuleimage.Lock
	text, err := os.ReadFile(f.lock)
	switch {
	case err == nil:
		if lock, err = capsuleimage.ParseLock(text); err != nil {
			return unfit(f.lock, err)
		}
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	locked, err := capsuleimage.LockImage(im, claim, f.options.Created)
	if err != nil {
		return err
	}
	lock.Put(locked)
	if text, err = lock.Encode(); err != nil {
		return err
	}
	return disk.Replace(f.lock, text, 0o644)
}

// compare rebuilds what the lock file pins.
func (f *imageFlags) compare(ctx context.Context, c *cli.Call) error {
	text, err := readFile("--lock", f.lock, 1<<20)
	if err != nil {
		return err
	}
	lock, err := capsuleimage.ParseLock(text)
	if err != nil {
		return unfit(f.lock, err)
	}
	if err := f.claim.findSource(); err != nil {
		return err
	}
	different := 0
	for _, want := range lock.Images {
		got, err := want.Rebuild(ctx, f.claim.source, filepath.Dir(f.lock))
		switch {
		case errors.Is(err, capsuleimage.ErrOtherChallenge):
			return cli.Failf("%v: %v", want, err)
		case err != nil:
			return fmt.Errorf("%v: %w", want, err)
		}
		lines := want.Differences(got)
		for _, line := range lines {
			c.Say("%v: %s", want, line)
		}
		verdict := "the same"
		if len(lines) > 0 {
			different++
			verdict = "differs"
		}
		object := map[string]any{"type": "check", "expected": want.Index, "found": got.Index, "same": len(lines) == 0, "differences": lines}
		if t := want.Theorem; t != nil {
			object["target"], object["permit"], object["challenge"] = t.Target, t.Permit, t.Challenge.Digest
		} else {
			object["range"], object["k"] = want.Range, want.K
		}
		err = c.Result(object, "%v  %s  %s", want, got.Index, verdict)
		if err != nil {
			return err
		}
	}
	if different > 0 {
		return cli.Failf("%d of %d images of %s differ when rebuilt", different, len(lock.Images), f.lock)
	}
	return nil
}

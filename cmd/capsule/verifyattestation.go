package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/attestation"
	"github.com/erdos1056/erdos1056/capsule/replay"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/oci"
)

var verifyAttestation = cli.Verb{
	Name:    "verify-attestation",
	Summary: "check what was signed about an image",
	Example: "capsule verify-attestation --key key.pub --image localhost:5000/erdos1056@sha256:... --artifact artifact.txt",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(verifyFlags)
		flags.StringVar(&f.key, "key", "", "public key, PEM: ECDSA P-256 or Ed25519")
		flags.StringVar(&f.image, "image", "", "NAME@sha256:...: an image, or one platform's manifest")
		flags.StringArrayVar(&f.bundles, "bundle", nil, "a bundle in a file, instead of those attached to the image")
		flags.StringVar(&f.artifact, "artifact", "", "require a statement that this artifact was verified")
		flags.StringVar(&f.predicateType, "type", "", "require a statement of this predicate type")
		f.registry.declare(flags)
		return f.run
	},
}

type verifyFlags struct {
	key, image, artifact, predicateType string
	bundles                             []string
	registry                            registryFlags
}

func (f *verifyFlags) run(ctx context.Context, c *cli.Call) error {
	text, err := readFile("--key", f.key, 64<<10)
	if err != nil {
		return err
	}
	key, err := attestation.ParsePublicKey(text)
	if err != nil {
		return unfit(f.key, err)
	}
	if f.image == "" {
		return cli.Usagef("no image given; write --image NAME@sha256:...")
	}
	repository, digest, err := oci.SplitDigest(f.image)
	if err != nil {
		return cli.Usagef("--image: %v", err)
	}
	bundles, err := f.collect(ctx, repository, digest)
	if err != nil {
		return err
	}
	statements, err := accept(c, key, digest, bundles)
	if err != nil {
		return err
	}
	return f.require(statements)
}

// collect reads the bundles of the files, or those attached to the image.
func (f *verifyFlags) collect(ctx context.Context, repository string, subject digest.Digest) (map[string][]byte, error) {
	bundles := make(map[string][]byte)
	for _, name := range f.bundles {
		data, err := readFile("--bundle", name, attestation.MaxBundle)
		if err != nil {
			return nil, err
		}
		bundles[name] = data
	}
	if len(f.bundles) > 0 {
		return bundles, nil
	}
	if strings.HasPrefix(repository, "oci:") || strings.HasPrefix(repository, "oci-archive:") {
		return nil, cli.Usagef("nothing is attached to a layout or an archive; name the bundles with --bundle FILE")
	}
	attached, err := f.registry.Bundles(ctx, repository, subject)
	for _, data := range attached {
		bundles[string(digest.Of(data))] = data
	}
	return bundles, err
}

// accept returns the statements about the digest that the key signed, and says
// of each bundle what it is. Anyone can attach a bundle: those of strangers are
// reported and passed over.
func accept(c *cli.Call, key attestation.PublicKey, digest digest.Digest, bundles map[string][]byte) ([]attestation.Statement, error) {
	names := make([]string, 0, len(bundles))
	for name := range bundles {
		names = append(names, name)
	}
	slices.Sort(names)
	var accepted []attestation.Statement
	for _, name := range names {
		statement, err := attestation.Verify(key, bundles[name])
		if err == nil && !statement.About(digest.Hex()) {
			err = fmt.Errorf("it is not about %s", digest)
		}
		if err != nil {
			c.Say("bundle %s is passed over: %v", name, err)
			continue
		}
		accepted = append(accepted, statement)
		fields := map[string]any{"type": "statement", "predicate_type": statement.PredicateType, "subject": digest, "bundle": name}
		detail := ""
		if v, err := statement.Verification(); err == nil {
			fields["properties"], fields["time"] = v.Properties, v.Time
			detail = fmt.Sprintf("  %s %q", v.Time, v.Properties)
		}
		if err := c.Result(fields, "signed: %s about %s%s", statement.PredicateType, digest, detail); err != nil {
			return nil, err
		}
	}
	if len(accepted) == 0 {
		return nil, cli.Failf("none of %d bundles is a statement about %s signed by this key", len(bundles), digest)
	}
	return accepted, nil
}

// require checks that what the user asked for is among the statements.
func (f *verifyFlags) require(statements []attestation.Statement) error {
	if f.predicateType != "" && !slices.ContainsFunc(statements, func(s attestation.Statement) bool { return s.PredicateType == f.predicateType }) {
		return cli.Failf("no statement of type %s", f.predicateType)
	}
	if f.artifact == "" {
		return nil
	}
	text, err := replay.ReadArtifact(f.artifact)
	if err != nil {
		return err
	}
	digest := digest.Of(text)
	for _, s := range statements {
		v, err := s.Verification()
		if err == nil && s.About(digest.Hex()) && slices.Contains(v.Properties, verifiedProperty) {
			return nil
		}
	}
	return cli.Failf("no statement says that %s (%s) was verified", f.artifact, digest)
}

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/attestation"
	capsuleimage "github.com/erdos1056/erdos1056/capsule/image"
	"github.com/erdos1056/erdos1056/capsule/replay"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/oci"
)

var attest = cli.Verb{
	Name:    "attest",
	Summary: "sign how an image was built, what is in it, and what its verifier verified",
	Example: "capsule attest --key key.pem --image localhost:5000/erdos1056@sha256:... --artifact artifact.txt --attach",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(attestFlags)
		flags.StringVar(&f.key, "key", "", "private key, PEM: ECDSA P-256 or Ed25519")
		f.replay.declare(flags)
		flags.StringVar(&f.artifact, "artifact", "", "an artifact: run the verifier, and sign its yes")
		flags.StringVar(&f.output, "output", "", "folder to write the bundles into (*.sigstore.json)")
		flags.BoolVar(&f.attach, "attach", false, "attach the bundles to the image in its registry")
		return f.run
	},
}

type attestFlags struct {
	key, artifact, output string
	attach                bool
	replay                replayFlags
}

// A signedStatement is a bundle, what it is about, and its predicate's type.
type signedStatement struct {
	subject       digest.Digest
	predicateType string
	bundle        []byte
}

func (f *attestFlags) run(ctx context.Context, c *cli.Call) error {
	if f.output == "" && !f.attach {
		return cli.Usagef("nothing to do with the bundles; write --output DIR or --attach")
	}
	if f.replay.image == "" {
		return cli.Usagef("no image given; write --image NAME@sha256:...")
	}
	text, err := readFile("--key", f.key, 64<<10)
	if err != nil {
		return err
	}
	signer, err := attestation.ParsePrivateKey(text)
	if err != nil {
		return unfit(f.key, err)
	}
	im, err := openPinned(ctx, f.replay.registry.Registry, f.replay.image)
	if err != nil {
		return err
	}
	signed, err := f.statements(ctx, c, signer, im)
	if err != nil {
		return err
	}
	for _, s := range signed {
		if err := f.deliver(ctx, c, s); err != nil {
			return err
		}
	}
	return nil
}

// statements makes and signs all that can be said about the image.
func (f *attestFlags) statements(ctx context.Context, c *cli.Call, signer *attestation.Signer, im *oci.Image) ([]signedStatement, error) {
	at, err := now()
	if err != nil {
		return nil, err
	}
	verifier, err := capsuleimage.Verifier(im, *im.Manifests[0].Platform)
	if err != nil {
		return nil, err
	}
	capsule, err := capsuleOf(verifier)
	if err != nil {
		return nil, err
	}
	name, _, err := oci.SplitDigest(f.replay.image)
	if err != nil {
		return nil, err
	}
	var signed []signedStatement
	sign := func(subject digest.Digest, s attestation.Statement, err error) error {
		if err != nil {
			return err
		}
		bundle, err := attestation.Sign(signer, s)
		signed = append(signed, signedStatement{subject, s.PredicateType, bundle})
		return err
	}
	provenance, err := capsuleimage.Provenance(im, name, capsule.Parameters(), at)
	if err := sign(im.Digest(), provenance, err); err != nil {
		return nil, err
	}
	for _, m := range im.Manifests {
		contents, err := capsuleimage.Contents(im, m, at)
		if err := sign(m.Digest, contents, err); err != nil {
			return nil, err
		}
	}
	if f.artifact == "" {
		return signed, nil
	}
	question, err := f.replay.request(ctx, c, f.artifact)
	if err != nil {
		return nil, err
	}
	verdict, err := replay.Ask(ctx, question)
	if err != nil {
		return nil, err
	}
	if !verdict.Verified {
		return nil, cli.Failf("the verifier rejects %s, nothing was signed: %s", f.artifact, verdict.Message)
	}
	verification, err := attestation.NewVerification("pkg:oci/erdos1056@"+string(im.Digest()), at,
		[]string{verifiedProperty, verdict.Message},
		attestation.NewSubject(filepath.Base(f.artifact), digest.Of(question.Artifact).Hex()),
		attestation.NewSubject(name, im.Digest().Hex()))
	return signed, sign(im.Digest(), verification, err)
}

// verifiedProperty is what a simple verification result of ours asserts of its
// first subject, the artifact.
const verifiedProperty = "ERDOS1056_ARTIFACT_VERIFIED"

func (f *attestFlags) deliver(ctx context.Context, c *cli.Call, s signedStatement) error {
	fields := map[string]any{"type": "attestation", "predicate_type": s.predicateType, "subject": s.subject, "bundle": digest.Of(s.bundle)}
	var where []string
	if f.output != "" {
		if err := os.MkdirAll(f.output, 0o755); err != nil {
			return err
		}
		file := filepath.Join(f.output, fmt.Sprintf("%s.%s.sigstore.json", s.subject.Hex()[:12], predicateName(s.predicateType)))
		if err := disk.Replace(file, s.bundle, 0o644); err != nil {
			return err
		}
		fields["path"] = file
		where = append(where, file)
	}
	if f.attach {
		repository, _, err := oci.SplitDigest(f.replay.image)
		if err != nil {
			return err
		}
		referrer, err := f.replay.registry.Attach(ctx, repository, s.subject, s.bundle, s.predicateType)
		if err != nil {
			return err
		}
		fields["referrer"] = referrer
		where = append(where, "referrer "+string(referrer))
	}
	return c.Result(fields, "%s about %s  %s", s.predicateType, s.subject, strings.Join(where, "  "))
}

func predicateName(predicateType string) string {
	return map[string]string{
		attestation.ProvenanceType: "provenance", attestation.VerificationType: "verification", attestation.SPDXType: "spdx",
	}[predicateType]
}

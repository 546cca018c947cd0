package main

import (
	"context"

	"github.com/spf13/pflag"

	capsuleimage "github.com/erdos1056/erdos1056/capsule/image"
	"github.com/erdos1056/erdos1056/capsule/replay"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/oci"
)

var replayVerb = cli.Verb{
	Name:    "replay",
	Args:    "[RUN]",
	Summary: "ask a frozen verifier, sandboxed, about an artifact or a finished run",
	Example: "capsule replay --image ghcr.io/me/erdos1056@sha256:... --artifact artifact.txt",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(replayFlags)
		f.declare(flags)
		artifact := flags.String("artifact", "", "the artifact")
		return func(ctx context.Context, c *cli.Call) error {
			if len(c.Args) == 1 && *artifact == "" && f.image == "" && f.capsule == "" {
				return replayRun(ctx, c, f.sandbox.name)
			}
			if len(c.Args) > 0 {
				return cli.Usagef("a finished run names its artifact and verifier; write capsule replay RUN, or --artifact with --image or --capsule")
			}
			if *artifact == "" {
				return cli.Usagef("no artifact given; write --artifact FILE")
			}
			question, err := f.request(ctx, c, *artifact)
			if err != nil {
				return err
			}
			verdict, err := replay.Ask(ctx, question)
			if err != nil {
				return err
			}
			word := "rejected"
			if verdict.Verified {
				word = "verified"
			}
			err = c.Result(map[string]any{
				"type": "verdict", "verdict": word, "message": verdict.Message, "sandbox": verdict.Outcome.Runtime,
				"platform": question.Platform, "verifier": digest.Of(question.Verifier), "artifact": digest.Of(question.Artifact),
				"milliseconds": verdict.Outcome.Elapsed.Milliseconds(),
			}, "%s", verdict.Message)
			if err == nil && !verdict.Verified {
				err = cli.Failf("the verifier rejects the artifact")
			}
			return err
		}
	},
}

// replayFlags name a verifier, the platform to run it for, and a sandbox.
type replayFlags struct {
	image, capsule, platform string
	sandbox                  sandboxFlags
	registry                 registryFlags
}

func (f *replayFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.image, "image", "", "NAME@sha256:..., oci:FOLDER@sha256:... or oci-archive:FILE@sha256:...")
	flags.StringVar(&f.capsule, "capsule", "", "a frozen verifier, instead of --image")
	flags.StringVar(&f.platform, "platform", sandbox.Native, "which of the image's verifiers to run")
	f.sandbox.declare(flags)
	f.registry.declare(flags)
}

// request collects everything that a question to the verifier consists of.
func (f *replayFlags) request(ctx context.Context, c *cli.Call, artifact string) (r replay.Request, err error) {
	if (f.image == "") == (f.capsule == "") {
		return r, cli.Usagef("name either --image NAME@sha256:... or --capsule FILE")
	}
	if r.Artifact, err = replay.ReadArtifact(artifact); err != nil {
		return r, err
	}
	r.Platform = f.platform
	if f.capsule != "" {
		if r.Verifier, err = readFile("--capsule", f.capsule, 64<<20); err != nil {
			return r, err
		}
		platform, err := platformOf(r.Verifier)
		if err != nil {
			return r, unfit(f.capsule, err)
		}
		r.Platform = platform.String()
	} else {
		im, err := openPinned(ctx, f.registry.Registry, f.image)
		if err != nil {
			return r, err
		}
		if r.Verifier, err = verifierFor(im, f.platform); err != nil {
			return r, err
		}
	}
	r.Runtime, r.Limits, err = f.sandbox.choose(ctx, c)
	return r, err
}

func openPinned(ctx context.Context, registry oci.Registry, reference string) (*oci.Image, error) {
	if _, _, err := oci.SplitDigest(reference); err != nil {
		return nil, cli.Usagef("--image: %v", err)
	}
	return registry.Open(ctx, reference)
}

func verifierFor(im *oci.Image, platform string) ([]byte, error) {
	for _, m := range im.Manifests {
		if m.Platform.String() == platform {
			return capsuleimage.Verifier(im, *m.Platform)
		}
	}
	return nil, cli.Usagef("--platform %s: the image has none for it", platform)
}

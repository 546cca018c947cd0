package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	capsuleimage "github.com/erdos1056/erdos1056/capsule/image"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/profile"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/runner"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Bounds of files that are named on the command line, in bytes.
const (
	maxDocument = 1 << 20
	maxCapsule  = 256 << 20
)

// runsFolder is where runs lie that were given no other place.
const runsFolder = "runs"

var runVerb = cli.Verb{
	Name:    "run",
	Args:    "MISSION",
	Summary: "carry out a mission: search or take an artifact, freeze, verify sandboxed, record",
	Example: "capsule run missions/erdos1056-k15-next/mission.draft.json --no-land --output run1",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(runFlags)
		f.declare(flags)
		return f.act
	},
}

type runFlags struct {
	preparationFlags
	key             keyFlags
	output, sandbox string
	noLand          bool
	landCommand     string
	frontier        string
	landTimeout     time.Duration
	search          runner.Search
	artifact        string
	worker          string
	workerArgs      []string
	workerMemory    int64
}

func (f *runFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.output, "output", "", "folder of the run (default: below runs/, by the mission's id)")
	flags.BoolVar(&f.noLand, "no-land", false, "record a diagnostic run that enters no frontier")
	flags.StringVar(&f.landCommand, "land-command", "", "program, with arguments, that is called as vela land is")
	flags.StringVar(&f.frontier, "frontier", ".", "folder of the frontier that --land-command lands in")
	flags.DurationVar(&f.landTimeout, "land-timeout", 2*time.Minute, "time that --land-command has")
	f.preparationFlags.declare(flags)
	flags.StringVar(&f.search.Kernel, "kernel", "auto", "kernel of the built-in search")
	flags.IntVar(&f.search.Threads, "threads", 0, "threads of the built-in search (default: all)")
	flags.StringVar(&f.artifact, "artifact", "", "a finished artifact, judged and recorded instead of searching; its mission allows one")
	flags.StringVar(&f.worker, "worker", "", "static program that does the research in the sandbox instead of the built-in search; it starts in a folder that it can write to")
	flags.StringArrayVar(&f.workerArgs, "worker-arg", nil, "argument of the worker, {input} for the folder of the target packet; may be repeated")
	flags.Int64Var(&f.workerMemory, "worker-memory", 1024, "memory of the worker in MiB, its files included")
	flags.StringVar(&f.sandbox, "sandbox", "", "built-in, runc, podman or docker (default: the first that works here)")
	f.key.declare(flags)
}

func (f *runFlags) act(ctx context.Context, c *cli.Call) error {
	name := c.Args[0]
	if f.noLand == (f.landCommand != "") {
		return cli.Usagef("say how the run ends: --no-land, or --land-command PROGRAM")
	}
	if f.workerMemory < 16 || f.workerMemory > 1<<20 {
		return cli.Usagef("--worker-memory %d: want 16 to %d MiB", f.workerMemory, 1<<20)
	}
	if f.artifact != "" && f.worker != "" {
		return cli.Usagef("an artifact comes from one place: --artifact or --worker")
	}
	order := runner.Order{Report: func(stage, text string) { c.Say("%-9s %s", stage, text) }}
	var err error
	if order.Mission, order.Parts, err = f.mission(ctx, c, name); err != nil {
		return err
	}
	if order.Runtime, err = sandbox.Choose(ctx, f.sandbox); err != nil {
		return err
	}
	order.Engine = &f.search
	if f.artifact != "" {
		order.Engine = &runner.Given{Path: f.artifact}
	}
	if f.worker != "" {
		order.Engine = &runner.Worker{Runtime: order.Runtime, Program: f.worker, Args: f.workerArgs, Memory: f.workerMemory << 20}
	}
	if f.landCommand != "" {
		frontier, err := filepath.Abs(f.frontier)
		if err != nil {
			return err
		}
		order.Landing = &runner.Landing{Command: strings.Fields(f.landCommand), Frontier: frontier, Timeout: f.landTimeout}
	}
	// Without a key the tip of the log is signed by one of this run alone.
	if f.key.path != "" {
		key, err := f.key.read(ctx, c)
		if err != nil {
			return err
		}
		order.Key = &key
	}
	order.Output = f.output
	if order.Output == "" {
		order.Output = filepath.Join(runsFolder, strings.TrimPrefix(order.Mission.ID, "mission_"))
	}
	summary, err := runner.Run(ctx, order)
	if errors.Is(err, fs.ErrExist) {
		return cli.Usagef("--output: %v", err)
	}
	if err != nil {
		return err
	}
	return printRun(c, summary)
}

// printRun prints what a run came to, and fails if the run did.
func printRun(c *cli.Call, s runner.Summary) error {
	if s.Failure != nil {
		path := s.Folder.Record(record.FailureFile)
		err := c.Result(map[string]any{"type": "failure", "ok": false, "run_id": s.Failure.RunID, "phase": s.Failure.Phase, "error": s.Failure.Error,
			"landing_observed": s.Failure.LandingObserved, "failure_file": path}, "failed    %s  phase %s", path, s.Failure.Phase)
		return errors.Join(cli.Failf("%s: %s", s.Failure.Phase, s.Failure.Error), err)
	}
	mode, receipt, proposal, route := "no_land", "", "", ""
	var delta *int64
	if l := s.Run.Landing; l != nil {
		mode, receipt, proposal, route, delta = "land", l.ReceiptRoot, l.ProposalID, l.Route, l.AcceptedEventDelta
	}
	path := s.Folder.Record(record.RunFile)
	c.Say("%-9s by the key %s", "signed", s.TipKey)
	return c.Result(map[string]any{"type": "run", "ok": true, "command": "run", "mode": mode, "run_id": s.Run.RunID, "target": s.Run.Mission.Target,
		"candidate_digest": s.Run.Candidate.Digest, "verifier_status": s.Run.Verifier.Status, "observed_tokens": s.Run.Budget.ObservedTokens,
		"receipt_root": orNull(receipt), "proposal_id": orNull(proposal), "route": orNull(route), "accepted_event_delta": delta,
		"clean_clone_reproduced": s.Run.Reproduction.Matched, "evidence_root": s.EvidenceRoot, "tip_public_key": s.TipKey, "run_file": path},
		"recorded  %s  evidence root %s", path, s.EvidenceRoot)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// preparationFlags say what a draft is prepared with.
type preparationFlags struct {
	capsule, packet, profile, image string
	source                          freeze.Source
}

func (f *preparationFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.capsule, "capsule", "", "the frozen verifier (default: one for the draft's range and this machine)")
	flags.StringVar(&f.packet, "packet", "", "the target packet (default: one that names the draft's range)")
	flags.StringVar(&f.profile, "profile", "", "profile file that registers the draft")
	flags.StringVar(&f.image, "image-id", "", "id of the verifier's image, sha256:... (default: none)")
	flags.StringVar(&f.source.Verifiers, "verifiers", "", "folder with the unfrozen verifiers of a release (default: beside this program)")
	flags.StringVar(&f.source.Module, "source", "", "folder of this project's source, to build verifiers with Go")
}

// mission reads a prepared mission, or prepares a draft.
func (f *preparationFlags) mission(ctx context.Context, c *cli.Call, name string) (m mission.Mission, parts mission.Parts, err error) {
	folder, prepared := bundleFolder(name)
	if prepared {
		b, err := mission.OpenBundle(folder)
		if err != nil {
			return m, parts, failedCheck(err)
		}
		parts, err = b.Parts()
		return b.Mission, parts, err
	}
	p := runner.Preparation{Image: f.image}
	if p.Draft, err = disk.Read(name, maxDocument, disk.RefuseLinks); err != nil {
		return m, parts, err
	}
	if f.packet != "" {
		if p.Packet, err = disk.Read(f.packet, mission.MaxPacketBytes, disk.RefuseLinks); err != nil {
			return m, parts, err
		}
	}
	if f.profile != "" {
		registered, err := profile.Register(f.profile, p.Draft)
		if err != nil {
			return m, parts, failedCheck(err)
		}
		p.Registration = &registered
	}
	if p.Capsule, p.Platform, err = f.verifier(ctx, c, p.Draft); err != nil {
		return m, parts, err
	}
	if m, parts, err = runner.Prepare(p); err != nil {
		err = unfit(name, err)
	}
	return m, parts, err
}

// bundleFolder reports whether a name is that of a prepared mission, by its
// folder or its mission.json.
func bundleFolder(name string) (folder string, prepared bool) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return name, true
	}
	return filepath.Dir(name), filepath.Base(name) == "mission.json"
}

// verifier returns the frozen verifier for a draft, and its platform.
func (f *preparationFlags) verifier(ctx context.Context, c *cli.Call, draft []byte) ([]byte, string, error) {
	if f.capsule != "" {
		capsule, err := disk.Read(f.capsule, maxCapsule, disk.RefuseLinks)
		if err != nil {
			return nil, "", err
		}
		// A capsule that is no program, such as a script, has no platform.
		if !bytes.HasPrefix(capsule, []byte("\x7fELF")) {
			return capsule, "", nil
		}
		platform, err := platformOf(capsule)
		if err != nil {
			return nil, "", unfit(f.capsule, err)
		}
		return capsule, platform.String(), nil
	}
	parsed, err := mission.DraftSpec.Parse(draft)
	if err != nil {
		return nil, "", err
	}
	claim, err := runner.PlanOf(parsed.AllowedPaths)
	if err != nil {
		return nil, "", fmt.Errorf("draft.%w; name the frozen verifier with --capsule", err)
	}
	source := f.source
	if source == (freeze.Source{}) {
		if source, err = freeze.FindSource(); err != nil {
			return nil, "", cli.WithCode(cli.NoInput, err)
		}
	}
	native, err := freeze.ParsePlatforms(sandbox.Native)
	if err != nil {
		return nil, "", err
	}
	frozen, err := capsuleimage.Freeze(ctx, source, claim, native)
	if err != nil {
		return nil, "", err
	}
	c.Say("capsule   frozen to %s, k %d, %s", claim.Range, claim.K, sandbox.Native)
	return frozen.Verifiers[native[0]], sandbox.Native, nil
}

package declaration

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/conformance"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Plan is what a publisher wants to declare.
type Plan struct {
	ID        string // letters, digits, '.', '_' and '-'
	Name      string
	Version   string // MAJOR.MINOR.PATCH
	Summary   string
	Verifiers []Verifier
	Cases     []Case
	Bounds    Bounds
}

// Verifier is a frozen verifier of one platform (linux/amd64 or linux/arm64).
type Verifier struct {
	Platform string
	Content  []byte
}

// Case is an artifact and the verdict that the verifier must give on it.
type Case struct {
	ID       string
	Artifact []byte
	Expected Expectation
}

// MinDaemonVersion is the oldest daemon of the original that knows the block.
const MinDaemonVersion = "0.5.0"

// The file names of a declaration's folder.
const (
	manifestFile = "manifest.json"
	corpusFile   = "replay-corpus.json"
	toolFile     = "tools.json"
)

// packed is a file on its way into the folder.
type packed struct {
	path    string
	content []byte
	perm    fs.FileMode
}

// Write makes the declaration of a plan, signs it and writes it as a new
// folder.
func Write(folder string, plan Plan, key keys.Key) error {
	files, err := plan.files(key)
	if err != nil {
		return err
	}
	return disk.CreateFolder(folder, func(draft string) error {
		for _, f := range files {
			if err := disk.CreateBelow(draft, f.path, f.content, f.perm); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p Plan) files(key keys.Key) ([]packed, error) {
	if len(p.Verifiers) == 0 {
		return nil, errors.New("a declaration needs a verifier; give one of linux/amd64 or linux/arm64")
	}
	if len(p.Cases) == 0 {
		return nil, errors.New("a declaration needs a case; give an artifact and the verdict on it")
	}
	m, err := p.manifest(key)
	if err != nil {
		return nil, err
	}
	corpus, files, err := p.corpus(m)
	if err != nil {
		return nil, err
	}
	corpusText, err := CorpusSpec.Encode(corpus)
	if err != nil {
		return nil, err
	}
	if m.Conformance, err = p.block(corpus, digest.Of(corpusText)); err != nil {
		return nil, err
	}
	if err := m.Sign(key); err != nil {
		return nil, err
	}
	manifest, err := m.Encode()
	if err != nil {
		return nil, err
	}
	tool, err := toolDocument(m)
	if err != nil {
		return nil, err
	}
	return append(files,
		packed{toolFile, tool, 0o644}, packed{corpusFile, corpusText, 0o644}, packed{manifestFile, manifest, 0o644}), nil
}

// toolName is the name of the one tool.
func (p Plan) toolName() string { return p.ID + ".verify" }

// manifest returns the manifest without its block.
func (p Plan) manifest(key keys.Key) (*conformance.Manifest, error) {
	// Nothing is ever fetched from the endpoint: the tool is the verifier of
	// the folder. The format demands a URL, and RFC 2606 keeps this one unused.
	endpoint := "https://verifier.capsule.invalid/"
	input, err := canon.ParseStrict([]byte(`{"type":"object","additionalProperties":false,"required":["artifact"],"properties":{"artifact":{"type":"string"}}}`), canon.DocumentLimits)
	if err != nil {
		return nil, err
	}
	m := &conformance.Manifest{
		Schema:       conformance.ManifestSchema,
		ID:           p.ID,
		Name:         p.Name,
		Version:      p.Version,
		PublisherFPR: string(key.Fingerprint()),
		Summary:      p.Summary,
		Entry:        conformance.Entry{Kind: conformance.ExternalTool, Path: toolFile},
		DataAccess:   conformance.DataAccess{TenantScopes: []string{"selected"}},
		Safety: conformance.SafetyPolicy{
			Sandbox:        conformance.SandboxCommand,
			MaxRuntimeMS:   uint64(p.Bounds.LatencyMS),
			MaxOutputBytes: uint64(p.Bounds.ResponseBytes),
		},
		Endpoint: &endpoint,
		Tools: []conformance.Tool{{
			Name:        p.toolName(),
			Description: "Judges one artifact in the sandbox: verified or refused.",
			InputSchema: input,
		}},
	}
	return m, m.Validate()
}

func (p Plan) corpus(m *conformance.Manifest) (Corpus, []packed, error) {
	text, err := m.Encode()
	if err != nil {
		return Corpus{}, nil, err
	}
	unsigned, err := conformance.UnsignedDigest(text)
	if err != nil {
		return Corpus{}, nil, err
	}
	c := Corpus{
		Schema:               CorpusSpec.ID,
		CorpusID:             p.ID + "-" + p.Version,
		Description:          fmt.Sprintf("%d artifacts with the verdict that the verifier must give on each.", len(p.Cases)),
		UnsignedFieldsSHA256: string(unsigned),
		Bounds:               CorpusBounds{p.Bounds.MemoryBytes, p.Bounds.Processes},
	}
	var files []packed
	for _, v := range p.Verifiers {
		path := "verifiers/" + strings.ReplaceAll(v.Platform, "/", "-") + "/verifier"
		files = append(files, packed{path, v.Content, 0o755})
		c.Verifiers = append(c.Verifiers, PackedFile{v.Platform, path, string(digest.Of(v.Content)), int64(len(v.Content))})
	}
	for _, k := range p.Cases {
		path := "artifacts/" + k.ID
		files = append(files, packed{path, k.Artifact, 0o644})
		c.Cases = append(c.Cases, CorpusCase{
			CaseID: k.ID, ToolName: p.toolName(), Args: CaseArguments{path},
			SHA256: string(digest.Of(k.Artifact)), Bytes: int64(len(k.Artifact)), Expected: k.Expected,
		})
	}
	return c, files, nil
}

// block returns the conformance block: no capability, no fact, one receipt a
// call, and the bounds.
func (p Plan) block(c Corpus, digest digest.Digest) (*conformance.Declaration, error) {
	envelope, err := p.Bounds.envelope(len(p.Cases))
	if err != nil {
		return nil, err
	}
	d := &conformance.Declaration{
		Schema: conformance.DeclarationSchema,
		ExpectedMutations: conformance.ExpectedMutations{
			Receipts: []conformance.ExpectedReceiptMutation{{ReceiptKind: conformance.Dispatch, MaxPerCall: 1}},
		},
		ReplayCorpus: conformance.ReplayCorpus{CorpusID: c.CorpusID, Path: corpusFile, SHA256: digest.Hex()},
		Invariants:   invariants(),
		Envelope:     envelope,
		Compatibility: conformance.CompatibilityAssertions{
			MinDaemonVersion: MinDaemonVersion,
			ManifestSchema:   conformance.ManifestSchema,
			RollbackSafe:     true,
		},
	}
	for _, k := range c.Cases {
		args := canon.NewObject(canon.Member{Key: "artifact", Value: canon.NewString(k.Args.Artifact)})
		d.ReplayCorpus.Cases = append(d.ReplayCorpus.Cases, conformance.DeclaredCase{CaseID: k.CaseID, ToolName: k.ToolName, Args: args})
	}
	return d, nil
}

// invariants are those that the sandbox enforces or a replay can decide.
func invariants() []conformance.InvariantTest {
	return []conformance.InvariantTest{
		{ID: "writes-nothing", Kind: conformance.NoUndeclaredFactWrites, Description: "The verifier has nothing to write to: no writable file and no connection."},
		{ID: "reads-no-private-fact", Kind: conformance.NoPrivateFactAccess, Description: "The verifier sees its artifact and itself, nothing else."},
		{ID: "uses-no-capability", Kind: conformance.NoUndeclaredCapability, Description: "The verifier holds no capability."},
		{ID: "reaches-no-host", Kind: conformance.NoEgressOutsideAllowlist, Description: "The verifier has no network."},
		{ID: "same-verdict-twice", Kind: conformance.DeterministicReplay, Description: "Exit code and output are the same whenever a case runs."},
	}
}

// toolDocument returns the description of the tool that the manifest's entry
// names.
func toolDocument(m *conformance.Manifest) ([]byte, error) {
	return canon.EncodeLine(canon.NewObject(
		canon.Member{Key: "schema", Value: canon.NewString(m.Schema)},
		canon.Member{Key: "id", Value: canon.NewString(m.ID)},
		canon.Member{Key: "version", Value: canon.NewString(m.Version)},
		canon.Member{Key: "external_tool_endpoint", Value: canon.NewString(*m.Endpoint)},
		canon.Member{Key: "tools", Value: canon.NewArray(canon.NewObject(
			canon.Member{Key: "name", Value: canon.NewString(m.Tools[0].Name)},
			canon.Member{Key: "description", Value: canon.NewString(m.Tools[0].Description)},
			canon.Member{Key: "input_schema", Value: m.Tools[0].InputSchema},
		))},
	))
}

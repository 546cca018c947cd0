// Package schedule hands the shards of a campaign to schedulers that exist: it writes the
// batch script of a Slurm job array and the manifest of a Kubernetes indexed Job. The
// scheduler supplies the number of the shard; the shard itself is a pure function of
// the campaign and that number, so a shard that was killed can run again anywhere.
package schedule

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/erdos1056/erdos1056/kernel/campaign"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// A Job is a campaign to be shared out.
type Job struct {
	Campaign campaign.Header // without a shard
	Shards   int
	Threads  int // of each shard
	// Folder is shared by all workers; each shard has a folder in it.
	Folder string
	// Push, if not "", is where each shard's result goes in an OCI registry: a
	// repository, to which the tag shard-i-of-n is added.
	Push string
}

// Validate reports the first bound that the job breaks.
func (j Job) Validate() error {
	switch {
	case j.Shards < 1 || j.Shards > plan.MaxUnits:
		return fmt.Errorf("%d shards: expected 1 to %d", j.Shards, plan.MaxUnits)
	case j.Threads < 1 || j.Threads > 1024:
		return fmt.Errorf("%d threads: expected 1 to 1024", j.Threads)
	case !plainPath.MatchString(j.Folder):
		return fmt.Errorf("folder %q: expected a path of letters, digits and ./_-", j.Folder)
	case j.Push != "" && !plainPath.MatchString(strings.Replace(j.Push, ":", "", 1)):
		return fmt.Errorf("repository %q: expected host[:port]/name", j.Push)
	}
	return nil
}

// plainPath holds what needs no quoting in a shell or in YAML.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9./_-]+$`)

// Name is a name for the job: letters, digits and hyphens.
func (j Job) Name() string {
	kind := ""
	if j.Campaign.Kind == campaign.Residues {
		kind = "residues-"
	}
	return fmt.Sprintf("erdos1056-%sk%d-%d-%d", kind, j.Campaign.K, j.Campaign.Lo, j.Campaign.Hi)
}

// Mebibytes is the memory that a shard may need: the fast kernel takes up to 1.5 bytes for
// each cut of its largest prime and thread, here 2; a unit's fingerprints and the program
// take the rest.
func (j Job) Mebibytes() int {
	table := uint64(j.Campaign.Hi) * 2
	if j.Campaign.Kind == campaign.Residues {
		table = 1 << 20
	}
	return 256 + int(uint64(j.Threads)*table>>20)
}

// arguments are those of the search that all shards have in common.
func (j Job) arguments() []string {
	args := []string{"--range=" + j.Campaign.Plan().Range.String(), fmt.Sprintf("--k=%d", j.Campaign.K)}
	if j.Campaign.Kind == campaign.Residues {
		args = append(args, "--residue="+strings.ReplaceAll(strings.Trim(fmt.Sprint(j.Campaign.Residues), "[]"), " ", ","))
	}
	if j.Push != "" {
		args = append(args, "--push="+j.Push)
	}
	return append(args, "--progress=lines")
}

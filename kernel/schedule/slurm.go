package schedule

import (
	"bytes"
	"fmt"
	"strings"
)

// Slurm returns the batch script of a job array with one task for each shard. A task that is
// killed, preempted or lost with its node is queued again and goes on where it was saved.
func (j Job) Slurm(program string) ([]byte, error) {
	if err := j.Validate(); err != nil {
		return nil, err
	}
	if !plainPath.MatchString(program) {
		return nil, fmt.Errorf("program %q: expected a path of letters, digits and ./_-", program)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `#!/bin/sh
#SBATCH --job-name=%s
#SBATCH --array=1-%d
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=%d
#SBATCH --mem=%dM
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
#SBATCH --output=%s/shard-%%a.log
#
# Submit with sbatch when the folder exists on all nodes. When all tasks have ended:
#   erdos1056 merge %s/shard-*/ --output %s/artifact.txt
set -eu
exec %s %s \
  --shard="$SLURM_ARRAY_TASK_ID/%d" --checkpoint="%s/shard-$SLURM_ARRAY_TASK_ID" --threads="$SLURM_CPUS_PER_TASK"
`, j.Name(), j.Shards, j.Threads, j.Mebibytes(), j.Folder, j.Folder, j.Folder, program, strings.Join(j.arguments(), " "), j.Shards, j.Folder)
	return b.Bytes(), nil
}

#!/bin/sh
#SBATCH --job-name=erdos1056-k15-2-50000000
#SBATCH --array=1-64
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=637M
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
#SBATCH --output=/shared/k15/shard-%a.log
#
# Submit with sbatch when the folder exists on all nodes. When all tasks have ended:
#   erdos1056 merge /shared/k15/shard-*/ --output /shared/k15/artifact.txt
set -eu
exec erdos1056 --range=2..50000000 --k=15 --progress=lines \
  --shard="$SLURM_ARRAY_TASK_ID/64" --checkpoint="/shared/k15/shard-$SLURM_ARRAY_TASK_ID" --threads="$SLURM_CPUS_PER_TASK"

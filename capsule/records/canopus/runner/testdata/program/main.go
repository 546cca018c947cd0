// Program is a frozen verifier and a worker for tests: the first argument says
// how it behaves.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/artifact"
)

func main() {
	behaviour, rest := os.Args[1], os.Args[2:]
	switch behaviour {
	case "verify":
		verify(rest[0])
	case "reject":
		fmt.Fprintln(os.Stderr, "rejected")
		os.Exit(1)
	case "fickle":
		fmt.Println(time.Now().UnixNano())
	case "sleep":
		time.Sleep(time.Hour)
	case "flood":
		for {
			os.Stdout.WriteString(strings.Repeat("x", 1<<16))
		}
	case "grow":
		for i := 0; ; i++ {
			hoard = append(hoard, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "exit":
		os.Exit(3)
	case "threads":
		threads()
	case "land", "land-permit", "land-rootless", "land-unbound", "land-refuse", "land-garbage":
		land(behaviour, rest)
	default:
		work(behaviour, rest)
	}
}

var hoard [][]byte

// verify recomputes the range of an artifact with the reference kernel.
func verify(path string) {
	data, err := os.ReadFile(path)
	check(err)
	claimed, err := artifact.Parse(data)
	check(err)
	result, err := kernel.Search(context.Background(), claimed.Plan, kernel.Options{Kernel: kernel.Reference, Threads: 1})
	check(err)
	if !bytes.Equal(result.Artifact.Encode(), data) {
		fmt.Fprintln(os.Stderr, "candidate does not match")
		os.Exit(1)
	}
	fmt.Printf("verified primes=%d\n", result.PrimesTested)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(70)
	}
}

// threads starts as many threads as it is let.
func threads() {
	for range 256 {
		go syscall.Select(0, nil, nil, nil, &syscall.Timeval{Sec: 3600})
	}
	time.Sleep(time.Hour)
}

// land is the landing command of a frontier, called in a folder that holds the
// artifacts.
func land(behaviour string, args []string) {
	frontier, artifacts := "", []any{}
	for i := 1; i+1 < len(args); i++ {
		switch args[i] {
		case "--frontier":
			frontier = args[i+1]
		case "--artifact":
			path, kind, _ := strings.Cut(args[i+1], ":")
			data, err := os.ReadFile(path)
			check(err)
			artifacts = append(artifacts, map[string]any{"kind": kind, "path": path, "sha256": fmt.Sprintf("%x", sha256.Sum256(data))})
		}
	}
	switch behaviour {
	case "land-refuse":
		fmt.Fprintln(os.Stderr, "refused")
		os.Exit(9)
	case "land-garbage":
		fmt.Println("landed")
		return
	}
	receipt, err := json.Marshal(map[string]any{"artifacts": artifacts})
	check(err)
	sum := fmt.Sprintf("%x", sha256.Sum256(receipt))
	if behaviour != "land-unbound" {
		folder := filepath.Join(frontier, "records/receipts/sha256")
		check(os.MkdirAll(folder, 0o700))
		check(os.WriteFile(filepath.Join(folder, sum+".json"), receipt, 0o600))
	}
	digest := "sha256:" + sum
	reply := map[string]any{"ok": true, "command": "land", "operation_id": "vop_1", "receipt_root": digest, "record_id": "vrr_1",
		"proposal_id": "vpr_0123456789abcdef", "finding_id": "vf_1", "route": "deferred", "original_route": nil, "detail": "",
		"accepted_event_count_before": 1, "accepted_event_count_after": 1, "accepted_event_delta": 0,
		"publication": map[string]any{"state": "committed_local"},
		"final_roots": map[string]any{"git_commit": sum[:40], "git_tree": sum[:40], "vela_event_log": digest, "vela_snapshot": digest}}
	switch behaviour {
	case "land-permit":
		reply["route"], reply["accepted_event_count_after"], reply["accepted_event_delta"] = "policy_admitted", 2, 1
	case "land-rootless":
		delete(reply, "final_roots")
	}
	check(json.NewEncoder(os.Stdout).Encode(reply))
}

// work prints an output of an engine, altered as the behaviour says.
func work(behaviour string, args []string) {
	text, err := os.ReadFile("/mission/mission.json")
	check(err)
	var mission struct {
		AllowedPaths []string `json:"allowed_paths"`
		TargetPacket struct {
			Path string `json:"path"`
		} `json:"target_packet"`
	}
	check(json.Unmarshal(text, &mission))
	file := map[string]string{"path": mission.AllowedPaths[0], "kind": "text/plain", "encoding": "utf8", "content": "found nothing\n"}
	output := map[string]any{"schema": "canopus.engine-output.v0", "status": "success", "claim": "A claim.",
		"artifacts": []any{file}, "observations": []string{}, "caveats": []string{"Verification is pending."}}
	switch behaviour {
	case "good":
	case "null":
		output["status"], output["artifacts"] = "null", []any{}
	case "elsewhere":
		file["path"] = "elsewhere.txt"
	case "empty":
		file["content"] = ""
	case "secret":
		file["content"] = "-----BEGIN PRIVATE KEY-----\n"
	case "large":
		file["content"] = strings.Repeat("x", 5000)
	case "twice":
		output["artifacts"] = []any{file, file}
	case "file", "file-large", "file-binary", "file-secret", "file-empty", "file-links":
		file["content"] = ""
		leave(behaviour, mission.AllowedPaths[0])
	case "fill":
		fill()
	case "packet":
		packet, err := os.ReadFile(filepath.Join(args[0], mission.TargetPacket.Path))
		check(err)
		file["content"] = string(packet)
	case "none":
		output["artifacts"] = []any{}
	case "garbage":
		fmt.Println("not JSON")
		return
	default:
		check(fmt.Errorf("unknown behaviour %q", behaviour))
	}
	check(json.NewEncoder(os.Stdout).Encode(output))
}

// leave writes the artifact to the workspace, which is the current folder.
func leave(behaviour, path string) {
	text := map[string]string{"file": "found in a file\n", "file-large": strings.Repeat("x", 5000), "file-binary": "\x1f\x8b",
		"file-secret": "-----BEGIN PRIVATE KEY-----\n", "file-empty": ""}[behaviour]
	check(os.MkdirAll(filepath.Dir(path), 0o700))
	check(os.WriteFile("notes.txt", []byte("to be forgotten"), 0o600))
	if behaviour == "file-links" {
		check(os.Symlink("/mission/mission.json", path))
	}
	check(os.WriteFile(path, []byte(text), 0o600))
}

// fill writes to the workspace as much as it is let.
func fill() {
	block := bytes.Repeat([]byte{1}, 1<<20)
	for i := 0; ; i++ {
		if err := os.WriteFile(fmt.Sprint("fill-", i), block, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(4)
		}
	}
}

//go:build unix

package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Other processes are this program again, with the task in the environment.
const task, argument = "DISK_TEST_TASK", "DISK_TEST_ARGUMENT"

func TestMain(m *testing.M) {
	switch os.Getenv(task) {
	case "":
		os.Exit(m.Run())
	case "scratch":
		s, err := NewScratch(Replay)
		exitOn(err)
		exitOn(os.WriteFile(filepath.Join(s.Path, "file"), []byte("x"), 0o600))
		fmt.Println(s.Path)
		os.Stdin.Read(make([]byte, 1)) // until it is killed
	case "append":
		path := os.Getenv(argument)
		exitOn(Update(context.Background(), path, 1<<20, 0o644, func(old []byte) ([]byte, error) {
			if !bytes.HasSuffix(old, []byte("end\n")) {
				return nil, fmt.Errorf("half a file: %q", old)
			}
			return fmt.Appendf(bytes.TrimSuffix(old, []byte("end\n")), "%d\nend\n", os.Getpid()), nil
		}))
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func process(name, value string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), task+"="+name, argument+"="+value)
	return c
}

func TestNoUpdateOfSeveralProcessesIsLost(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "registry.json")
	write(t, path, "end\n")
	const writers = 12
	var running []*exec.Cmd
	for range writers {
		c := process("append", path)
		c.Stderr = os.Stderr
		must(t, c.Start())
		running = append(running, c)
	}
	done := make(chan error, 1)
	go func() {
		var all error
		for _, c := range running {
			all = errors.Join(all, c.Wait())
		}
		done <- all
	}()
	for reading := true; reading; {
		select {
		case err := <-done:
			must(t, err)
			reading = false
		default:
		}
		if text, err := Read(path, 1<<20, FollowLinks); !Temporary(err) && (err != nil || !strings.HasSuffix(string(text), "end\n")) {
			t.Fatalf("a reader saw %q, %v", text, err)
		}
	}
	text, err := os.ReadFile(path)
	must(t, err)
	if lines := strings.Count(string(text), "\n"); lines != writers+1 {
		t.Errorf("%d entries; expected %d:\n%s", lines-1, writers, text)
	}
	expectOnly(t, folder, "registry.json")
}

func TestUpdateWaitsAndGivesUp(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "f")
	add := func(old []byte) ([]byte, error) { return append(old, 'x'), nil }
	must(t, Update(context.Background(), path, 10, 0o644, add)) // a file that is absent begins empty
	must(t, Update(context.Background(), path, 10, 0o644, add))
	expectContent(t, path, "xx")

	fails := errors.New("fails")
	if err := Update(context.Background(), path, 10, 0o644, func([]byte) ([]byte, error) { return nil, fails }); err != fails {
		t.Errorf("expected the error of the change, found %v", err)
	}
	lock, err := LockFolder(folder)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Update(ctx, path, 10, 0o644, add); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted while another has the lock: %v", err)
	}
	must(t, lock.Close())
	if err := Update(context.Background(), path, 1, 0o644, add); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	expectContent(t, path, "xx")
}

func TestALockIsHeldOnce(t *testing.T) {
	folder := t.TempDir()
	lock, err := LockFolder(folder)
	must(t, err)
	if _, err := LockFolder(folder); !errors.Is(err, ErrHeld) || !Temporary(err) {
		t.Errorf("while it is held: %v", err)
	}
	must(t, lock.Close())
	again, err := LockFolder(folder)
	must(t, err)
	must(t, again.Close())
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(folder, link))
	if _, err := LockFolder(link); err == nil {
		t.Error("a symbolic link was locked")
	}
}

// startScratch starts a process that makes a folder and keeps it.
func startScratch(t *testing.T) (c *exec.Cmd, folder string) {
	t.Helper()
	c = process("scratch", "")
	output, err := c.StdoutPipe()
	must(t, err)
	input, err := c.StdinPipe()
	must(t, err)
	t.Cleanup(func() { input.Close() })
	must(t, c.Start())
	_, err = fmt.Fscanln(output, &folder)
	must(t, err)
	return c, folder
}

func kill(t *testing.T, c *exec.Cmd) {
	t.Helper()
	must(t, c.Process.Kill())
	c.Wait()
}

func TestFolderOfAKilledProcessIsRemovedByTheNext(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	living, kept := startScratch(t)
	killed, stale := startScratch(t)
	kill(t, killed)
	own, err := NewScratch(Freeze)
	must(t, err)
	if !exists(kept) || exists(stale) || !exists(own.Path) {
		t.Errorf("of the living process: %v, of the killed one: %v, own: %v", exists(kept), exists(stale), exists(own.Path))
	}
	if n, err := SweepScratch(); n != 0 || err != nil || !exists(kept) || !exists(own.Path) {
		t.Errorf("%d removed, %v, although every folder is in use", n, err)
	}
	kill(t, living)
	if n, err := SweepScratch(); n != 1 || err != nil || exists(kept) {
		t.Errorf("%d removed, %v; expected the one of the killed process", n, err)
	}
	if err := own.Remove(); err != nil || exists(own.Path) {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoFolderOfThisUserIsLeftAlone(t *testing.T) {
	temporary, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, path := range []string{filepath.Join(elsewhere, "file"), filepath.Join(temporary, scratchPrefix(Replay)+"file"), filepath.Join(temporary, "erdos1056-other-1")} {
		write(t, path, "")
	}
	link := filepath.Join(temporary, scratchPrefix(Replay)+"link")
	must(t, os.Symlink(elsewhere, link))
	foreign := filepath.Join(temporary, scratchPrefix(Replay)+"foreign")
	must(t, os.Mkdir(foreign, 0o755))
	expected := 1 // where this process cannot give its folder away, it is its own
	if os.Geteuid() == 0 {
		expected = 0
		must(t, os.Chown(foreign, 4242, 4242))
	}
	if n, err := SweepScratch(); n != expected || err != nil {
		t.Errorf("%d removed, %v; expected %d", n, err, expected)
	}
	for _, path := range []string{link, filepath.Join(elsewhere, "file"), filepath.Join(temporary, scratchPrefix(Replay)+"file")} {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was removed", path)
		}
	}
}

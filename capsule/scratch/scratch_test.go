package scratch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const makeFolder = "SCRATCH_TEST_MAKE_FOLDER"

func TestMain(m *testing.M) {
	if os.Getenv(makeFolder) != "" {
		f, err := New(Replay)
		if err != nil {
			panic(err)
		}
		os.WriteFile(filepath.Join(f.Path, "file"), []byte("x"), 0o600)
		os.Stdout.WriteString(f.Path)
		os.Stdout.Close()
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// start starts a process that makes a folder and keeps it.
func start(t *testing.T) (process *exec.Cmd, folder string) {
	t.Helper()
	process = exec.Command(os.Args[0])
	process.Env = append(os.Environ(), makeFolder+"=1")
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	path := make([]byte, 4096)
	n, err := output.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return process, string(path[:n])
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestFolderOfAKilledProcessIsRemovedByTheNext(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	living, kept := start(t)
	killed, stale := start(t)
	killed.Process.Kill()
	killed.Wait()
	own, err := New(Freeze)
	if err != nil {
		t.Fatal(err)
	}
	if !exists(kept) || exists(stale) || !exists(own.Path) {
		t.Errorf("of the living process: %v, of the killed one: %v, own: %v", exists(kept), exists(stale), exists(own.Path))
	}
	if n, err := Sweep(); n != 0 || err != nil || !exists(kept) || !exists(own.Path) {
		t.Errorf("%d removed, %v, although every folder is in use", n, err)
	}
	living.Process.Kill()
	living.Wait()
	if n, err := Sweep(); n != 1 || err != nil || exists(kept) {
		t.Errorf("%d removed, %v; want the one of the killed process", n, err)
	}
	if err := own.Remove(); err != nil || exists(own.Path) {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoFolderOfThisUserIsLeftAlone(t *testing.T) {
	temporary, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, path := range []string{filepath.Join(elsewhere, "file"), filepath.Join(temporary, prefix(Replay)+"file"), filepath.Join(temporary, "erdos1056-other-1")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(temporary, prefix(Replay)+"link")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(temporary, prefix(Replay)+"foreign")
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	want := 1 // where this process cannot give its folder away, it is its own
	if os.Geteuid() == 0 {
		want = 0
		if err := os.Chown(foreign, 4242, 4242); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := Sweep(); n != want || err != nil {
		t.Errorf("%d removed, %v; want %d", n, err, want)
	}
	if !exists(link) || !exists(filepath.Join(elsewhere, "file")) || !exists(filepath.Join(temporary, prefix(Replay)+"file")) {
		t.Error("something else was removed")
	}
}

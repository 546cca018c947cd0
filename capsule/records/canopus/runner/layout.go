package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Folders of a run, below the folder that has its name.
const (
	missionFolder = "mission"
	recordFolder  = "run"
	cleanFolder   = "run-reproduce" // while a verdict is reproduced
	unfinished    = ".new"
)

// maxFileBytes bounds every record that is read.
const maxFileBytes = 64 << 20

// Folder is the folder of a finished run.
type Folder string

// Find returns the folder of a run that is named by itself, by its run.json or
// failure.json, or as "latest": the newest run below runs.
func Find(name, runs string) (Folder, error) {
	if name == "latest" {
		return latest(runs)
	}
	path := filepath.Clean(name)
	switch filepath.Base(path) {
	case record.RunFile, record.FailureFile:
		path = filepath.Dir(filepath.Dir(path))
	case recordFolder:
		path = filepath.Dir(path)
	}
	if isIncomplete(path) {
		return "", fmt.Errorf("%s: this run is incomplete; run its mission again", path)
	}
	f := Folder(path)
	if _, err := f.Outcome(); err != nil {
		return "", fmt.Errorf("%s names no run: %w; name a run's folder, its %s/%s, or latest", name, err, recordFolder, record.RunFile)
	}
	return f, nil
}

var stoppedName = regexp.MustCompile(`\.stopped-[0-9]+$`)

// isIncomplete reports whether a folder is named as that of a run that is under
// way or was stopped.
func isIncomplete(name string) bool {
	return strings.HasSuffix(name, unfinished) || stoppedName.MatchString(name)
}

func latest(runs string) (Folder, error) {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return "", fmt.Errorf("looking for the latest run: %w; say where runs lie with --runs", err)
	}
	newest, at := Folder(""), time.Time{}
	for _, entry := range entries {
		f := Folder(filepath.Join(runs, entry.Name()))
		outcome, err := f.Outcome()
		if err != nil || isIncomplete(entry.Name()) {
			continue
		}
		if info, err := os.Stat(f.Record(outcome)); err == nil && info.ModTime().After(at) {
			newest, at = f, info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("%s: no finished run lies here", runs)
	}
	return newest, nil
}

// Mission returns the folder of the mission's bundle.
func (f Folder) Mission() string { return filepath.Join(string(f), missionFolder) }

func (f Folder) reproduction() string { return filepath.Join(string(f), cleanFolder) }

// Record returns the path of a record.
func (f Folder) Record(name string) string { return filepath.Join(string(f), recordFolder, name) }

// Outcome returns record.RunFile for a completed run and record.FailureFile for
// a failed one.
func (f Folder) Outcome() (string, error) {
	for _, name := range []string{record.RunFile, record.FailureFile} {
		_, err := os.Lstat(f.Record(name))
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s: expected %s or %s in it, found neither: %w", filepath.Join(string(f), recordFolder), record.RunFile, record.FailureFile, fs.ErrNotExist)
}

func (f Folder) read(name string) ([]byte, error) {
	return disk.Read(f.Record(name), maxFileBytes, disk.RefuseLinks)
}

// Run reads run.json.
func (f Folder) Run() (record.Run, error) {
	data, err := f.read(record.RunFile)
	if err != nil {
		return record.Run{}, err
	}
	run, err := record.ParseRun(data)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Record(record.RunFile), err)
	}
	return run, err
}

// Failure reads failure.json.
func (f Folder) Failure() (record.Failure, error) {
	data, err := f.read(record.FailureFile)
	if err != nil {
		return record.Failure{}, err
	}
	failure, err := record.FailureSpec.Parse(data)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Record(record.FailureFile), err)
	}
	return failure, err
}

func (f Folder) store() *record.Store {
	return &record.Store{Folder: f.Record(record.ArtifactFolder)}
}

// claim makes the unfinished folder of a new run and locks it for this process.
// A run that was stopped before is set aside, unless it may have landed: what
// it did then needs a person.
func claim(output string) (folder Folder, lock *disk.Lock, err error) {
	if _, err := os.Lstat(output); err == nil {
		return "", nil, &disk.WriteError{Path: output, Err: fmt.Errorf("%w: name another output, or inspect this run", fs.ErrExist)}
	}
	folder = Folder(output + unfinished)
	if _, err := os.Lstat(string(folder)); err == nil {
		if err := setAside(folder, output); err != nil {
			return "", nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(string(folder)), 0o755); err != nil {
		return "", nil, err
	}
	if err := os.Mkdir(string(folder), 0o700); err != nil {
		return "", nil, err
	}
	lock, err = folder.lock()
	return folder, lock, err
}

// lock holds the folder until it is closed or the process ends, however it ends.
func (f Folder) lock() (*disk.Lock, error) {
	lock, err := disk.LockFolder(string(f))
	if errors.Is(err, disk.ErrHeld) {
		err = fmt.Errorf("another process is carrying out this run: %w", err)
	}
	return lock, err
}

func setAside(folder Folder, output string) error {
	lock, err := folder.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	data, err := os.ReadFile(folder.Record(record.ActivityFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	events, _, err := record.ParseOpenLog(data)
	if err != nil {
		return fmt.Errorf("%s: the log of this stopped run was changed: %w; keep the folder for examination and name another output", folder, err)
	}
	for _, e := range events {
		if e.Type == record.ReceiptMapped {
			return fmt.Errorf("%s: this run was stopped while it landed; compare %s and the frontier, then rename the folder and run the mission again",
				folder, folder.Record(record.LandingCommandFile))
		}
	}
	for i := 1; ; i++ {
		stopped := fmt.Sprintf("%s.stopped-%d", output, i)
		if _, err := os.Lstat(stopped); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(string(folder), stopped)
		}
	}
}

// finish gives a complete run its name.
func (f Folder) finish(output string) (Folder, error) {
	if err := disk.SyncFolder(filepath.Join(string(f), recordFolder)); err != nil {
		return "", err
	}
	if err := os.Rename(string(f), output); err != nil {
		return "", err
	}
	return Folder(output), disk.SyncFolder(filepath.Dir(output))
}

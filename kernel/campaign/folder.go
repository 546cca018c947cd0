package campaign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/erdos1056/erdos1056/internal/disk"
)

// Names in the folder of a campaign.
const (
	LedgerName       = "ledger.jsonl"
	fingerprintsName = "fingerprints"
	lockName         = "lock"
	holderName       = "lock.holder"
)

// A Folder is the folder of a campaign or shard, held by this process alone.
type Folder struct {
	Ledger *Ledger
	// Notes says what was found damaged on opening and cut off.
	Notes []string

	dir  string
	lock *flock.Flock
	file ledgerFile
}

// ledgerFile is what appending needs of an *os.File.
type ledgerFile interface {
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// An InUseError says that another process works in the folder.
type InUseError struct{ Dir, Holder string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("%s is in use by %s; wait for it to end, or name another folder", e.Dir, e.Holder)
}

// Open opens the folder, creating it if need be, for the campaign that want states. A damaged
// tail of the ledger is cut back to the last good line, and the whole damaged file is
// kept as .bad. A ledger of another campaign is refused.
func Open(dir string, want Header) (*Folder, error) {
	if err := want.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, fingerprintsName), 0o755); err != nil {
		return nil, err
	}
	f := &Folder{dir: dir}
	var err error
	if f.lock, err = lockFolder(dir); err != nil {
		return nil, err
	}
	if err := f.open(want); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Folder) open(want Header) error {
	name := filepath.Join(f.dir, LedgerName)
	if err := f.load(name); err != nil {
		return err
	}
	if f.Ledger == nil {
		line, chain := encode(want, "")
		if err := disk.Replace(name, line, 0o644); err != nil {
			return err
		}
		f.Ledger = &Ledger{}
		if err := f.Ledger.add(want, chain, len(line)); err != nil {
			return err
		}
	}
	if err := sameCampaign(f.Ledger.Header, want); err != nil {
		return fmt.Errorf("%s: %w; repeat the command that began it, or name another folder", name, err)
	}
	if err := unitsAsPlanned(f.Ledger); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	f.file = file
	return nil
}

// load reads the ledger, if there is one, and cuts off what is damaged.
func (f *Folder) load(name string) error {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l, err := Read(bytes.NewReader(b))
	f.Ledger = l
	var damage *Damage
	if !errors.As(err, &damage) {
		return err
	}
	bad, err := keepBad(name, b)
	if err != nil {
		return err
	}
	f.Notes = append(f.Notes, fmt.Sprintf("%s: %v; cut back to the %d good lines before it, the whole file is kept as %s", name, damage, damage.Line-1, bad))
	return disk.Replace(name, b[:damage.Size], 0o644)
}

// keepBad writes a damaged file beside its name with .bad, or .bad.2 and so on, appended.
func keepBad(name string, b []byte) (string, error) {
	bad := name + ".bad"
	for n := 2; ; n++ {
		if _, err := os.Lstat(bad); errors.Is(err, fs.ErrNotExist) {
			return bad, disk.Replace(bad, b, 0o644)
		}
		bad = fmt.Sprintf("%s.bad.%d", name, n)
	}
}

// sameCampaign reports the first difference between the campaign of a ledger and the one
// that is asked for.
func sameCampaign(have, want Header) error {
	for _, d := range []struct {
		what       string
		have, want any
	}{
		{"range", have.Plan().Range, want.Plan().Range}, {"k", have.K, want.K}, {"kind", have.Kind, want.Kind},
		{"residues", have.Residues, want.Residues}, {"shard", have.Shard, want.Shard}, {"cost of a unit", have.UnitCost, want.UnitCost},
	} {
		if h, w := fmt.Sprint(d.have), fmt.Sprint(d.want); h != w {
			return fmt.Errorf("the ledger is of another campaign: its %s is %q, asked for is %q", d.what, h, w)
		}
	}
	return nil
}

// unitsAsPlanned checks that the units done are the first ones of the plan.
func unitsAsPlanned(l *Ledger) error {
	planned := l.Header.Units()
	for i, u := range l.Units {
		if i >= len(planned) {
			return fmt.Errorf("unit %s: the campaign has only %d units", u.Range(), len(planned))
		}
		r := planned[i]
		if u.witness(l.Header.K) != nil {
			r.Hi = u.Hi
		}
		if u.Range() != r {
			return fmt.Errorf("unit %d is %s, the plan has %s there", i+1, u.Range(), r)
		}
	}
	return nil
}

// Append adds one entry: its line is on the disk when Append returns without an error. After an
// error the ledger is as it was.
func (f *Folder) Append(entry any) error {
	if err := f.Ledger.check(entry); err != nil {
		return fmt.Errorf("internal error: %w", err)
	}
	line, chain := encode(entry, f.Ledger.chain)
	if len(line) > maxLine {
		return fmt.Errorf("internal error: a line of %d bytes, expected at most %d", len(line), maxLine)
	}
	_, err := f.file.WriteAt(line, f.Ledger.size)
	if err == nil {
		err = f.file.Sync()
	}
	if err != nil {
		return errors.Join(err, f.file.Truncate(f.Ledger.size))
	}
	return f.Ledger.add(entry, chain, len(line))
}

// withdraw takes back everything behind the first size bytes of the ledger, which a run wrote
// that turned out not to be trustworthy. The ledger as it was is kept as .bad.
func (f *Folder) withdraw(size int64) (kept string, err error) {
	name := filepath.Join(f.dir, LedgerName)
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	l, err := Read(bytes.NewReader(b[:size]))
	if err != nil {
		return "", err
	}
	if kept, err = keepBad(name, b); err != nil {
		return "", err
	}
	f.Ledger = l
	return kept, errors.Join(f.file.Truncate(size), f.file.Sync())
}

// Close gives the folder back.
func (f *Folder) Close() error {
	var err error
	if f.file != nil {
		err = f.file.Close()
	}
	return errors.Join(err, f.lock.Unlock())
}

// lockFolder takes the lock, which the system gives back when the process ends, however it
// ends, and writes beside it who holds it: a locked file cannot be read everywhere.
func lockFolder(dir string) (*flock.Flock, error) {
	lock, name := flock.New(filepath.Join(dir, lockName)), filepath.Join(dir, holderName)
	ok, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !ok {
		holder, err := os.ReadFile(name)
		if err != nil || len(holder) == 0 || len(holder) > 1000 {
			holder = []byte("another process")
		}
		return nil, &InUseError{dir, string(bytes.TrimSpace(holder))}
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	holder := fmt.Sprintf("process %d on %s since %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	if err := os.WriteFile(name, []byte(holder), 0o644); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return lock, nil
}

// Load reads the ledger of a folder, or a ledger file, without taking the lock. Its error may
// be a *Damage beside a ledger, as with Read.
func Load(name string) (*Ledger, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		name = filepath.Join(name, LedgerName)
		info, err = os.Stat(name)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: expected the folder of a campaign or a ledger", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := Read(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return l, err
}

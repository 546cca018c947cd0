package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// A Workspace is the one folder that a program may write to, and the folder
// that it starts in. It lies in memory of its own and is gone after the run;
// what a program that [Exited] left there is in [Outcome.Files] and
// [Outcome.Refused].
type Workspace struct {
	Path       string // where the program sees it: absolute and clean
	Size       int64  // bytes that it holds, 4096 to 1<<40
	Entries    int    // files and folders that it holds, 1 to 1<<20
	Executable bool   // whether programs may be started from it
	// Wanted says which files are collected, by their path in the workspace. If
	// it is nil, all are.
	Wanted func(path string) bool `json:"-"`
}

// A WorkspaceFile is a regular file that a program left in its workspace.
type WorkspaceFile struct {
	Path string // in the workspace, with slashes
	Data []byte
}

// A RefusedEntry is something in a workspace that was not collected.
type RefusedEntry struct {
	Path   string // in the workspace, as the program named it: any bytes
	Reason string
}

func (w Workspace) validate() error {
	switch {
	case w.Size < 4096 || w.Size > 1<<40:
		return fmt.Errorf("sandbox: workspace of %d bytes: want 4096 to %d", w.Size, int64(1)<<40)
	case w.Entries < 1 || w.Entries > 1<<20:
		return fmt.Errorf("sandbox: workspace of %d entries: want 1 to %d", w.Entries, 1<<20)
	}
	return nil
}

// options are those that a mount of the workspace has in any form.
func (w Workspace) options() []string {
	if w.Executable {
		return []string{"nosuid", "nodev"}
	}
	return []string{"nosuid", "nodev", "noexec"}
}

// workingFolder is where the program starts.
func (c Command) workingFolder() string {
	if c.Workspace == nil {
		return "/"
	}
	return c.Workspace.Path
}

// mount makes the workspace at a folder that exists, and opens it. The open
// folder keeps the workspace alive when its mount is gone.
func (w Workspace) mount(target string) (*os.File, error) {
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if !w.Executable {
		flags |= unix.MS_NOEXEC
	}
	// The folder itself is an entry, too.
	options := fmt.Sprintf("size=%d,nr_inodes=%d,mode=700,uid=%d,gid=%d", w.Size, w.Entries+1, UserID, UserID)
	if err := unix.Mount("workspace", target, "tmpfs", flags, options); err != nil {
		return nil, fmt.Errorf("mounting the workspace: %w", err)
	}
	return os.OpenFile(target, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// maxWorkspaceDepth is how deep folders may lie in one another to be collected.
const maxWorkspaceDepth = 16

// collect reads the files of a workspace whose processes are all dead. Every
// name is looked up in the open folder that lists it, so that no path is ever
// resolved on this machine, and nothing but a regular file is opened.
func (w Workspace) collect(folder *os.File) ([]WorkspaceFile, []RefusedEntry, error) {
	c := collector{wanted: w.Wanted, left: w.Size}
	err := c.folder(folder, "", 1)
	return c.files, c.refused, err
}

type collector struct {
	wanted  func(string) bool
	left    int64
	files   []WorkspaceFile
	refused []RefusedEntry
}

func (c *collector) refuse(at, reason string, args ...any) {
	c.refused = append(c.refused, RefusedEntry{at, fmt.Sprintf(reason, args...)})
}

func (c *collector) folder(folder *os.File, prefix string, depth int) error {
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("listing the workspace: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := c.entry(folder, name, path.Join(prefix, name), depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) entry(folder *os.File, name, at string, depth int) error {
	var info unix.Stat_t
	if err := unix.Fstatat(int(folder.Fd()), name, &info, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("%q in the workspace: %w", at, err)
	}
	kind := info.Mode & unix.S_IFMT
	switch {
	case !isPlain(name):
		c.refuse(at, "its name is not plain text")
	case kind == unix.S_IFDIR && depth == maxWorkspaceDepth:
		c.refuse(at, "folders lie more than %d deep", maxWorkspaceDepth)
	case kind == unix.S_IFDIR && info.Mode&0o500 != 0o500, kind == unix.S_IFREG && info.Mode&0o400 == 0:
		c.refuse(at, "its owner may not read it")
	case kind == unix.S_IFDIR:
		inner, err := openIn(folder, name, unix.O_DIRECTORY)
		if err != nil {
			return fmt.Errorf("%q in the workspace: %w", at, err)
		}
		defer inner.Close()
		return c.folder(inner, at, depth+1)
	case kind != unix.S_IFREG:
		c.refuse(at, "it is %s, not a regular file", kindName(kind))
	case info.Nlink != 1:
		c.refuse(at, "it has %d names (hard links)", info.Nlink)
	case info.Mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		c.refuse(at, "it would run with another user's rights (mode %04o)", info.Mode&0o7777)
	case c.wanted != nil && !c.wanted(at):
	case info.Size > c.left:
		c.refuse(at, "it has %d bytes, more than the workspace holds", info.Size)
	default:
		return c.file(folder, name, at, info.Size)
	}
	return nil
}

func (c *collector) file(folder *os.File, name, at string, size int64) error {
	f, err := openIn(folder, name, 0)
	if err != nil {
		return fmt.Errorf("%q in the workspace: %w", at, err)
	}
	defer f.Close()
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil && size > 0 {
		return fmt.Errorf("%q in the workspace: %w", at, err)
	}
	c.left -= size
	c.files = append(c.files, WorkspaceFile{at, data})
	return nil
}

// openIn opens an entry of an open folder, without following a link.
func openIn(folder *os.File, name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(folder.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// isPlain reports whether a name can be shown and kept as it is.
func isPlain(name string) bool {
	for _, r := range name {
		if r == '\\' || unicode.IsControl(r) {
			return false
		}
	}
	return utf8.ValidString(name)
}

func kindName(kind uint32) string {
	switch kind {
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a pipe"
	case unix.S_IFSOCK:
		return "a socket"
	}
	return "a device"
}

// collected adds to the outcome what the program left in the workspace.
func (o *Outcome) collected(command Command, folder *os.File) (err error) {
	if command.Workspace == nil || o.End != Exited {
		return nil
	}
	if folder == nil {
		return errors.New("the workspace was not handed over")
	}
	o.Files, o.Refused, err = command.Workspace.collect(folder)
	return err
}

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// MaxFolders bounds the number of folders of one command.
const MaxFolders = 32

// A Folder is a folder of this machine that the program may read with all that
// lies below it, other mounts included, and execute. Unlike a [File] it is not
// copied: for large trees that nobody changes meanwhile.
type Folder struct {
	Path   string // where the program sees it: absolute and clean
	Source string // where it lies on this machine: absolute; a symlink is refused
}

// openFolders opens the sources of the folders, in order. Where this process
// may, each becomes a mount of its own that is attached nowhere yet: then the
// program's user need not be able to reach it on this machine. The caller closes
// them.
func (c Command) openFolders() (folders []*os.File, detached bool, err error) {
	detached = os.Geteuid() == 0
	for _, f := range c.Folders {
		opened, err := f.open()
		if err != nil {
			closeAll(folders)
			return nil, false, fmt.Errorf("sandbox: %s: %w", f.Path, err)
		}
		if detached {
			tree, err := cloneReadOnly(opened)
			opened.Close()
			if err != nil {
				closeAll(folders)
				return nil, false, fmt.Errorf("sandbox: %s: %s: %w", f.Path, f.Source, err)
			}
			opened = tree
		}
		folders = append(folders, opened)
	}
	return folders, detached, nil
}

func (f Folder) open() (*os.File, error) {
	fd, err := unix.Open(f.Source, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOTDIR) {
		return nil, fmt.Errorf("%s is not a folder", f.Source)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Source, err)
	}
	return os.NewFile(uintptr(fd), f.Source), nil
}

// cloneReadOnly returns a copy of the mounts of an open folder, attached
// nowhere, in which nothing can be written and no device or set-user-id bit
// counts.
func cloneReadOnly(folder *os.File) (*os.File, error) {
	fd, err := unix.OpenTree(int(folder.Fd()), "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return nil, fmt.Errorf("copying its mount: %w", err)
	}
	tree := os.NewFile(uintptr(fd), folder.Name())
	attributes := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attributes); err != nil {
		tree.Close()
		return nil, fmt.Errorf("making it read-only: %w", err)
	}
	return tree, nil
}

// attach mounts the folder at a place that exists. The source is what
// openFolders returned for it.
func (f Folder) attach(target string, source *os.File, detached bool) error {
	if !detached {
		// A mount of the caller's namespace cannot be copied in this one, so the
		// folder is looked up once more, and must be the same.
		opened, err := f.open()
		if err != nil {
			return err
		}
		defer opened.Close()
		if err := sameFile(opened, source); err != nil {
			return fmt.Errorf("%s: %w", f.Source, err)
		}
		if source, err = cloneReadOnly(opened); err != nil {
			return fmt.Errorf("%s: %w", f.Source, err)
		}
		defer source.Close()
	}
	if err := unix.MoveMount(int(source.Fd()), "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mounting %s at %s: %w", f.Source, f.Path, err)
	}
	return nil
}

func sameFile(a, b *os.File) error {
	var first, second unix.Stat_t
	if err := errors.Join(unix.Fstat(int(a.Fd()), &first), unix.Fstat(int(b.Fd()), &second)); err != nil {
		return err
	}
	if first.Dev != second.Dev || first.Ino != second.Ino {
		return errors.New("it was replaced meanwhile")
	}
	return nil
}

// attachFolders mounts all folders of the command below root, where their
// places were made.
func (c Command) attachFolders(root string, sources []*os.File, detached bool) error {
	for i, f := range c.Folders {
		if err := f.attach(path.Join(root, f.Path), sources[i], detached); err != nil {
			return err
		}
	}
	return nil
}

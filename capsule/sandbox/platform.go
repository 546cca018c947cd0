package sandbox

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// An architecture is one that verifiers are built for.
type architecture struct {
	platform string // as in image indexes
	machine  elf.Machine
	emulator string // qemu's name for it
}

var architectures = []architecture{
	{"linux/amd64", elf.EM_X86_64, "x86_64"},
	{"linux/arm64", elf.EM_AARCH64, "aarch64"},
}

func lookUp(platform string) (architecture, error) {
	for _, a := range architectures {
		if a.platform == platform {
			return a, nil
		}
	}
	return architecture{}, fmt.Errorf("sandbox: platform %q: want linux/amd64 or linux/arm64", platform)
}

// Native is the platform that this machine runs without an emulator.
const Native = "linux/" + runtime.GOARCH

// emulatorPath is where an emulated program finds its emulator.
const emulatorPath = "/capsule/emulator"

// For returns the command as this machine runs it if its program is built for
// the platform: unchanged for the native platform, else under qemu's user mode
// emulator, which is a file of the command like any other. It is an error if
// there is no such emulator.
func (c Command) For(platform string) (Command, error) {
	a, err := lookUp(platform)
	if err != nil || platform == Native {
		return c, err
	}
	emulator, err := findEmulator(a)
	if err != nil {
		return Command{}, err
	}
	c.Files = append(c.Files[:len(c.Files):len(c.Files)], File{Path: emulatorPath, Source: emulator, Executable: true})
	c.Args = append([]string{emulatorPath}, c.Args...)
	return c, nil
}

// Emulation says how this machine runs programs of the platform.
func Emulation(platform string) (string, error) {
	a, err := lookUp(platform)
	if err != nil {
		return "", err
	}
	if platform == Native {
		return "native", nil
	}
	emulator, err := findEmulator(a)
	if err != nil {
		return "", err
	}
	return "through " + emulator, nil
}

// findEmulator looks for a static emulator by name, then for the one that the
// kernel's binfmt_misc starts for programs of the architecture.
func findEmulator(a architecture) (string, error) {
	candidates := []string{}
	for _, name := range []string{"qemu-" + a.emulator + "-static", "qemu-" + a.emulator} {
		if found, err := exec.LookPath(name); err == nil {
			candidates = append(candidates, found)
		}
	}
	if entry, err := os.ReadFile("/proc/sys/fs/binfmt_misc/qemu-" + a.emulator); err == nil {
		candidates = append(candidates, registeredInterpreter(string(entry))...)
	}
	for _, candidate := range candidates {
		f, err := os.Open(candidate)
		if err != nil {
			continue
		}
		err = checkExecutable(f, nothing)
		f.Close()
		if err == nil {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("sandbox: %s programs need an emulator here; install a static qemu-%s (Debian: qemu-user-static)", a.platform, a.emulator)
}

// registeredInterpreter returns the interpreter of an enabled binfmt_misc entry.
func registeredInterpreter(entry string) []string {
	lines := strings.Split(entry, "\n")
	if lines[0] != "enabled" {
		return nil
	}
	for _, line := range lines {
		if path, ok := strings.CutPrefix(line, "interpreter "); ok {
			return []string{path}
		}
	}
	return nil
}

func nothing(string) bool { return false }

// checkExecutable checks that the kernel can start the file with what the
// program sees: an executable of the native platform that is static or whose
// loader is seen. Whether a start failed can be told from the program's own
// failure only in some runtimes, so what cannot start is refused beforehand.
func checkExecutable(f io.ReaderAt, sees func(path string) bool) error {
	native, err := lookUp(Native)
	if err != nil {
		return err
	}
	program, err := elf.NewFile(f)
	if err != nil {
		return fmt.Errorf("not an ELF executable: %w", err)
	}
	if program.Machine != native.machine {
		return fmt.Errorf("an executable for %v, this machine runs %v", program.Machine, native.machine)
	}
	if program.Type != elf.ET_EXEC && program.Type != elf.ET_DYN {
		return fmt.Errorf("an ELF file of type %v, not an executable", program.Type)
	}
	if loader := loaderOf(program); loader != "" && !sees(loader) {
		return fmt.Errorf("a dynamically linked executable, and its loader %s is not among the files; a verifier is static", loader)
	}
	return nil
}

package sandbox

// A protection is one of the independent walls of the built-in runtime.
// The runtime raises all of them; only the tests of this package lower single
// ones, to show that each attempt is real and that each wall holds.
type protection uint32

const (
	networkNamespace protection = 1 << iota
	processNamespace
	readOnlyRoot
	landlockRules
	noCapabilities
	noNewPrivileges
	seccompFilter
	memoryLimit
	processLimit
	processorLimit
	timeLimit
	outputLimit
	fileLimits
	cleanEnvironment
	closedDescriptors
)

func (p protection) has(q protection) bool { return p&q != 0 }

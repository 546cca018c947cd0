# `make test` is what continuous integration and the README call. Every target sets up
# what it needs: on Debian as root it installs packages by name, otherwise it says
# what is missing.

GO ?= go
.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the commands, static, into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/...

.PHONY: check
check: lint static ## formatting, vet, staticcheck and the short tests: before each commit
	$(GO) test -short ./...

.PHONY: test
test: ## run all tests; fails if any test is skipped
	@.ci/need $(GO) runc podman skopeo docker-registry qemu-aarch64-static git
	@$(MAKE) --no-print-directory lint
	@.ci/test ./...
	@cd .ci/kubernetes && ../test ./...

.PHONY: lint
lint: ## check formatting and vet
	@.ci/need $(GO)
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	  if [ -n "$$unformatted" ]; then echo "gofmt -w these files:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...

# Tools are pinned in a module of their own, so that the product depends on none of theirs.
TOOL = $(GO) tool -modfile=.ci/tools/go.mod

.PHONY: static
static: ## staticcheck
	@.ci/need $(GO)
	$(TOOL) staticcheck ./...

.PHONY: vulnerabilities
vulnerabilities: ## known vulnerabilities in what the commands call; asks the Go vulnerability database
	@.ci/need $(GO)
	$(TOOL) govulncheck ./...

.PHONY: generate
generate: ## write the assembly and the published schemas again
	@.ci/need $(GO)
	$(GO) generate ./...
	$(GO) test ./capsule/records/schema -run Published -update

.PHONY: images
images: ## rebuild the pinned images and compare their digests
	@.ci/need $(GO)
	$(GO) run ./cmd/capsule image --check

.PHONY: bench
bench: ## build the baseline and print ratios of CPU time and memory against it
	@.ci/need $(GO) g++ git
	$(GO) run ./bench

.PHONY: bench-gate
bench-gate: ## fail if HEAD is more than 5 % slower than the last tag
	@.ci/need $(GO) git
	$(GO) run ./bench gate

# `make test` is what continuous integration and the README call. Every target sets up
# what it needs: on Debian as root it installs packages by name, otherwise it says
# what is missing.

GO ?= go
.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the commands, static, into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/...

.PHONY: test
test: lint ## run all tests; fails if any test is skipped
	@.ci/need runc podman skopeo docker-registry qemu-aarch64-static git
	@.ci/test ./...

.PHONY: lint
lint: ## check formatting and vet
	@.ci/need $(GO)
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	  if [ -n "$$unformatted" ]; then echo "gofmt -w these files:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...

.PHONY: generate
generate: ## write the assembly and the published schemas again
	@.ci/need $(GO)
	$(GO) generate ./...
	$(GO) test ./capsule/schema -run Published -update

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

package main

import (
	"context"
	"errors"
	"strings"
)

// lastTag is the latest tag of an ancestor of HEAD, or "" if there is none. A tag of HEAD
// itself does not count: a release is compared with the one before.
func lastTag(ctx context.Context, root string) (string, error) {
	tags, err := command(ctx, root, "git", "tag", "--merged=HEAD", "--no-contains=HEAD", "--sort=-creatordate")
	tag, _, _ := strings.Cut(tags, "\n")
	return tag, err
}

// buildRevision builds the command erdos1056 of a revision, checked out for the moment
// at tree, so that uncommitted changes play no part.
func buildRevision(ctx context.Context, root, revision, tree, path string) (err error) {
	if _, err := command(ctx, root, "git", "worktree", "add", "--detach", tree, revision); err != nil {
		return err
	}
	defer func() {
		// An interrupted build must not leave its tree behind, so ctx plays no part.
		_, removed := command(context.WithoutCancel(ctx), root, "git", "worktree", "remove", "--force", tree)
		err = errors.Join(err, removed)
	}()
	return buildSearcher(ctx, tree, path)
}

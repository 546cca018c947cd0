package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"maps"
	"strings"
	"testing"
)

var (
	amd64 = Platform{"amd64", "linux"}
	arm64 = Platform{"arm64", "linux"}
)

// sample is a recipe whose digest is pinned below.
func sample(t testing.TB) Recipe {
	t.Helper()
	trees := make(map[Platform]Tree)
	for _, p := range []Platform{amd64, arm64} {
		tree, err := NewTree(
			Entry{Path: "capsule/verifier", Mode: 0o555, Data: []byte("the verifier for " + p.String() + "\n")},
			Entry{Path: "LICENSE", Mode: 0o444, Data: bytes.Repeat([]byte("licence\n"), 20000)},
		)
		if err != nil {
			t.Fatal(err)
		}
		trees[p] = tree
	}
	return Recipe{
		Trees: trees, Entrypoint: []string{"/capsule/verifier"}, User: "65532:65532",
		Annotations: map[string]string{AnnotationTitle: "a <sample>", AnnotationLicenses: "Apache-2.0 OR MIT"},
	}
}

func build(t testing.TB, r Recipe) *Image {
	t.Helper()
	im, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestSampleDigest pins every byte of an image: headers, compression, JSON.
func TestSampleDigest(t *testing.T) {
	const want = "sha256:d6bae906302ffd350233d0608dddf2859d012ca0df409b766d292532697886ca"
	im := build(t, sample(t))
	if im.Digest() != want {
		t.Errorf("got %s, want %s; index:\n%s", im.Digest(), want, im.blobs[im.Digest()])
	}
}

func TestTimeIsPartOfTheDigestAndNothingElseIs(t *testing.T) {
	r := sample(t)
	first := build(t, r)
	r.Annotations = maps.Clone(r.Annotations)
	if again := build(t, r); again.Digest() != first.Digest() {
		t.Errorf("the same recipe gave %s and %s", first.Digest(), again.Digest())
	}
	r.Created = 1
	if later := build(t, r); later.Digest() == first.Digest() {
		t.Error("another time gave the same digest")
	}
}

func TestLayerIsAnOrdinaryTarAndGzip(t *testing.T) {
	im := build(t, sample(t))
	m, err := im.Manifest(arm64)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(im.blobs[m.Layers[0].Digest]))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(z)
	var got []string
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Format != tar.FormatUSTAR || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || h.ModTime.Unix() != 0 {
			t.Errorf("%s: header %+v", h.Name, h)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name)
	}
	const want = "-r--r--r-- LICENSE, drwxr-xr-x capsule/, -r-xr-xr-x capsule/verifier"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if rest, err := io.ReadAll(z); err != nil || len(bytes.Trim(rest, "\x00")) > 0 {
		t.Errorf("after the archive: %d bytes, %v", len(rest), err)
	}
}

func TestStoredGzipRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 65534, 65535, 65536, 3 * 65535, 1 << 20} {
		data := bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n]
		z, err := gzip.NewReader(bytes.NewReader(storedGzip(data)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: got %d back, %v", n, len(got), err)
		}
	}
}

func TestTreeIsReadBack(t *testing.T) {
	r := sample(t)
	im := build(t, r)
	m, err := im.Manifest(amd64)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := im.Tree(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(tree) != len(r.Trees[amd64]) {
		t.Fatalf("got %d entries, want %d", len(tree), len(r.Trees[amd64]))
	}
	for i, e := range tree {
		want := r.Trees[amd64][i]
		if e.Path != want.Path || e.Mode != want.Mode || !bytes.Equal(e.Data, want.Data) {
			t.Errorf("got %s %v, want %s %v", e.Path, e.Mode, want.Path, want.Mode)
		}
	}
	if _, err := im.Manifest(Platform{"riscv64", "linux"}); err == nil || !strings.Contains(err.Error(), "has no part for linux/riscv64") {
		t.Errorf("a missing platform gave %v", err)
	}
}

func TestImageOnABaseKeepsItsLayers(t *testing.T) {
	base := build(t, sample(t))
	tree, err := NewTree(Entry{Path: "capsule/verifier", Mode: 0o555, Data: []byte("newer\n")})
	if err != nil {
		t.Fatal(err)
	}
	im := build(t, Recipe{
		Trees: map[Platform]Tree{amd64: tree}, Entrypoint: []string{"/capsule/verifier"},
		Base: base, BaseName: "example.org/base@" + string(base.Digest()),
	})
	m, err := im.Manifest(amd64)
	if err != nil {
		t.Fatal(err)
	}
	all, err := im.Tree(m)
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := all.Find("capsule/verifier"); string(e.Data) != "newer\n" {
		t.Errorf("the upper layer does not win: %q", e.Data)
	}
	if _, ok := all.Find("LICENSE"); !ok || len(m.Layers) != 2 {
		t.Errorf("the base's layer is missing: %d layers", len(m.Layers))
	}
	if !bytes.Contains(im.blobs[im.Digest()], []byte(`"org.opencontainers.image.base.digest":"`+base.Digest()+`"`)) {
		t.Error("the base's digest is not among the annotations")
	}
	tree2 := map[Platform]Tree{{"riscv64", "linux"}: tree}
	if _, err := Build(Recipe{Trees: tree2, Base: base}); err == nil {
		t.Error("a base without the platform was accepted")
	}
}

func TestTreesThatAreRefused(t *testing.T) {
	long := strings.Repeat("x", 101)
	for name, c := range map[string]struct {
		files []Entry
		want  string
	}{
		"absolute":       {[]Entry{{Path: "/a"}}, "relative clean path"},
		"climbing":       {[]Entry{{Path: "../a"}}, "relative clean path"},
		"empty":          {[]Entry{{Path: ""}}, "relative clean path"},
		"the root":       {[]Entry{{Path: "."}}, "relative clean path"},
		"newline":        {[]Entry{{Path: "a\nb"}}, "relative clean path"},
		"too long":       {[]Entry{{Path: long}}, "the limit is 100"},
		"twice":          {[]Entry{{Path: "a"}, {Path: "a"}}, "there twice"},
		"set-user-id":    {[]Entry{{Path: "a", Mode: fs.ModeSetuid | 0o755}}, "more than permission bits"},
		"symlink":        {[]Entry{{Path: "a", Mode: fs.ModeSymlink | 0o777}}, "more than permission bits"},
		"file as folder": {[]Entry{{Path: "a"}, {Path: "a/b"}}, "both a file and a folder"},
	} {
		if _, err := NewTree(c.files...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
	if _, err := Build(Recipe{}); err == nil {
		t.Error("an image without a platform was built")
	}
}

// TestLayersOfOthersAreApplied: whiteouts, links and replaced files.
func TestLayersOfOthersAreApplied(t *testing.T) {
	layer := func(headers ...tar.Header) *tar.Reader {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			if h.Typeflag == 0 {
				h.Typeflag = tar.TypeReg
			}
			w.WriteHeader(&h)
		}
		w.Close()
		return tar.NewReader(&b)
	}
	files := make(map[string]Entry)
	for _, l := range []*tar.Reader{
		layer(tar.Header{Name: "./a/one"}, tar.Header{Name: "a/two"}, tar.Header{Name: "b/three"}, tar.Header{Name: "c/four"}, tar.Header{Name: "d"}),
		layer(tar.Header{Name: "a/.wh.one"}, tar.Header{Name: ".wh.b"}, tar.Header{Name: "c/.wh..wh..opq"}, tar.Header{Name: "c/five"},
			tar.Header{Name: "d", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}),
	} {
		if err := applyLayer(files, l); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a/two", "c/five"} {
		if _, ok := files[name]; !ok {
			t.Errorf("%s is missing", name)
		}
		delete(files, name)
	}
	if len(files) > 0 {
		t.Errorf("should be gone: %v", files)
	}
	if err := applyLayer(files, layer(tar.Header{Name: "../../etc/passwd"})); err == nil {
		t.Error("an entry that leaves the tree was accepted")
	}
}

func FuzzApplyLayer(f *testing.F) {
	tree, err := NewTree(Entry{Path: "a/b", Mode: 0o644, Data: []byte("x")})
	if err != nil {
		f.Fatal(err)
	}
	archive, err := tarBytes(tree, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(archive)
	f.Fuzz(func(t *testing.T, data []byte) {
		files := make(map[string]Entry)
		if applyLayer(files, tar.NewReader(bytes.NewReader(data))) != nil {
			return
		}
		for name := range files {
			if !fs.ValidPath(name) {
				t.Errorf("a file outside the tree: %q", name)
			}
		}
	})
}

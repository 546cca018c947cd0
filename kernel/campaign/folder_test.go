package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// tiny has four units.
func tiny() Header {
	return NewHeader(plan.Plan{Range: plan.Range{Lo: 596, Hi: 599}, K: 15}, nil, plan.Shard{})
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// tinyLedger is the text of a finished campaign with all kinds of lines.
func tinyLedger(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	f := mustOpen(t, dir, tiny())
	r := newRun(f, Options{Program: "test"})
	r.positives = []positive{{23, 1, 6}}
	if err := r.do(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(Failure{Type: typeFailure, P: 599, Check: "Wilson"}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	return readFile(t, filepath.Join(dir, LedgerName))
}

func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

// Whatever bit flips, the line is named, and it and all behind it are not adopted.
func TestBitFlipsAreNamedAndNeverAdopted(t *testing.T) {
	text := tinyLedger(t)
	good, err := Read(bytes.NewReader(text))
	if err != nil || len(good.Units) != 4 || len(good.Positives) != 2 || len(good.Failures) != 1 {
		t.Fatalf("%v, %+v", err, good)
	}
	for at := range text {
		for bit := range 8 {
			bad := bytes.Clone(text)
			bad[at] ^= 1 << bit
			l, err := Read(bytes.NewReader(bad))
			var damage *Damage
			if !errors.As(err, &damage) || damage.Line != lineAt(text, at) {
				t.Fatalf("bit %d of byte %d in line %d: %v", bit, at, lineAt(text, at), err)
			}
			if n := damage.Line - 1; l == nil && n > 0 || l != nil && (l.lines != n || l.size != damage.Size) {
				t.Fatalf("bit %d of byte %d: %d lines were adopted", bit, at, l.lines)
			}
		}
	}
}

func TestCutsAreNamedAndWholeLinesAdopted(t *testing.T) {
	text := tinyLedger(t)
	for at := 1; at < len(text); at++ {
		l, err := Read(bytes.NewReader(text[:at]))
		whole := bytes.Count(text[:at], []byte("\n"))
		if text[at-1] == '\n' {
			if err != nil || l.lines != whole {
				t.Fatalf("cut behind line %d: %v", whole, err)
			}
			continue
		}
		var damage *Damage
		if !errors.As(err, &damage) || damage.Line != whole+1 || l != nil && l.lines != whole {
			t.Fatalf("cut at byte %d: %v", at, err)
		}
	}
}

func TestDroppedSwappedAndForgedLinesAreRefused(t *testing.T) {
	text := tinyLedger(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1]
	for i := 0; i < len(lines)-1; i++ {
		dropped := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
		swapped := append([][]byte{}, lines...)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		doubled := bytes.Join(append(append([][]byte{}, lines[:i+1]...), lines[i:]...), nil)
		for what, bad := range map[string][]byte{"dropped": dropped, "swapped": bytes.Join(swapped, nil), "doubled": doubled} {
			if _, err := Read(bytes.NewReader(bad)); err == nil {
				t.Errorf("line %d %s: accepted", i+1, what)
			}
		}
	}
	// Other forms of the same data, with a chain that fits.
	body, err := unchain(lines[0], "")
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{" " + string(body), strings.Replace(string(body), `"k":15`, `"k":15.0`, 1),
		strings.Replace(string(body), `"k":15`, `"k":15,"k":15`, 1), strings.Replace(string(body), `"k":15`, `"k":15,"x":1`, 1),
		strings.Replace(string(body), `"campaign"`, `"adventure"`, 1), strings.Replace(string(body), `"K"`, `"k"`, 1) + " ", "[]", "{}"} {
		line := form[:len(form)-1] + `,"chain":"` + link("", []byte(form[:len(form)-1]+"}")) + "\"}\n"
		if _, err := Read(strings.NewReader(line)); err == nil {
			t.Errorf("accepted %s", line)
		}
	}
}

// forge writes a ledger of the given entries with a chain that fits.
func forge(entries ...any) []byte {
	var text []byte
	chain := ""
	for _, e := range entries {
		line, next := encode(e, chain)
		text, chain = append(text, line...), next
	}
	return text
}

func TestContradictionsInALedgerAreRefused(t *testing.T) {
	head := small(8)
	unit := func(change func(*Unit)) Unit {
		u := Unit{Type: typeUnit, Lo: 540, Hi: 541, Primes: 1, Cuts: 541, Best: &Fiber{541, 3, []uint32{3, 9}}, NearMisses: []Fiber{}}
		change(&u)
		return u
	}
	nine := []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9}
	good := unit(func(*Unit) {})
	for want, entries := range map[string][]any{
		"in the first line":            {good},
		"and nowhere else":             {head, head},
		"expected one from 542 on":     {head, good, unit(func(u *Unit) { u.Lo, u.Hi = 543, 544 })},
		"expected a part of":           {head, unit(func(u *Unit) { u.Hi = 700 })},
		"contradict each other":        {head, unit(func(u *Unit) { u.Primes = 0 })},
		"expected a prime of 540..541": {head, unit(func(u *Unit) { u.Best.P = 547 })},
		"expected ascending cuts":      {head, unit(func(u *Unit) { u.Best.Cuts = []uint32{9, 3} })},
		"at least 8 cuts":              {head, unit(func(u *Unit) { u.NearMisses = []Fiber{{541, 3, []uint32{3}}} })},
		"no more cuts than the best":   {head, unit(func(u *Unit) { u.NearMisses = []Fiber{{541, 3, nine[:8]}} })},
		"follows the witness":          {head, unit(func(u *Unit) { u.Best.Cuts = nine }), unit(func(u *Unit) { u.Lo, u.Hi = 542, 544 })},
		"must end it":                  {head, unit(func(u *Unit) { u.Hi, u.Best.Cuts = 545, nine })},
		"is not the first": {head, unit(func(u *Unit) {
			u.Hi, u.Best = 547, &Fiber{547, 3, append(nine, 10)}
			u.NearMisses = []Fiber{{541, 3, nine}}
		})},
		"kind":                                   {Header{Type: typeCampaign, Schema: Schema, Kind: "half", K: 15, Lo: 2, Hi: 9}},
		"schema":                                 {Header{Type: typeCampaign, Schema: "erdos1056.ledger.v2", Kind: Complete, K: 15, Lo: 2, Hi: 9}},
		"shard":                                  {Header{Type: typeCampaign, Schema: Schema, Kind: Complete, K: 15, Lo: 2, Hi: 9, Shard: "9/8"}},
		"expected different residues":            {Header{Type: typeCampaign, Schema: Schema, Kind: Residues, K: 15, Lo: 2, Hi: 9, Residues: []int64{1, 1}}},
		"the end lies before the start":          {Header{Type: typeCampaign, Schema: Schema, Kind: Complete, K: 15, Lo: 9, Hi: 2}},
		"expected \"complete\" without residues": {Header{Type: typeCampaign, Schema: Schema, Kind: Complete, K: 15, Lo: 2, Hi: 9, Residues: []int64{1}}},
		"expected campaign, unit, positive or fai": {head, struct {
			Type string `json:"type"`
		}{"rumour"}},
	} {
		if _, err := Read(bytes.NewReader(forge(entries...))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	if _, err := Read(bytes.NewReader(forge(head, good))); err != nil {
		t.Errorf("the good one: %v", err)
	}
	if _, err := Read(strings.NewReader(strings.Repeat(" ", maxLine+1))); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("an endless line: %v", err)
	}
}

func TestDamagedTailIsCutBackAndSaid(t *testing.T) {
	want := done(t, t.TempDir(), tiny()).Root()
	dir := t.TempDir()
	done(t, dir, tiny())
	name := filepath.Join(dir, LedgerName)
	text := readFile(t, name)
	for i, bad := range [][]byte{text[:len(text)-3], append(bytes.Clone(text), "{\"type\":\"unit\""...), bytes.Replace(text, []byte(`"primes":0`), []byte(`"primes":7`), 1), []byte("garbage\n"), {}} {
		writeFile(t, name, bad)
		f := mustOpen(t, dir, tiny())
		kept := name + ".bad"
		if i > 0 {
			kept += "." + string(rune('1'+i))
		}
		if len(f.Notes) != 1 || !strings.Contains(f.Notes[0], kept) || !strings.Contains(f.Notes[0], "ledger line ") {
			t.Errorf("case %d: notes %q", i, f.Notes)
		}
		if !bytes.Equal(readFile(t, kept), bad) {
			t.Errorf("case %d: the bad ledger is not kept", i)
		}
		if now := readFile(t, name); !bytes.HasPrefix(text, now[:min(len(now), bytes.IndexByte(text, '\n'))]) {
			t.Errorf("case %d: the ledger is now %q", i, now)
		}
		f.Close()
		if l := done(t, dir, tiny()); l.Root() != want {
			t.Errorf("case %d: another root after the units were done again", i)
		}
	}
}

func TestTwoProcessesAreRefusedByName(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, tiny())
	_, err := Open(dir, tiny())
	var used *InUseError
	if !errors.As(err, &used) || !strings.Contains(err.Error(), "process ") || !strings.Contains(err.Error(), " on ") {
		t.Errorf("%v, want an error that names the process", err)
	}
	f.Close()
	mustOpen(t, dir, tiny())
}

func TestLedgerOfAnotherCampaignIsRefused(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, dir, tiny()).Close()
	other := func(change func(*Header)) Header {
		h := tiny()
		change(&h)
		return h
	}
	for want, h := range map[string]Header{
		"range": other(func(h *Header) { h.Hi++ }), "k": other(func(h *Header) { h.K++ }), "shard": other(func(h *Header) { h.Shard = "1/2" }),
		"kind": other(func(h *Header) { h.Kind, h.Residues = Residues, []int64{1} }), "cost of a unit": other(func(h *Header) { h.UnitCost = 5 }),
	} {
		if _, err := Open(dir, h); err == nil || !strings.Contains(err.Error(), "another campaign: its "+want+" is") {
			t.Errorf("%s: %v", want, err)
		}
	}
	u := Unit{Type: typeUnit, Lo: 596, Hi: 597, NearMisses: []Fiber{}}
	writeFile(t, filepath.Join(dir, LedgerName), forge(tiny(), u))
	if _, err := Open(dir, tiny()); err == nil || !strings.Contains(err.Error(), "unit 1 is 596..597, the plan has 596..596 there") {
		t.Errorf("%v", err)
	}
}

func TestUnusableFoldersAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, nil)
	if _, err := Open(file, tiny()); err == nil {
		t.Error("a file was opened as a folder")
	}
	if _, err := Load(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := Load("/dev/null"); err == nil || !strings.Contains(err.Error(), "expected the folder of a campaign or a ledger") {
		t.Errorf("%v", err)
	}
}

// FuzzRead gives every line a chain that fits, so that the fuzzer gets past it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(forgedBodies(tiny(), Unit{Type: typeUnit, Lo: 596, Hi: 596, NearMisses: []Fiber{}})))
	f.Add([]byte(forgedBodies(smallOfResidues(15), Positive{Type: typePositive}, Failure{Type: typeFailure})))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var text []byte
		chain := ""
		for body := range bytes.Lines(b) {
			if body = bytes.TrimSuffix(body, []byte("}\n")); len(body) == 0 {
				body = []byte("{")
			}
			chain = link(chain, append(bytes.Clone(body), '}'))
			text = fmt.Appendf(text, "%s,\"chain\":\"%s\"}\n", body, chain)
		}
		l, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		if l.size != int64(len(text)) {
			t.Fatalf("%d of %d bytes were read", l.size, len(text))
		}
		l.Summarize()
		if m, err := Merge([]Source{{"fuzz", l}}, true); err == nil {
			if _, err := Read(bytes.NewReader(m.Text)); err != nil {
				t.Fatalf("the merged ledger does not read back: %v", err)
			}
		}
	})
}

// forgedBodies are lines without their chains.
func forgedBodies(entries ...any) string {
	var b strings.Builder
	for _, e := range entries {
		b.Write(marshal(e))
		b.WriteByte('\n')
	}
	return b.String()
}

func FuzzParseFingerprints(f *testing.F) {
	good := &fingerprints{[]string{"599 1 2 3\n"}}
	u := Unit{Lo: 596, Hi: 599, Primes: 1, Transcript: good.digest(), Root: good.root()}
	f.Add(good.text(u.Range(), nil))
	f.Add([]byte("erdos1056.transcript.v1 596..599\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := parseFingerprints(b, u, nil); err == nil && (len(got.lines) != 1 || got.lines[0] != good.lines[0]) {
			t.Fatalf("%q reads as %q", b, got.lines)
		}
	})
}

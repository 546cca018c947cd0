package academy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

// issued is a moment at which all certificates of the vectors are valid.
var issued = time.Date(2026, 7, 20, 0, 0, 0, 0, time.UTC)

func TestPublishedCertificates(t *testing.T) {
	for name, finding := range map[string]string{
		"OTA-D9A-0047": "",
		"OTA-FC-0039":  "",
		"OTA-SI-0071":  Unsigned,
	} {
		t.Run(name, func(t *testing.T) {
			r := VerifyCertificate(readFile(t, "site/certs/"+name+".json"), academyRegistry(t), issued)
			if r.Refusal != nil {
				t.Fatal(r.Refusal)
			}
			if got := strings.Join(names(r.Findings), " "); got != finding {
				t.Errorf("findings %q, want %q", got, finding)
			}
			if (r.Signer != "") != (finding == "") {
				t.Errorf("signer %q", r.Signer)
			}
		})
	}
}

func TestCertificateWeaknesses(t *testing.T) {
	certified := string(readFile(t, "site/certs/OTA-FC-0039.json"))
	selfReported := string(readFile(t, "site/certs/OTA-SI-0071.json"))
	signature := certified[strings.Index(certified, `"academySignature": "`)+21:]
	signature = signature[:strings.Index(signature, `"`)]
	onlyEntrant := keys.NewRegistry(keys.Entry{Public: keyOf(t, 1).Public(), Holder: "entrant", Roles: []keys.Role{keys.Entrant}})
	for _, tc := range []struct {
		name, text string
		registry   keys.Registry
		at         time.Time
		refusal    string
		finding    string
	}{
		{"score changed", strings.Replace(certified, `"score": 2.6`, `"score": 1.6`, 1), academyRegistry(t), issued, "HashMismatch", ""},
		{"signature of another certificate", strings.Replace(selfReported, unsignedMark, signature, 1), academyRegistry(t), issued, "SignatureInvalid", ""},
		{"unknown tier", strings.Replace(certified, `"tier": "journeyman"`, `"tier": "wizard"`, 1), academyRegistry(t), issued, "SchemaInvalid", ""},
		{"date that is none", strings.Replace(certified, `"expiresAt": "2026`, `"expiresAt": "twenty`, 1), academyRegistry(t), issued, "SchemaInvalid", ""},
		{"certified without a signature", strings.Replace(certified, signature, unsignedMark, 1), academyRegistry(t), issued, "", UnprovenCertification},
		{"no proctor known", certified, onlyEntrant, issued, "", UnprovenCertification},
		{"expired", certified, academyRegistry(t), issued.AddDate(1, 0, 0), "", Expired},
		{"from the future", certified, academyRegistry(t), issued.AddDate(-1, 0, 0), "", Expired},
		{"number respelled", strings.Replace(certified, `"score": 2.6`, `"score": 2.60`, 1), academyRegistry(t), issued, "", "NumberSpelling"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := VerifyCertificate([]byte(tc.text), tc.registry, tc.at)
			if got := refusalName(r.Refusal); got != tc.refusal {
				t.Errorf("refusal %v, want %q", r.Refusal, tc.refusal)
			}
			if tc.finding != "" && !slices.Contains(names(r.Findings), tc.finding) {
				t.Errorf("findings %q, want %q", names(r.Findings), tc.finding)
			}
		})
	}
}

func FuzzVerifyCertificate(f *testing.F) {
	f.Add(readFile(f, "site/certs/OTA-FC-0039.json"))
	registry := academyRegistry(f)
	f.Fuzz(func(_ *testing.T, data []byte) { VerifyCertificate(data, registry, issued) })
}

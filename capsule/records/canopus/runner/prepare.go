package runner

import (
	"fmt"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/profile"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
)

// Preparation is what a draft needs to become a mission without a frontier.
type Preparation struct {
	Draft    []byte // the file
	Capsule  []byte // the frozen verifier
	Packet   []byte // the target packet; nil means one made from the range
	Image    string // the id of the verifier's image; "" means that there is none
	Platform string // linux/amd64 or linux/arm64
	// Registration, if any, is the profile's that registers the draft.
	Registration *profile.Registration
}

// Prepare makes the mission of a draft that names a range in its allowed path,
// and the parts of its bundle.
func Prepare(p Preparation) (mission.Mission, mission.Parts, error) {
	draft, err := mission.DraftSpec.Parse(p.Draft)
	if err != nil {
		return mission.Mission{}, mission.Parts{}, err
	}
	parts := mission.Parts{Capsule: p.Capsule, Packet: p.Packet, PermissionProfile: profile.WorkerProfile}
	if parts.OutputSchema, err = record.EngineOutputSpec.JSONSchema(); err != nil {
		return mission.Mission{}, parts, err
	}
	if parts.Packet == nil {
		search, err := PlanOf(draft.AllowedPaths)
		if err != nil {
			return mission.Mission{}, parts, fmt.Errorf("draft.%w; give the target packet", err)
		}
		if parts.Packet, err = mission.RangeWorkSpec.Encode(mission.NewRangeWork(int64(search.K), int64(search.Lo), int64(search.Hi))); err != nil {
			return mission.Mission{}, parts, err
		}
	}
	packet, err := mission.ParsePacket(parts.Packet)
	if err != nil {
		return mission.Mission{}, parts, err
	}
	image := p.Image
	if image == "" {
		image = mission.Absent
	}
	surroundings := mission.Standalone(packet.Target, image, p.Platform)
	if r := p.Registration; r != nil {
		surroundings.Profile, surroundings.ResultContract = &r.Reference, r.Contract
		draft.Landing = &r.Landing
	}
	m, err := mission.Prepare(draft, surroundings, parts)
	return m, parts, err
}

package record

import "github.com/erdos1056/erdos1056/capsule/records/schema"

// Documents are the formats of this package, whose JSON Schemas are published.
var Documents = []schema.Document{
	EventSpec, TipSpec, EngineOutputSpec, EngineResultSpec, EngineManifestSpec, VerifierManifestV0Spec, VerifierManifestSpec,
	CandidateSpec, RunV0Spec, RunV1Spec, DiagnosticSpec, ProjectionSpec, DiagnosticProjectionSpec, EvidenceSpec, FailureSpec,
	LandingCommandSpec, LandingObservationSpec, LandingRecoverySpec, LandingReplySpec,
	PublicRunSpec, PendingCommandsSpec, WebImportSpec, PublicationManifestSpec,
}

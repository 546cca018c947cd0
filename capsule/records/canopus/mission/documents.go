package mission

import "github.com/erdos1056/erdos1056/capsule/records/schema"

// Documents are the formats of this package, whose JSON Schemas are published.
var Documents = []schema.Document{SpecV0, SpecV1, DraftSpec, ResultContractSpec, BundleManifestSpec, ProblemWorkSpec, LeanProofWorkSpec, RangeWorkSpec}

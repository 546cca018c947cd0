package profile

import "github.com/erdos1056/erdos1056/capsule/records/schema"

// Documents are the formats of this package, whose JSON Schemas are published;
// that of a profile is the one of the policy Original.
var Documents = []schema.Document{Original.Spec(), PackSpec}

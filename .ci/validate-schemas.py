#!/usr/bin/env python3
"""Checks the published JSON Schemas, and files against them, with a validator
that shares nothing with this project (python3-jsonschema).

Every schema must be a well-formed schema of draft 2020-12. Files that are good
must be accepted, and changed ones refused. Exit code 1 and a line on stderr for
each disagreement.
"""
import copy
import glob
import json
import os
import sys

import jsonschema

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
disagreements = []


def load(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return json.load(file)


def validator(path):
    schema = load(path)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def expect(accepted, schema, document, what):
    errors = list(schema.iter_errors(document))
    if accepted == bool(errors):
        disagreements.append(f"{what}: expected {'acceptance' if accepted else 'refusal'}, found {errors[:1] or 'no error'}")


def changed(document, path, value):
    copied = copy.deepcopy(document)
    place = copied
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copied


def check_declarations():
    schema = validator("testdata/cuecrux/pack.conformance.v1.schema.json")
    block = load("testdata/cuecrux/ext.conformance.reference/0.2.0/manifest.json")["conformance"]
    expect(True, schema, block, "reference block")
    for path, value in (
        (("schema",), "pack.conformance.v2"),
        (("expected_mutations", "facts", 0, "operation"), "delete"),
        (("invariants", 0, "kind"), "custom"),
        (("envelope", "max_tokens_per_call"), 0.5),
        (("envelope", "max_contradiction_rate_ppm"), 1000001),
        (("replay_corpus", "sha256"), "D9"),
        (("extra",), 1),
    ):
        expect(False, schema, changed(block, path, value), f"reference block with {path} = {value}")


def check_bundles():
    schema = validator("capsule/records/academy/schema/run-bundle.schema.json")
    for path in ("site/runs/reference-va-bldg28.bundle.json", "submissions/example-submission.bundle.json"):
        bundle = load("testdata/opentakeoff-academy/" + path)
        expect(True, schema, bundle, path)
        expect(False, schema, changed(bundle, ("integrity", "hashAlg"), "md5"), path + " with another hash")
        expect(False, schema, changed(bundle, ("tasks",), []), path + " without tasks")


def check_certificates():
    schema = validator("capsule/records/academy/schema/cert.schema.json")
    for path in sorted(glob.glob(os.path.join(ROOT, "testdata/opentakeoff-academy/site/certs/*.json"))):
        certificate = load(path)
        expect(True, schema, certificate, path)
        expect(False, schema, changed(certificate, ("tier",), "wizard"), path + " of another tier")


def check_declaration():
    for name, schema in (
        ("keys", "erdos1056.keys.v1"),
        ("replay-corpus", "erdos1056.replay-corpus.v1"),
        ("evidence", "erdos1056.conformance-evidence.v1"),
        ("verdict", "erdos1056.conformance-verdict.v1"),
    ):
        judge = validator(f"docs/schemas/{schema}.json")
        document = load(f"testdata/declaration/{name}.json")
        expect(True, judge, document, name)
        expect(False, judge, changed(document, ("schema",), "other"), name + " of another schema")
        expect(False, judge, changed(document, ("extra",), 1), name + " with an unknown key")
    block = load("testdata/declaration/manifest.json")["conformance"]
    expect(True, validator("testdata/cuecrux/pack.conformance.v1.schema.json"), block, "block of our declaration")


def check_own_schemas():
    paths = sorted(glob.glob(os.path.join(ROOT, "docs/schemas/*.json")))
    if not paths:
        disagreements.append("docs/schemas holds no schema")
    for path in paths + [os.path.join(ROOT, "capsule/records/academy/schema/task.schema.json")]:
        validator(path)
    return len(paths)


check_declarations()
check_bundles()
check_certificates()
check_declaration()
own = check_own_schemas()
for line in disagreements:
    print(line, file=sys.stderr)
if disagreements:
    sys.exit(1)
print(f"schemas: 4 published and {own} own are well-formed and judge as expected")

"""Reads what campaigns left for other tools, as those tools do: check.py SARIF_SCHEMA SCHEMAS CAMPAIGN..."""

import json
import pathlib
import sys

import jsonschema
import junitparser


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def validate(document, schema):
    """What is wrong with a document, in lines."""
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    return [f"{list(it.path)}: {it.message[:200]}" for it in validator(schema).iter_errors(document)]


def main():
    sarif, schemas, *campaigns = map(pathlib.Path, sys.argv[1:])
    is_good = True
    for campaign in campaigns:
        summary = read(campaign / "summary.json")
        name = {"reproduce": "summary.json", "explore": "exploration.json", "cascade": "cascade.json"}[summary["verb"]]
        found = len(summary[{"reproduce": "found", "explore": "findings", "cascade": "cycles"}[summary["verb"]]])
        wrong = {
            "findings.sarif": validate(read(campaign / "findings.sarif"), read(sarif)),
            "summary.json": validate(summary, read(schemas / name)),
        }
        results = sum(len(run["results"]) for run in read(campaign / "findings.sarif")["runs"])
        suites = junitparser.JUnitXml.fromfile(str(campaign / "junit.xml"))
        cases = [case for suite in suites for case in suite]
        failed = sum(any(isinstance(it, junitparser.Failure) for it in case.result) for case in cases)
        wrong["counts"] = [] if results == failed == found else [f"{found} found, {results} results, {failed} failures"]
        for what, lines in wrong.items():
            is_good &= not lines
            for line in lines[:5]:
                print(f"{summary['verb']}: {what}: {line}")
        print(f"{summary['verb']}: {found} found, {results} results in SARIF, {len(cases)} cases of JUnit, {failed} failed")
    sys.exit(0 if is_good else 1)


main()

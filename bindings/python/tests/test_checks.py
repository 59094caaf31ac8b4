# SPDX-License-Identifier: Apache-2.0
"""Checks of a manifest before it is applied."""

import pytest

import quoit

MANIFEST = """
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: lab
spec:
  headGroupSpec:
    rayStartParams: {}
    template:
      spec:
        containers:
        - name: ray-head
          image: rayproject/ray:2.60.0
          resources: {limits: {cpu: "4", memory: 8Gi}, requests: {cpu: "4", memory: 8Gi}}
  workerGroupSpecs:
  - groupName: tpu-group
    replicas: 1
    minReplicas: 1
    maxReplicas: 1
    numOfHosts: ${HOSTS}
    rayStartParams: {}
    template:
      spec:
        containers:
        - name: ray-worker
          image: rayproject/ray:2.60.0
          resources: {limits: {google.com/tpu: "4", cpu: "8", memory: 16Gi},
                      requests: {google.com/tpu: "4", cpu: "8", memory: 16Gi}}
        nodeSelector:
          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
          cloud.google.com/gke-tpu-topology: 4x4
"""


def test_a_finding_has_the_place_of_the_contradiction():
    (found,) = [
        one for one in quoit.check_manifest(MANIFEST, variables={"HOSTS": "3"}) if one.rule == "numofhosts-topology"
    ]
    lines = MANIFEST.splitlines()
    assert (found.line, found.column) == (lines.index("    numOfHosts: ${HOSTS}") + 1, 5)
    assert found.severity == quoit.Severity.ERROR
    assert found.path == "$.spec.workerGroupSpecs[0].numOfHosts"
    assert "4" in found.expected
    assert found.message


def test_a_correct_manifest_has_no_error():
    found = quoit.check_manifest(MANIFEST.encode(), variables={"HOSTS": "4"})
    assert not [one for one in found if one.severity == quoit.Severity.ERROR]


def test_fields_with_unset_variables_are_reported_as_not_checked():
    found = quoit.check_manifest(MANIFEST)
    assert not [one for one in found if one.severity == quoit.Severity.ERROR]
    assert [one for one in found if one.severity == quoit.Severity.NOTE and "HOSTS" in f"{one.value} {one.message}"]


@pytest.mark.parametrize(
    ("text", "variables", "error", "message"),
    [
        ("a: [", None, quoit.InvalidError, "^line 2, column 1: .*YAML"),
        ("a: \0", None, quoit.InvalidError, "^line 1, column 4 .*NUL"),
        (b"a: \xff", None, quoit.InvalidError, "^line 1, column 4 .*UTF-8"),
        (None, None, TypeError, "text: expected a str or bytes"),
        ("a: 1", {"A=B": "1"}, quoit.InvalidError, "without '='"),
        ("a: 1", ["A=1"], TypeError, "variables: expected a mapping"),
    ],
)
def test_text_that_is_not_yaml_is_refused(text, variables, error, message):
    with pytest.raises(error, match=message):
        quoit.check_manifest(text, variables=variables)


def test_every_finding_has_a_listed_rule():
    rules = {rule.name: rule.severity for rule in quoit.check_rules()}
    assert len(rules) == len(quoit.check_rules()) > 20
    assert set(rules.values()) == set(quoit.Severity)
    found = quoit.check_manifest(MANIFEST.replace("replicas: 1", "replicas: x"), variables={"HOSTS": "3"})
    assert found
    assert all(rules[one.rule] == one.severity for one in found)

# SPDX-License-Identifier: Apache-2.0
"""Checks a manifest before you apply it to a cluster. No fleet, database or cluster is needed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from . import _c
from ._c import call, lib


class Severity(_c.Code):
    """How serious a finding is."""

    ERROR = 1
    """A system that reads the manifest refuses it, or the manifest contradicts itself."""
    WARNING = 2
    """Every system accepts the manifest, but a field of it has another effect than it states, or no effect."""
    NOTE = 3
    """The manifest can be correct: something is unusual, or was not checked."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """A rule that a manifest breaks, at one place."""

    line: int
    """The line of the field's key; if the field is missing, the line of the map that lacks it. From 1."""
    column: int
    """The column in characters, from 1."""
    severity: Severity
    rule: str
    """The name of the rule, such as "numofhosts-topology". Names never change their meaning."""
    path: str
    """The path within the document: "$.spec.workerGroupSpecs[0].numOfHosts"."""
    value: str | None
    """The present value, cut after 1024 bytes; None if the field is missing, or if its value is a list or a map."""
    expected: str
    """The expected value, in words."""
    message: str
    """The whole finding as one sentence."""


@dataclasses.dataclass(frozen=True)
class CheckRule:
    """A rule of `check_manifest`."""

    name: str
    severity: Severity
    """The severity of every finding of the rule."""


def check_manifest(text: str | bytes, *, variables: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """Finds fields that Kubernetes, KubeRay 1.7.0 or its TPU webhook would refuse, or accept without effect.

    The function reads RayClusters, RayJobs and RayServices, other objects that make pods, such as JobSets, Kueue's
    queues and flavors, GKE's Slices and ComputeClasses, the ResourceClaims and ResourceClaimTemplates that pods use, and
    Lists. A finding of the rule "kind-unread" reports each object of another kind. A manifest with errors raises no
    exception.

    Args:
        text: YAML with any number of documents.
        variables: the values of ${NAME}. A field that depends on a variable without a value is not checked, and a
            finding reports that.

    Returns:
        One finding for each rule and place, in the order of lines and columns. After 10,000 findings the check stops,
            and the last finding reports that.

    Raises:
        InvalidError: the text is not YAML (the message begins with line and column), or a name in `variables` is
            not valid.
    """
    data = _c.to_document(text, "text")
    pointer = call(lib.quoit_check_manifest, data, len(data), _c.to_pairs(variables, "variables"))
    try:
        return tuple(_finding(pointer, at) for at in range(lib.quoit_check_get_n_findings(pointer)))
    finally:
        lib.quoit_check_free(pointer)


def check_rules() -> tuple[CheckRule, ...]:
    """Returns the rules of `check_manifest`. Newer versions can add rules anywhere in the list."""
    return tuple(
        CheckRule(_c.text(name), Severity(lib.quoit_check_rule_get_severity(index)))
        for index, name in enumerate(_c.list_until_null(lib.quoit_check_rule_get_name))
    )


def _finding(pointer: Any, at: int) -> Finding:
    return Finding(
        int(lib.quoit_check_get_line(pointer, at)),
        int(lib.quoit_check_get_column(pointer, at)),
        Severity(lib.quoit_check_get_severity(pointer, at)),
        _c.text(lib.quoit_check_get_rule(pointer, at)),
        _c.text(lib.quoit_check_get_path(pointer, at)),
        _c.text_or_none(lib.quoit_check_get_value(pointer, at)),
        _c.text(lib.quoit_check_get_expected(pointer, at)),
        _c.text(lib.quoit_check_get_message(pointer, at)),
    )

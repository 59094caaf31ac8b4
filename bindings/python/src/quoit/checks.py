# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a manifest, before it is applied. No fleet, no database, no cluster is asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from . import _c
from ._c import call, lib


class Severity(_c.Code):
    """What a finding means for whoever applies the manifest."""

    ERROR = 1
    """A system that reads it refuses it, or it contradicts itself."""
    WARNING = 2
    """Every system takes it, and it does not do what it says."""
    NOTE = 3
    """Nothing is wrong; something was not looked at, or is unusual."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One rule that a manifest breaks at one place."""

    line: int
    """From 1: of the key of the field, or of the map that lacks one."""
    column: int
    """In characters from 1."""
    severity: Severity
    rule: str
    """The name of the rule, "numofhosts-topology"; names never change their meaning."""
    path: str
    """The way to the place within its document: "$.spec.workerGroupSpecs[0].numOfHosts"."""
    value: str | None
    """What stands there, cut after 1024 bytes; None where it is missing, or a list or map."""
    expected: str
    """What should stand there, in words."""
    message: str
    """All of it as one sentence."""


@dataclasses.dataclass(frozen=True)
class CheckRule:
    """A rule of `check_manifest`."""

    name: str
    severity: Severity
    """Of every finding of that rule."""


def check_manifest(text: str | bytes, *, variables: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """Finds all that Kubernetes, KubeRay 1.7.0 or its TPU webhook would refuse, and what they let through in vain.

    Reads RayClusters, RayJobs, RayServices and what these need of ResourceClaims, ResourceClaimTemplates and Lists;
    passes over documents of other kinds. A manifest that is wrong is no failure.

    Args:
        text: YAML with any number of documents.
        variables: what ${NAME} stands for in it; what depends on one without a value is not looked at, and a finding
            says so.

    Returns:
        One finding for each rule and place, in the order of lines and columns; behind 10,000 it stops, and says so.

    Raises:
        InvalidError: the text is not YAML (the message begins with line and column), or `variables` are no names.
    """
    data = _c.to_document(text, "text")
    pointer = call(lib.quoit_check_manifest, data, len(data), _c.to_pairs(variables, "variables"))
    try:
        return tuple(_finding(pointer, at) for at in range(lib.quoit_check_get_n_findings(pointer)))
    finally:
        lib.quoit_check_free(pointer)


def check_rules() -> tuple[CheckRule, ...]:
    """The rules of `check_manifest`; new ones may come at any place."""
    return tuple(
        CheckRule(_c.text(name), Severity(lib.quoit_check_rule_get_severity(index)))
        for index, name in enumerate(_c.count_until_null(lib.quoit_check_rule_get_name))
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

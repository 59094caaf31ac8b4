#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tables.c, the schemas of the kinds that `quoit check manifest` knows, from the files that the projects publish.

  generate.py            writes tables.c again
  generate.py --check    fails if tables.c is not what the files give
  generate.py --crds     prints the folder of KubeRay's CustomResourceDefinitions, or of the release before it

The files are those of the Go modules in MODULES, which `go mod download` fetches and compares with the checksum
database. $QUOIT_KUBERAY names a folder with the files of KubeRay's module, for machines that cannot download it.
Needs Go, and Python with PyYAML. Exits with 77 if the files cannot be had.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "tables.c")

MODULES = {
    "kuberay": ("github.com/ray-project/kuberay/ray-operator", "v1.7.0"),
    "kubernetes": ("k8s.io/kubernetes", "v1.35.4"),
}

# For --crds only, where KubeRay's module cannot be had: the kinds are the same, with fewer fields.
KUBERAY_BEFORE = "v1.6.0"

CRDS = ("ray.io_rayclusters", "ray.io_raycronjobs", "ray.io_rayjobs", "ray.io_rayservices")

# The kinds of Kubernetes itself that have a schema here. All other kinds of its API are known by name only.
KINDS = {
    "v1": (
        "ConfigMap",
        "Namespace",
        "PersistentVolumeClaim",
        "Pod",
        "Secret",
        "Service",
        "ServiceAccount",
    ),
    "apps/v1": ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "batch/v1": ("CronJob", "Job"),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "resource.k8s.io/v1": ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate"),
    "resource.k8s.io/v1beta1": ("ResourceClaim", "ResourceClaimTemplate"),
    "resource.k8s.io/v1beta2": ("ResourceClaim", "ResourceClaimTemplate"),
}

# What the API server checks in addition to its published types, by type and field: pkg/apis/*/validation of Kubernetes.
# A field of "" is the type itself. "required": an empty or missing value is refused.
CORE = "io.k8s.api.core.v1."
META_V1 = "io.k8s.apimachinery.pkg.apis.meta.v1."
LABELS = [("LABEL_KEYS",), ("LABEL_VALUES",)]
NOT_NEGATIVE = [("MINIMUM", 0)]
PORT = [("MINIMUM", 1), ("MAXIMUM", 65535)]
PORT_OR_NAME = [*PORT, ("PORT_NAME",)]
PERCENT = [("MINIMUM", 1), ("MAXIMUM", 100)]
MODE = [("MINIMUM", 0), ("MAXIMUM", 511)]
REQUIRED = [("REQUIRED",)]
NEEDED_KEY = [("REQUIRED",), ("LABEL_KEY",)]
NEEDED_NAME = [("REQUIRED",), ("SUBDOMAIN",)]
REPLICAS = {
    "": [("SELECTOR",)],
    "replicas": NOT_NEGATIVE,
    "minReadySeconds": NOT_NEGATIVE,
    "revisionHistoryLimit": NOT_NEGATIVE,
}
ATTRIBUTE = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z_][A-Za-z0-9_]*$"
FIELD_PATH = (
    r"^(metadata\.(name|namespace|uid|(labels|annotations)(\['.+'\])?)|spec\.(nodeName|serviceAccountName)"
    r"|status\.(hostIPs?|podIPs?))$"
)


def claim_checks(version):
    """The devices of a ResourceClaim. In v1beta1 a request has the fields itself that are in 'exactly' later."""
    package = f"io.k8s.api.resource.{version}."
    exact = {"": [("DEVICE_COUNT",)], "deviceClassName": NEEDED_NAME, "count": [("MINIMUM", 0)]}
    checks = {
        package + "DeviceRequest": {"": [("EXACTLY_ONE", ("exactly", "firstAvailable"))], "name": NEEDED_LABEL},
        package + "ExactDeviceRequest": exact,
        package + "DeviceSubRequest": {**exact, "name": NEEDED_LABEL},
        package + "DeviceClaim": {"": [("DEVICE_NAMES",)], "requests": [("KEYS", ("name",))]},
        package + "CELDeviceSelector": {"expression": REQUIRED},
        package + "DeviceSelector": {"cel": REQUIRED},
        package + "DeviceConstraint": {
            "": [("ONE_OF", ("matchAttribute", "distinctAttribute"))],
            "matchAttribute": [("NOT_EMPTY",), ("PATTERN", ATTRIBUTE)],
            "distinctAttribute": [("NOT_EMPTY",), ("PATTERN", ATTRIBUTE)],
            "requests": [("SET",)],
        },
        package + "DeviceToleration": {"": [("TOLERATION",)], "key": [("LABEL_KEY",)]},
    }
    if version == "v1beta1":
        checks[package + "DeviceRequest"] = {
            "": [("DEVICE_COUNT",), ("EXACTLY_ONE", ("deviceClassName", "firstAvailable"))],
            "name": NEEDED_LABEL,
            "deviceClassName": [("SUBDOMAIN",)],
        }
    return checks


SPEC = {"spec": REQUIRED}
ID = [("MINIMUM", 0), ("MAXIMUM", 2147483647)]
NEEDED_LABEL = [("REQUIRED",), ("DNS_LABEL",)]
SHARE = [("MINIMUM", 0), ("PATTERN", "^[0-9]+%$")]
# Required by the published types, but not by the API server.
NOT_NEEDED = {
    ("RoleRef", "apiGroup"),
    ("ResourceClaim", "spec"),
    ("ResourceClaimTemplate", "spec"),
    ("ResourceClaimTemplateSpec", "spec"),
}
CHECKS = {
    CORE + "Pod": SPEC,
    CORE + "PodTemplateSpec": SPEC,
    CORE + "PersistentVolumeClaim": SPEC,
    "io.k8s.api.batch.v1.Job": SPEC,
    "io.k8s.api.batch.v1.JobTemplateSpec": SPEC,
    "io.k8s.api.batch.v1.CronJob": SPEC,
    "io.k8s.api.apps.v1.Deployment": SPEC,
    "io.k8s.api.apps.v1.ReplicaSet": SPEC,
    "io.k8s.api.apps.v1.StatefulSet": SPEC,
    "io.k8s.api.apps.v1.DaemonSet": SPEC,
    META_V1 + "ObjectMeta": {
        "labels": LABELS,
        "annotations": [("LABEL_KEYS",)],
        "finalizers[]": [("LABEL_KEY",)],
        "generateName": [("PATTERN", "^[a-z0-9][-a-z0-9.]*$")],
    },
    META_V1 + "LabelSelector": {"matchLabels": LABELS},
    META_V1 + "LabelSelectorRequirement": {
        "": [("REQUIREMENT",)],
        "key": NEEDED_KEY,
        "operator": [("NOT_EMPTY",), ("ENUM", ("In", "NotIn", "Exists", "DoesNotExist"))],
    },
    CORE + "ConfigMap": {"data": [("CONFIG_KEYS",)], "binaryData": [("CONFIG_KEYS",)]},
    CORE + "Secret": {"data": [("CONFIG_KEYS",)], "stringData": [("CONFIG_KEYS",)]},
    CORE + "Container": {
        "name": NEEDED_LABEL,
        "image": REQUIRED,
        "ports": [("KEYS", ("name",))],
        "volumeMounts": [("KEYS", ("mountPath",))],
    },
    CORE + "ContainerPort": {
        "name": [("PORT_NAME",)],
        "containerPort": PORT,
        "hostPort": [("MINIMUM", 0), ("MAXIMUM", 65535)],
    },
    CORE + "Probe": {
        "": [("EXACTLY_ONE", ("exec", "grpc", "httpGet", "tcpSocket"))],
        "initialDelaySeconds": NOT_NEGATIVE,
        "timeoutSeconds": NOT_NEGATIVE,
        "periodSeconds": NOT_NEGATIVE,
        "successThreshold": NOT_NEGATIVE,
        "failureThreshold": NOT_NEGATIVE,
        "terminationGracePeriodSeconds": [("MINIMUM", 1)],
    },
    CORE + "LifecycleHandler": {"": [("EXACTLY_ONE", ("exec", "httpGet", "sleep", "tcpSocket"))]},
    CORE + "ExecAction": {"command": [("REQUIRED",), ("MIN_ITEMS", 1)]},
    CORE + "HTTPGetAction": {"port": [("NOT_EMPTY",), *PORT_OR_NAME]},
    CORE + "TCPSocketAction": {"port": [("NOT_EMPTY",), *PORT_OR_NAME]},
    CORE + "EnvVar": {"": [("VALUE_FROM",)], "name": [("REQUIRED",), ("ENV_NAME",)]},
    CORE + "EnvVarSource": {
        "": [("EXACTLY_ONE", ("configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"))]
    },
    CORE + "EnvFromSource": {"": [("EXACTLY_ONE", ("configMapRef", "secretRef"))]},
    CORE + "ConfigMapEnvSource": {"name": NEEDED_NAME},
    CORE + "SecretEnvSource": {"name": NEEDED_NAME},
    CORE + "ConfigMapKeySelector": {"name": NEEDED_NAME, "key": [("REQUIRED",), ("CONFIG_KEY",)]},
    CORE + "SecretKeySelector": {"name": NEEDED_NAME, "key": [("REQUIRED",), ("CONFIG_KEY",)]},
    CORE + "ObjectFieldSelector": {"fieldPath": [("PATTERN", FIELD_PATH)]},
    CORE + "Volume": {"name": NEEDED_LABEL, "": [("AT_MOST_ONE", "name")]},
    CORE + "VolumeMount": {"name": REQUIRED, "mountPath": REQUIRED},
    CORE + "HostPathVolumeSource": {"path": REQUIRED},
    CORE + "ConfigMapVolumeSource": {"name": REQUIRED, "defaultMode": MODE},
    CORE + "SecretVolumeSource": {"secretName": REQUIRED, "defaultMode": MODE},
    CORE + "PersistentVolumeClaimVolumeSource": {"claimName": REQUIRED},
    CORE + "KeyToPath": {"key": REQUIRED, "path": REQUIRED, "mode": MODE},
    CORE + "PodSpec": {
        "": [("POD",)],
        "containers": [("MIN_ITEMS", 1), ("KEYS", ("name",))],
        "initContainers": [("KEYS", ("name",))],
        "volumes": [("KEYS", ("name",))],
        "resourceClaims": [("KEYS", ("name",))],
        "topologySpreadConstraints": [("KEYS", ("topologyKey", "whenUnsatisfiable"))],
        "nodeSelector": LABELS,
        "activeDeadlineSeconds": [("MINIMUM", 1), ("MAXIMUM", 2147483647)],
        "serviceAccountName": [("SUBDOMAIN",)],
        "priorityClassName": [("SUBDOMAIN",)],
        "runtimeClassName": [("SUBDOMAIN",)],
        "hostname": [("DNS_LABEL",)],
        "subdomain": [("DNS_LABEL",)],
    },
    CORE + "PodResourceClaim": {
        "": [("EXACTLY_ONE", ("resourceClaimName", "resourceClaimTemplateName"))],
        "name": NEEDED_LABEL,
        "resourceClaimName": [("NOT_EMPTY",), ("SUBDOMAIN",)],
        "resourceClaimTemplateName": [("NOT_EMPTY",), ("SUBDOMAIN",)],
    },
    CORE + "Toleration": {
        "": [("TOLERATION",)],
        "key": [("LABEL_KEY",)],
        "operator": [("ENUM", ("Equal", "Exists"))],
    },
    CORE + "NodeSelector": {"nodeSelectorTerms": [("MIN_ITEMS", 1)]},
    CORE + "NodeSelectorRequirement": {"": [("REQUIREMENT",)], "key": NEEDED_KEY, "operator": [("NOT_EMPTY",)]},
    CORE + "CSIVolumeSource": {"driver": [*NEEDED_NAME, ("MAX_LENGTH", 63)]},
    CORE + "PreferredSchedulingTerm": {"weight": PERCENT},
    CORE + "WeightedPodAffinityTerm": {"weight": PERCENT},
    CORE + "PodAffinityTerm": {"topologyKey": NEEDED_KEY},
    CORE + "TopologySpreadConstraint": {
        "maxSkew": [("MINIMUM", 1)],
        "topologyKey": REQUIRED,
        "whenUnsatisfiable": REQUIRED,
    },
    CORE + "SecurityContext": {"runAsUser": ID, "runAsGroup": ID},
    CORE + "PodSecurityContext": {"runAsUser": ID, "runAsGroup": ID, "fsGroup": ID},
    CORE + "SeccompProfile": {"type": REQUIRED},
    CORE + "AppArmorProfile": {"type": REQUIRED},
    CORE + "ResourceRequirements": {"claims": [("KEYS", ("name", "request=*"))]},
    CORE + "ResourceClaim": {"name": REQUIRED},
    CORE + "Service": {"": [("SERVICE",)]},
    CORE + "ServiceSpec": {"selector": LABELS, "ports": [("KEYS", ("name",)), ("KEYS", ("port", "protocol=TCP"))]},
    CORE + "ServicePort": {"port": PORT, "targetPort": PORT_OR_NAME, "name": [("DNS_LABEL",)]},
    CORE + "PersistentVolumeClaimSpec": {
        "": [("STORAGE",)],
        "accessModes": [("REQUIRED",), ("MIN_ITEMS", 1)],
        "accessModes[]": [("NOT_EMPTY",)],
        "resources": REQUIRED,
        "storageClassName": [("SUBDOMAIN",)],
        "volumeMode": [("NOT_EMPTY",)],
    },
    "io.k8s.api.batch.v1.JobSpec": {
        "": [("JOB",)],
        "completionMode": [("NOT_EMPTY",)],
        "parallelism": NOT_NEGATIVE,
        "completions": NOT_NEGATIVE,
        "backoffLimit": NOT_NEGATIVE,
        "activeDeadlineSeconds": NOT_NEGATIVE,
        "ttlSecondsAfterFinished": NOT_NEGATIVE,
    },
    "io.k8s.api.batch.v1.CronJobSpec": {
        "schedule": [("REQUIRED",), ("SCHEDULE",)],
        "startingDeadlineSeconds": NOT_NEGATIVE,
        "successfulJobsHistoryLimit": NOT_NEGATIVE,
        "failedJobsHistoryLimit": NOT_NEGATIVE,
    },
    "io.k8s.api.apps.v1.DeploymentSpec": REPLICAS,
    "io.k8s.api.apps.v1.ReplicaSetSpec": REPLICAS,
    "io.k8s.api.apps.v1.StatefulSetSpec": {**REPLICAS, "serviceName": [("DNS_LABEL",)]},
    "io.k8s.api.apps.v1.RollingUpdateDeployment": {"": [("ROLLING",)], "maxSurge": SHARE, "maxUnavailable": SHARE},
    "io.k8s.api.apps.v1.RollingUpdateDaemonSet": {"": [("ROLLING",)], "maxSurge": SHARE, "maxUnavailable": SHARE},
    "io.k8s.api.apps.v1.DaemonSetSpec": REPLICAS,
    "io.k8s.api.rbac.v1.PolicyRule": {"": [("POLICY",)], "verbs": [("REQUIRED",), ("MIN_ITEMS", 1)]},
    "io.k8s.api.rbac.v1.RoleRef": {
        "apiGroup": [("ENUM", ("rbac.authorization.k8s.io",))],
        "kind": [("REQUIRED",), ("ENUM", ("Role", "ClusterRole"))],
        "name": REQUIRED,
    },
    "io.k8s.api.rbac.v1.Subject": {
        "": [("SUBJECT",)],
        "kind": [("REQUIRED",), ("ENUM", ("ServiceAccount", "User", "Group"))],
        "name": REQUIRED,
    },
    **claim_checks("v1"),
    **claim_checks("v1beta1"),
    **claim_checks("v1beta2"),
}

# The CEL rules of the CRDs that check.c evaluates, by their text. A transition rule has no effect on a new object.
CEL = {
    "self == oldSelf": None,
    "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']": (
        "ENUM",
        ("ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue"),
    ),
    "!(has(self.jobStatus) && has(self.jobDeploymentStatus))": ("NOT_BOTH", ("jobStatus", "jobDeploymentStatus")),
    "has(self.jobStatus) || has(self.jobDeploymentStatus)": ("ONE_OF", ("jobStatus", "jobDeploymentStatus")),
    "!((has(self.onSuccess) || has(self.onFailure)) && has(self.deletionRules))": (
        "NOT_WITH",
        ("deletionRules", "onSuccess", "onFailure"),
    ),
    "((has(self.onSuccess) && has(self.onFailure)) || has(self.deletionRules))": (
        "ALL_OR",
        ("deletionRules", "onSuccess", "onFailure"),
    ),
}

QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
SPECIAL = {
    QUANTITY: "QUANTITY",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "INT_OR_STRING",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "TIME",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "TIME",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "ANY",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "ANY",
}
META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
POD_TEMPLATE = CORE + "PodTemplateSpec"

FORMS = (
    "ANY",
    "OBJECT",
    "MAP",
    "LIST",
    "STRING",
    "BOOLEAN",
    "INTEGER",
    "INT32",
    "NUMBER",
    "INT_OR_STRING",
    "QUANTITY",
    "TIME",
    "BYTES",
)
CONSTRAINTS = (
    "ENUM",
    "PATTERN",
    "MINIMUM",
    "MAXIMUM",
    "MIN_LENGTH",
    "MAX_LENGTH",
    "MIN_ITEMS",
    "MAX_ITEMS",
    "KEYS",
    "SET",
    "REQUIRED",
    "NOT_EMPTY",
    "DNS_LABEL",
    "SUBDOMAIN",
    "PORT_NAME",
    "ENV_NAME",
    "CONFIG_KEY",
    "LABEL_KEY",
    "SCHEDULE",
    "LABEL_KEYS",
    "LABEL_VALUES",
    "CONFIG_KEYS",
    "NOT_BOTH",
    "ONE_OF",
    "NOT_WITH",
    "ALL_OR",
    "AT_MOST_ONE",
    "EXACTLY_ONE",
    "VALUE_FROM",
    "REQUIREMENT",
    "TOLERATION",
    "POD",
    "SELECTOR",
    "JOB",
    "DEVICE_COUNT",
    "DEVICE_NAMES",
    "STORAGE",
    "SERVICE",
    "ROLLING",
    "POLICY",
    "SUBJECT",
    "POD_TEMPLATE",
)


class Schemas:
    """Types, each stored once: equal types of different files are one."""

    def __init__(self):
        self.types = []
        self.ids = {}

    def add(self, form, fields=(), item=0, constraints=(), flags=()):
        """fields: (name, type, required) in the order of their names; returns the number of the type."""
        key = (form, tuple(fields), item, tuple(constraints), tuple(flags))
        if key not in self.ids:
            self.ids[key] = len(self.types)
            self.types.append(key)
        return self.ids[key]

    def with_constraints(self, number, more):
        form, fields, item, constraints, flags = self.types[number]
        known = [one for one in more if one not in constraints]
        return self.add(form, fields, item, constraints + tuple(known), flags)


# --- CustomResourceDefinitions ---

KNOWN = {
  "type", "format", "properties", "additionalProperties", "items", "required", "enum", "pattern", "minimum", "maximum",
  "minLength", "maxLength", "minItems", "maxItems", "default", "nullable", "anyOf", "description",
  "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
  "x-kubernetes-validations", "x-kubernetes-preserve-unknown-fields",
}  # fmt: skip
PLAIN = {
    "pattern": "PATTERN",
    "minimum": "MINIMUM",
    "maximum": "MAXIMUM",
    "minLength": "MIN_LENGTH",
    "maxLength": "MAX_LENGTH",
    "minItems": "MIN_ITEMS",
    "maxItems": "MAX_ITEMS",
}


def with_default(schema, key):
    """The API server fills in defaults before it compares keys."""
    default = schema["properties"][key].get("default")
    return key if default is None else f"{key}={default}"


class Custom:
    """Reads the structural schema of a CustomResourceDefinition."""

    def __init__(self, schemas, pod_template):
        self.schemas = schemas
        self.pod_template = pod_template

    def constraints(self, schema):
        found = [(word, schema[key]) for key, word in PLAIN.items() if key in schema]
        if "enum" in schema:
            found.append(("ENUM", tuple(schema["enum"])))
        if schema.get("x-kubernetes-list-type") == "map":
            found.append(
                ("KEYS", tuple(with_default(schema["items"], key) for key in schema["x-kubernetes-list-map-keys"]))
            )
        if schema.get("x-kubernetes-list-type") == "set":
            found.append(("SET",))
        for rule in schema.get("x-kubernetes-validations", ()):
            if rule["rule"] not in CEL:
                sys.exit(f"generate.py: the CEL rule {rule['rule']!r} is new: add it to CEL and to check.c")
            if CEL[rule["rule"]] is not None:
                found.append(CEL[rule["rule"]])
        return found

    def form(self, schema, path):
        if schema.get("x-kubernetes-int-or-string"):
            return "INT_OR_STRING"
        kind, what = schema.get("type"), schema.get("format")
        if kind is None and schema.get("x-kubernetes-preserve-unknown-fields"):
            return "ANY"
        if kind == "string":
            return {None: "STRING", "date-time": "TIME", "byte": "BYTES"}[what]
        if kind == "integer":
            return {"int32": "INT32", "int64": "INTEGER", None: "INTEGER"}[what]
        if kind in ("boolean", "number"):
            return kind.upper()
        if kind == "array":
            return "LIST"
        if kind == "object":
            return "MAP" if "additionalProperties" in schema else "OBJECT"
        sys.exit(f"generate.py: {path}: the type {kind!r} is new")

    def add(self, schema, path):
        unknown = set(schema) - KNOWN
        if unknown or ("anyOf" in schema and not schema.get("x-kubernetes-int-or-string")):
            sys.exit(f"generate.py: {path}: {sorted(unknown)}: new words of the schema")
        form = self.form(schema, path)
        constraints = self.constraints(schema)
        flags = []
        if schema.get("nullable"):
            flags.append("NULLABLE")
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            flags.append("OPEN")
        fields, item = [], 0
        if form == "OBJECT":
            required = set(schema.get("required", ()))
            for name in sorted(schema.get("properties", {})):
                inner = schema["properties"][name]
                # A default fills what is missing before the API server looks for it.
                needed = name in required and "default" not in inner
                fields.append((name, self.add(inner, f"{path}.{name}"), needed))
            if path.endswith((".headGroupSpec.template", ".workerGroupSpecs[].template", ".submitterPodTemplate")):
                constraints.append(("POD_TEMPLATE", self.pod_template))
        elif form == "MAP":
            item = self.add(schema["additionalProperties"], f"{path}.*")
        elif form == "LIST":
            item = self.add(schema["items"], f"{path}[]")
        return self.schemas.add(form, fields, item, constraints, flags)


# --- Kubernetes' own types ---


def read_enums(text):
    """The enumerations, which only the types that the API server is built with have: (package, type, field) -> values."""
    enums = {}
    for function in re.finditer(r"^func schema_(\w+?)_(v\w+?)_(\w+)\(ref.*?^}$", text, re.M | re.S):
        name = f"{function[1].replace('k8sio_', 'io_k8s_').replace('_', '.')}.{function[2]}.{function[3]}"
        for field in re.finditer(r'^\t{5}"(\w+)": \{\n(.*?)^\t{5}\},', function[0], re.M | re.S):
            found = re.search(r"Enum:\s*\[\]interface\{\}\{(.*?)\}", field[2])
            if found:
                enums[name, field[1]] = tuple(re.findall(r'"(.*?)"', found[1]))
    return enums


class Native:
    """Reads the definitions of Kubernetes' own types."""

    def __init__(self, schemas, definitions, enums):
        self.schemas = schemas
        self.definitions = definitions
        self.enums = enums
        self.known = {}

    def define(self, name):
        if name not in self.known:
            if name in SPECIAL:
                self.known[name] = self.schemas.add(SPECIAL[name])
            else:
                self.known[name] = self.add(self.definitions[name], name)
        return self.known[name]

    def field(self, owner, name, schema):
        number = self.add(schema, f"{owner}.{name}")
        checks = CHECKS.get(owner, {})
        more, of_elements = list(checks.get(name, ())), list(checks.get(f"{name}[]", ()))
        values = self.enums.get((owner, name))
        form, fields, item, constraints, flags = self.schemas.types[number]
        if values is not None and not any(one[0] == "ENUM" for one in more) and form != "MAP":
            (of_elements if form == "LIST" else more).append(("ENUM", values))
        if of_elements:
            item = self.schemas.with_constraints(item, of_elements)
            return self.schemas.add(form, fields, item, constraints + tuple(more), flags)
        return self.schemas.with_constraints(number, more)

    def add(self, schema, name):
        if "$ref" in schema:
            return self.define(schema["$ref"].split("/")[-1])
        kind = schema.get("type")
        if kind == "array":
            return self.schemas.add("LIST", item=self.add(schema["items"], name + "[]"))
        if kind == "object" and "additionalProperties" in schema:
            return self.schemas.add("MAP", item=self.add(schema["additionalProperties"], name + ".*"))
        if kind == "object":
            required = set(schema.get("required", ()))
            fields = [
                (
                    field,
                    self.field(name, field, inner),
                    (field in required and (name.split(".")[-1], field) not in NOT_NEEDED)
                    or ("REQUIRED",) in CHECKS.get(name, {}).get(field, ()),
                )
                for field, inner in sorted(schema.get("properties", {}).items())
            ]
            constraints = [
                # All fields but one, which is named, exclude each other.
                (one[0], tuple(field for field, _, _ in fields if field != one[1])) if one[0] == "AT_MOST_ONE" else one
                for one in CHECKS.get(name, {}).get("", ())
            ]
            return self.schemas.add("OBJECT", fields, constraints=constraints)
        what = schema.get("format")
        forms = {
            ("string", None): "STRING",
            ("string", "byte"): "BYTES",
            ("boolean", None): "BOOLEAN",
            ("integer", "int32"): "INT32",
            ("integer", "int64"): "INTEGER",
            ("number", "double"): "NUMBER",
        }
        return self.schemas.add(forms[kind, what])


# --- files ---


def find_module(name, version=None):
    path, default = MODULES[name]
    if name == "kuberay" and version is None and "QUOIT_KUBERAY" in os.environ:
        return os.environ["QUOIT_KUBERAY"]
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run(
            ["go", "mod", "download", "-json", f"{path}@{version or default}"],
            cwd=folder,
            env=os.environ | {"GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local"},
            capture_output=True,
            text=True,
        )
    if out.returncode != 0:
        why = json.loads(out.stdout)["Error"] if out.stdout.startswith("{") else out.stderr
        print(f"generate.py: {path}@{version or default} cannot be downloaded: {why.strip()}", file=sys.stderr)
        return None
    return json.loads(out.stdout)["Dir"]


class Sources:
    """The files that were read, for the head of the result."""

    def __init__(self):
        self.folders = {name: find_module(name) for name in MODULES}
        if None in self.folders.values():
            sys.exit(77)
        self.lines = []

    def read(self, module, path):
        with open(os.path.join(self.folders[module], path), "rb") as file:
            data = file.read()
        name, version = MODULES[module]
        self.lines.append(f" *   {name}@{version}/{path}\n *     SHA-256 {hashlib.sha256(data).hexdigest()}\n")
        return data.decode()


def list_kinds(swagger):
    """All kinds that can be created, as (apiVersion, kind)."""
    found = set()
    for path in swagger["paths"].values():
        post = path.get("post", {})
        if post.get("x-kubernetes-action") == "post" and "x-kubernetes-group-version-kind" in post:
            kind = post["x-kubernetes-group-version-kind"]
            found.add(("/".join(filter(None, (kind["group"], kind["version"]))), kind["kind"]))
    return found


def collect():
    sources = Sources()
    schemas = Schemas()
    schemas.add("ANY")
    swagger = json.loads(sources.read("kubernetes", "api/openapi-spec/swagger.json"))
    enums = read_enums(sources.read("kubernetes", "pkg/generated/openapi/zz_generated.openapi.go"))
    native = Native(schemas, swagger["definitions"], enums)
    kinds = {name: (0, "KNOWN") for name in list_kinds(swagger)}
    for name, definition in swagger["definitions"].items():
        for gvk in definition.get("x-kubernetes-group-version-kind", ()):
            version = "/".join(filter(None, (gvk["group"], gvk["version"])))
            if gvk["kind"] in KINDS.get(version, ()):
                kinds[version, gvk["kind"]] = (native.define(name), "NATIVE")
    meta = native.define(META)
    pod_template = native.define(POD_TEMPLATE)
    for crd in CRDS:
        definition = yaml.load(sources.read("kuberay", f"config/crd/bases/{crd}.yaml"), Loader=yaml.CSafeLoader)["spec"]
        for version in definition["versions"]:
            if not version["served"]:
                continue
            schema = version["schema"]["openAPIV3Schema"]
            custom = Custom(schemas, pod_template)
            number = custom.add(schema, "")
            form, fields, item, constraints, flags = schemas.types[number]
            fields = [(name, meta if name == "metadata" else inner, needed) for name, inner, needed in fields]
            kinds[f"{definition['group']}/{version['name']}", definition["names"]["kind"]] = (
                schemas.add(form, fields, item, constraints, flags),
                "CUSTOM",
            )
    return sources, schemas, kinds, {"meta": meta, "pod_template": pod_template}


# --- the C file ---


class Pool:
    """Texts one after another, each stored once."""

    def __init__(self):
        self.places = {}
        self.size = 0

    def add(self, text):
        if text not in self.places:
            self.places[text] = self.size
            self.size += len(text.encode()) + 1
        return self.places[text]


def keep_reachable(schemas, kinds, named):
    """Drops types that nothing refers to, and numbers the others again. Type 0 is ANY."""
    order, numbers = [], {}

    def visit(number):
        if number in numbers:
            return
        numbers[number] = len(order)
        order.append(number)
        form, fields, item, constraints, _flags = schemas.types[number]
        for _, inner, _ in fields:
            visit(inner)
        if form in ("MAP", "LIST"):
            visit(item)
        for constraint in constraints:
            if constraint[0] == "POD_TEMPLATE":
                visit(constraint[1])

    visit(0)
    for _, (number, _) in sorted(kinds.items()):
        visit(number)
    for number in named.values():
        visit(number)
    return order, numbers


def c_text(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rows(lines, items, per_line):
    for start in range(0, len(items), per_line):
        lines.append("  " + " ".join(items[start : start + per_line]) + "\n")


def write(sources, schemas, kinds, named):
    order, numbers = keep_reachable(schemas, kinds, named)
    pool = Pool()
    pool.add("")
    fields, lists, places, values = [], [], {(): 0}, []
    constraints, ranges = [], {(): 0}

    def add_list(texts):
        if texts not in places:
            places[texts] = len(lists)
            lists.extend(pool.add(text) for text in texts)
        return places[texts]

    def add_value(value):
        if value not in values:
            values.append(value)
        return values.index(value)

    def add_constraint(constraint):
        word, *rest = constraint
        if word == "PATTERN":
            return f"{{ {word}, 0, {pool.add(rest[0])} }},"
        if word == "POD_TEMPLATE":
            return f"{{ {word}, 0, {numbers[rest[0]]} }},"
        if not rest:
            return f"{{ {word}, 0, 0 }},"
        if isinstance(rest[0], tuple):
            return f"{{ {word}, {len(rest[0])}, {add_list(rest[0])} }},"
        return f"{{ {word}, 0, {add_value(rest[0])} }},"

    def add_constraints(found):
        if found not in ranges:
            ranges[found] = len(constraints)
            constraints.extend(add_constraint(one) for one in found)
        return ranges[found]

    types, runs = [], {(): 0}
    for number in order:
        form, members, item, found, flags = schemas.types[number]
        if members not in runs:
            runs[members] = len(fields)
            for name, inner, needed in members:
                fields.append(f"{{ {pool.add(name)}, {numbers[inner]}{' | NEEDED' if needed else ''} }},")
        flag = " | ".join(flags) or "0"
        types.append(
            f"{{ {runs[members]}, {numbers.get(item, 0)}, {add_constraints(found)}, {len(members)}, {len(found)}, {form}, {flag} }},"
        )
    objects = [
        f"{{ {pool.add(version)}, {pool.add(kind)}, {numbers[number]}, {group} }},"
        for (version, kind), (number, group) in sorted(kinds.items())
    ]

    assert pool.size < 65536 and len(order) < 32768 and len(fields) < 65536 and len(lists) < 65536
    out = ["/* SPDX-License-Identifier: Apache-2.0 */\n"]
    out.append("/* Generated by src/formats/schema/generate.py; do not edit. The facts are from these files:\n")
    out.extend(sources.lines)
    out.append(' */\n/* clang-format off */\n#include "formats/schema/tables.h"\n\n')
    words = [*FORMS, *CONSTRAINTS, "NULLABLE", "OPEN", "NEEDED", "KNOWN", "NATIVE", "CUSTOM"]
    for word in words:
        out.append(f"#define {word} QUOIT_SCHEMA_{word}\n")
    out.append("\nconst char quoit_schema_texts[] =\n")
    texts = list(pool.places)
    line = ""
    for text in texts:
        piece = c_text(text)[1:-1] + "\\0"
        # Each text is a literal of its own, so that a digit after the NUL is not part of the escape.
        if len(line) + len(piece) > 112:
            out.append(f" {line}\n")
            line = ""
        line += f' "{piece}"'
    out.append(f" {line};\n")

    def table(kind, name, items, per_line):
        out.append(f"\nconst {kind} {name}[] = {{\n")
        rows(out, items, per_line)
        out.append("};\n")

    table("guint16", "quoit_schema_lists", [f"{one}," for one in lists], 16)
    table("gint64", "quoit_schema_values", [f"G_GINT64_CONSTANT ({one})," for one in values], 4)
    table("QuoitSchemaConstraint", "quoit_schema_constraints", constraints, 4)
    table("QuoitSchemaField", "quoit_schema_fields", fields, 6)
    table("QuoitSchemaType", "quoit_schema_types", types, 3)
    table("QuoitSchemaKind", "quoit_schema_kinds", objects, 4)
    out.append(f"const guint16 quoit_schema_n_kinds = {len(objects)};\n")
    for name, number in named.items():
        out.append(f"const guint16 quoit_schema_{name}_type = {numbers[number]};\n")
    print(
        f"{len(order)} types, {len(fields)} fields, {len(constraints)} constraints, {len(objects)} kinds, "
        f"{pool.size} bytes of text, about {pool.size + 4 * len(fields) + 10 * len(order) + 8 * len(objects)} bytes"
    )
    return "".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--crds", action="store_true", help="print the folder of KubeRay's CustomResourceDefinitions")
    arguments = parser.parse_args()
    if arguments.crds:
        folder = find_module("kuberay") or find_module("kuberay", KUBERAY_BEFORE)
        if folder is None:
            sys.exit(77)
        print(os.path.join(folder, "config/crd/bases"))
        return
    text = write(*collect())
    if arguments.check:
        with open(OUT) as file:
            if file.read() != text:
                sys.exit(f"generate.py: {OUT} differs from what the published files give: run generate.py")
        return
    with open(OUT, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `quoit check manifest` with a real API server on mutants of manifests.

Each mutant is one object with one fault: a misspelt field, a value of another type, a field that is missing, twice or
in contradiction to another one. The server decides by a dry run with strict field validation. quoit must refuse what the
server refuses. If the server accepts a mutant of Ray's kinds, it also gets the pods that are made from the object, and
quoit must refuse what it then refuses, by the rule pod-field and only then by that rule. All other errors are those of
KubeRay and the TPU webhook.

  mutants.py [--count N] [--seed S] [--all] --servers DIR --crds DIR [FILE...]
  mutants.py --write RECORD ...     also stores the verdicts, which a hermetic test compares with the library
"""

import argparse
import copy
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import apiserver
import yaml

# Rules of what the API server itself decides. A finding of one of them is false if the server accepts the object.
SERVER_RULES = {
    "api-version",
    "field",
    "field-unknown",
    "field-missing",
    "field-value",
    "kind-unknown",
    "object-name",
    "yaml",
}

DUMPER = yaml.CSafeDumper if hasattr(yaml, "CSafeDumper") else yaml.SafeDumper
LOADER = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader
STRING, INTEGER, BOOLEAN = ("tag:yaml.org,2002:" + word for word in ("str", "int", "bool"))


# --- objects as trees of nodes, which keep how a scalar is written ---


def read_objects(path):
    with open(path) as file:
        for node in yaml.compose_all(file, Loader=LOADER):
            if isinstance(node, yaml.MappingNode):
                yield node


def write_object(node):
    return yaml.serialize(node, Dumper=DUMPER, width=120)


def text_of(node, *names):
    for name in names:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for key, value in node.value if key.value == name), None)
    return node.value if isinstance(node, yaml.ScalarNode) else None


def walk(node, path=()):
    """Yields each place: (path, container, index); the container's value[index] is a (key, value) or an element."""
    for index, inner in enumerate(node.value):
        if isinstance(node, yaml.MappingNode):
            key, value = inner
            yield (*path, key.value), node, index
        else:
            value = inner
            yield (*path, index), node, index
        if not isinstance(value, yaml.ScalarNode):
            yield from walk(value, (*path, key.value if isinstance(node, yaml.MappingNode) else index))


def get(container, index):
    return container.value[index][1] if isinstance(container, yaml.MappingNode) else container.value[index]


def put(container, index, value):
    if isinstance(container, yaml.MappingNode):
        container.value[index] = (container.value[index][0], value)
    else:
        container.value[index] = value


def scalar(tag, text, style=None):
    return yaml.ScalarNode(tag, text, style=style)


# --- mutations: each returns False if it does not apply to the place ---


def typo(text, random):
    letters = [index for index, letter in enumerate(text) if letter.isalpha()]
    if len(letters) < 3:
        return None
    index = random.choice(letters)
    kind = random.randrange(4)
    if kind == 0:
        return text[:index] + text[index + 1 :]
    if kind == 1:
        return text[:index] + text[index] + text[index:]
    if kind == 2 and index + 1 < len(text):
        return text[:index] + text[index + 1] + text[index] + text[index + 2 :]
    return text[:index] + text[index].swapcase() + text[index + 1 :]


def misspell_field(container, index, random):
    if not isinstance(container, yaml.MappingNode):
        return False
    key, value = container.value[index]
    text = typo(key.value, random)
    if text is None or text == key.value:
        return False
    container.value[index] = (scalar(STRING, text), value)


def misspell_value(container, index, random):
    node = get(container, index)
    if not isinstance(node, yaml.ScalarNode) or node.tag != STRING:
        return False
    text = typo(node.value, random)
    if text is None or text == node.value:
        return False
    put(container, index, scalar(STRING, text, node.style))


def replace_scalar(tag, text, *from_tags, style=None):
    def mutate(container, index, random):
        node = get(container, index)
        if not isinstance(node, yaml.ScalarNode) or node.tag not in from_tags or node.value == text:
            return False
        put(container, index, scalar(tag, text, style))

    return mutate


def quote(container, index, random):
    node = get(container, index)
    if not isinstance(node, yaml.ScalarNode) or node.tag not in (INTEGER, BOOLEAN):
        return False
    put(container, index, scalar(STRING, node.value, '"'))


def unquote(container, index, random):
    node = get(container, index)
    if (
        not isinstance(node, yaml.ScalarNode)
        or node.tag != STRING
        or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", node.value)
    ):
        return False
    put(container, index, scalar(INTEGER if node.value.isdigit() else "tag:yaml.org,2002:float", node.value))


def map_to_text(container, index, random):
    if isinstance(get(container, index), yaml.ScalarNode):
        return False
    put(container, index, scalar(STRING, "text"))


def map_to_list(container, index, random):
    node = get(container, index)
    if not isinstance(node, yaml.MappingNode):
        return False
    put(container, index, yaml.SequenceNode("tag:yaml.org,2002:seq", [node]))


def list_to_map(container, index, random):
    node = get(container, index)
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        return False
    put(container, index, node.value[0])


def scalar_to_map(container, index, random):
    node = get(container, index)
    if not isinstance(node, yaml.ScalarNode):
        return False
    put(container, index, yaml.MappingNode("tag:yaml.org,2002:map", [(scalar(STRING, "value"), node)]))


def scalar_to_list(container, index, random):
    node = get(container, index)
    if not isinstance(node, yaml.ScalarNode):
        return False
    put(container, index, yaml.SequenceNode("tag:yaml.org,2002:seq", [node]))


def set_null(container, index, random):
    put(container, index, scalar("tag:yaml.org,2002:null", "null"))


def remove(container, index, random):
    del container.value[index]


def empty(container, index, random):
    node = get(container, index)
    if isinstance(node, yaml.ScalarNode):
        if node.tag != STRING or node.value == "":
            return False
        put(container, index, scalar(STRING, "", '"'))
    elif node.value:
        put(container, index, type(node)(node.tag, [], flow_style=True))
    else:
        return False


def repeat(container, index, random):
    container.value.insert(index, copy.deepcopy(container.value[index]))


# Fields that contradict a field that is there: both fields are of the same map.
CONTRADICTIONS = {
    "value": ("valueFrom", "{fieldRef: {fieldPath: metadata.name}}"),
    "resourceClaimTemplateName": ("resourceClaimName", "claim"),
    "resourceClaimName": ("resourceClaimTemplateName", "claim"),
    "emptyDir": ("hostPath", "{path: /data}"),
    "hostPath": ("emptyDir", "{}"),
    "configMap": ("secret", "{secretName: secret}"),
    "secret": ("configMap", "{name: map}"),
    "persistentVolumeClaim": ("emptyDir", "{}"),
    "httpGet": ("tcpSocket", "{port: 80}"),
    "exec": ("tcpSocket", "{port: 80}"),
    "tcpSocket": ("httpGet", "{port: 80}"),
    "limits": ("requests", "{cpu: '1000'}"),
    "minReplicas": ("maxReplicas", "0"),
    "maxReplicas": ("minReplicas", "1000"),
    "exactly": ("firstAvailable", "[{name: one, deviceClassName: tpu}]"),
    "count": ("allocationMode", "All"),
    "restartPolicy": ("hostNetwork", "true"),
    "completions": ("completionMode", "Indexed"),
    "selector": ("manualSelector", "false"),
    "onSuccess": ("deletionRules", "[{policy: DeleteSelf, condition: {jobStatus: FAILED, ttlSeconds: 1}}]"),
    "rayClusterSpec": ("clusterSelector", "{ray.io/cluster: other}"),
    "shutdownAfterJobFinishes": ("ttlSecondsAfterFinished", "-1"),
}


def contradict(container, index, random):
    if not isinstance(container, yaml.MappingNode):
        return False
    found = CONTRADICTIONS.get(container.value[index][0].value)
    if found is None:
        return False
    name, text = found
    value = yaml.compose(text, Loader=LOADER)
    container.value = [(key, inner) for key, inner in container.value if key.value != name]
    container.value.append((scalar(STRING, name), value))


FLOAT = "tag:yaml.org,2002:float"
MUTATIONS = {
    "misspelt field": misspell_field,
    "misspelt value": misspell_value,
    "number for text": replace_scalar(INTEGER, "1", STRING),
    "boolean for text": replace_scalar(BOOLEAN, "true", STRING),
    "octal number for text": replace_scalar(INTEGER, "0777", STRING),
    "quotes around a number or boolean": quote,
    "no quotes around a number": unquote,
    "text for a number or boolean": replace_scalar(STRING, "some", INTEGER, BOOLEAN, style='"'),
    "boolean for a number": replace_scalar(BOOLEAN, "true", INTEGER),
    "fraction for a whole number": replace_scalar(FLOAT, "1.5", INTEGER),
    "fraction that is whole": replace_scalar(FLOAT, "2.0", INTEGER),
    "negative number": replace_scalar(INTEGER, "-1", INTEGER),
    "number beyond 32 bits": replace_scalar(INTEGER, "3000000000", INTEGER),
    "number for a boolean": replace_scalar(INTEGER, "1", BOOLEAN),
    "text for a map or list": map_to_text,
    "list for a map": map_to_list,
    "map for a list": list_to_map,
    "map for a scalar": scalar_to_map,
    "list for a scalar": scalar_to_list,
    "null": set_null,
    "missing field or element": remove,
    "empty value": empty,
    "text that is no quantity, name or label": replace_scalar(STRING, "a b", STRING),
    "repeated field or element": repeat,
    "contradictory field": contradict,
}


class Base:
    """An object that the server accepts."""

    def __init__(self, path, number, node):
        self.name = f"{os.path.basename(path)}#{number}"
        self.node = node
        self.text = write_object(node)
        self.places = [place for place, _, _ in walk(node)]
        self.has_pods = False  # the server accepts the pods that are made from the object


def clone(node):
    return type(node)(node.tag, list(node.value), flow_style=node.flow_style)


def find(node, step):
    """Returns the index of a member or element."""
    if isinstance(node, yaml.SequenceNode):
        return step
    return next(index for index, (key, _) in enumerate(node.value) if key.value == step)


def mutate(base, mutation, place, random):
    """Returns the mutant and its text, or None if the mutation does not apply to the place."""
    root = container = clone(base.node)
    for step in place[:-1]:
        index = find(container, step)
        inner = clone(get(container, index))
        put(container, index, inner)
        container = inner
    if MUTATIONS[mutation](container, find(container, place[-1]), random) is False:
        return None
    text = write_object(root)
    return None if text == base.text else (root, text)


def draw(bases, count, random):
    """Draws mutants: every mutation equally often, at any place to which it applies."""
    places = [(base, place) for base in bases for place in base.places]
    seen, drawn = set(), []
    for round in range(count * 10):
        if len(drawn) == count:
            break
        mutation = list(MUTATIONS)[round % len(MUTATIONS)]
        for _ in range(500):
            base, place = random.choice(places)
            mutant = mutate(base, mutation, place, random)
            if mutant is not None and mutant[1] not in seen:
                seen.add(mutant[1])
                drawn.append((base, mutation, place, *mutant))
                break
    return drawn


def list_all(bases, random):
    for base in bases:
        for place in base.places:
            for mutation in MUTATIONS:
                mutant = mutate(base, mutation, place, random)
                if mutant is not None:
                    yield base, mutation, place, *mutant


# --- verdicts ---

# Why a server refuses an object that is right: the state of the cluster, which no check of a file can know.
STATE = re.compile(
    r'namespaces "[^"]*" not found|the namespace of the (provided object|request)|already exists|no PriorityClass'
)


def ask_server(server, node, text):
    version, kind, namespace = (
        text_of(node, *path) for path in (("apiVersion",), ("kind",), ("metadata", "namespace"))
    )
    return server.judge(text, version, kind, namespace)


def member(node, *names):
    for name in names:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for key, value in node.value if key.value == name), None)
    return node


def without_nulls(node):
    """The server removes null members of a custom resource."""
    if isinstance(node, yaml.SequenceNode):
        return yaml.SequenceNode(node.tag, [without_nulls(value) for value in node.value])
    if not isinstance(node, yaml.MappingNode):
        return node
    kept = [(key, without_nulls(value)) for key, value in node.value if not value.tag.endswith(":null")]
    return yaml.MappingNode(node.tag, kept)


def list_pods(node):
    """The pods that are made from the groups of an object of Ray."""
    for path in ((), ("rayClusterSpec",), ("rayClusterConfig",), ("jobTemplate", "rayClusterSpec")):
        cluster = member(node, "spec", *path)
        workers = member(cluster, "workerGroupSpecs")
        groups = [member(cluster, "headGroupSpec"), *(workers.value if workers is not None else [])]
        submitter = member(node, "spec", *path[:-1], "submitterPodTemplate")
        for template in [*(member(group, "template") for group in groups), submitter]:
            if not isinstance(template, yaml.MappingNode):
                continue
            pod = [("apiVersion", scalar(STRING, "v1")), ("kind", scalar(STRING, "Pod"))]
            metadata = [("name", scalar(STRING, "pod"))]
            for name in ("labels", "annotations"):
                if member(template, "metadata", name) is not None:
                    metadata.append((name, member(template, "metadata", name)))
            pod.append(("metadata", write_map(metadata)))
            if member(template, "spec") is not None:
                pod.append(("spec", member(template, "spec")))
            yield write_object(without_nulls(write_map(pod)))


def write_map(members):
    return yaml.MappingNode("tag:yaml.org,2002:map", [(scalar(STRING, name), value) for name, value in members])


def ask_pods(server, node):
    """Returns why the server refuses one of the pods, or None."""
    for text in list_pods(node):
        message = server.judge(text, "v1", "Pod", None)
        if message is not None:
            return message
    return None


def ask_quoit(quoit, texts):
    """Returns the findings of each text."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, text in enumerate(texts):
            names.append(os.path.join(folder, f"{number}.yaml"))
            with open(names[-1], "w") as file:
                file.write(text)
        found = {name: [] for name in names}
        for start in range(0, len(names), 200):
            command = [quoit, "check", "manifest", "-o", "json", *names[start : start + 200]]
            out = subprocess.run(command, capture_output=True, text=True)
            if out.returncode not in (0, 3):
                sys.exit(f"mutants.py: {quoit} ended with {out.returncode}: {out.stderr}")
            for finding in json.loads(out.stdout)["findings"]:
                found[finding["file"]].append(finding)
    return [found[name] for name in names]


def place_text(place):
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


def record(path, mutants):
    """Stores each base once, and of a mutant the lines that differ: [from, to) of the base are replaced."""
    rows, known = [], set()
    for mutant in mutants:
        base = mutant.base
        if base.name not in known:
            known.add(base.name)
            rows.append({"base": base.name, "has_pods": base.has_pods, "text": base.text})
        old, new = base.text.splitlines(), mutant.text.splitlines()
        first = 0
        while first < min(len(old), len(new)) and old[first] == new[first]:
            first += 1
        last = 0
        while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
            last += 1
        rows.append(
            {
                "base": base.name,
                "mutation": mutant.mutation,
                "place": mutant.place,
                "from": first,
                "to": len(old) - last,
                "lines": new[first : len(new) - last],
                "refused": mutant.refused and mutant.refused[:300],
                "pods_refused": mutant.pods_refused and mutant.pods_refused[:300],
            }
        )
    with open(path, "w") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


class Mutant:
    def __init__(self, base, mutation, place, node, text):
        self.base = base
        self.mutation = mutation
        self.place = place_text(place)
        self.node = node
        self.text = text
        self.refused = self.pods_refused = None  # why the server refuses the object, or its pods

    def ask(self, server):
        self.refused = ask_server(server, self.node, self.text)
        if self.refused is None and self.base.has_pods:
            self.pods_refused = ask_pods(server, self.node)

    def compare(self, findings, known):
        """Sets what quoit says: `known` are the findings that the base has as well."""
        errors = [one for one in findings if one["severity"] == "error" and (one["rule"], one["message"]) not in known]
        wrong = [one for one in errors if one["rule"] in SERVER_RULES] if self.refused is None else []
        if self.base.has_pods and self.refused is None and self.pods_refused is None:
            wrong += [one for one in errors if one["rule"] == "pod-field"]
        self.has_errors = bool(errors)
        self.is_missed = (self.refused or self.pods_refused) is not None and not errors
        self.false = "; ".join(f"{one['message']} [{one['rule']}]" for one in wrong)


COLUMNS = {
    "mutants": lambda mutant: True,
    "the server refuses": lambda mutant: mutant.refused is not None,
    "its pods": lambda mutant: mutant.pods_refused is not None,
    "quoit refuses": lambda mutant: mutant.has_errors,
    "missed": lambda mutant: mutant.is_missed,
    "false": lambda mutant: mutant.false != "",
}


def print_table(mutants):
    print("| mutation | " + " | ".join(COLUMNS) + " |")
    print("| --- " * (len(COLUMNS) + 1) + "|")
    for name in [*MUTATIONS, "all"]:
        those = [mutant for mutant in mutants if name in ("all", mutant.mutation)]
        if those:
            print(f"| {name} | " + " | ".join(str(sum(map(counts, those))) for counts in COLUMNS.values()) + " |")


def read_bases(server, files):
    for path in files:
        for number, node in enumerate(read_objects(path)):
            base = Base(path, number, node)
            namespace = text_of(node, "metadata", "namespace")
            if namespace is not None:
                server.add_namespace(namespace)
            message = ask_server(server, node, base.text)
            if message is None:
                base.has_pods = any(list_pods(node)) and ask_pods(server, node) is None
                yield base
            else:
                print(f"left out: {base.name}: the server refuses it: {message}")


def ask_all(arguments):
    """Returns the bases and the mutants with the server's verdicts."""
    drawn = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="quoit-apiserver-") as folder:
        with apiserver.Server(arguments.servers, folder) as server:
            for path in sorted(glob.glob(arguments.crds + "/ray.io_*.yaml")):
                with open(path) as file:
                    server.install(file.read(), f"{path.rsplit('_', 1)[1].removesuffix('.yaml')}.ray.io")
            bases = list(read_bases(server, arguments.files))
            found = list_all(bases, drawn) if arguments.all else draw(bases, arguments.count, drawn)
            mutants = [Mutant(*one) for one in found]
            for mutant in mutants:
                mutant.ask(server)
    kept = [mutant for mutant in mutants if mutant.refused is None or not STATE.search(mutant.refused)]
    print(f"{len(kept)} mutants of {len(bases)} objects, seed {arguments.seed}")
    if len(kept) < len(mutants):
        print(f"{len(mutants) - len(kept)} left out: the answer depends on the state of the cluster")
    return bases, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--all", action="store_true", help="every mutation at every place")
    parser.add_argument("--servers", required=True, help="folder with etcd and kube-apiserver")
    parser.add_argument("--crds", required=True, help="folder with KubeRay's CustomResourceDefinitions")
    parser.add_argument("--quoit", default="quoit")
    parser.add_argument("--write", metavar="RECORD", help="store the verdicts")
    parser.add_argument("--limit", type=int, default=40, help="how many wrong verdicts to print")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()

    bases, mutants = ask_all(arguments)
    found = ask_quoit(arguments.quoit, [base.text for base in bases] + [mutant.text for mutant in mutants])
    lines, known = [], {}
    for base, findings in zip(bases, found):
        known[base.name] = {(one["rule"], one["message"]) for one in findings}
        for one in findings:
            if one["severity"] == "error" and one["rule"] in SERVER_RULES:
                lines.append(f"FALSE {base.name}: {one['message']} [{one['rule']}]")
    for mutant, findings in zip(mutants, found[len(bases) :]):
        mutant.compare(findings, known[mutant.base.name])
        where = f"{mutant.base.name} {mutant.mutation} at {mutant.place}"
        if mutant.is_missed:
            lines.append(f"MISSED {where}: {mutant.refused or mutant.pods_refused}")
        if mutant.false:
            lines.append(f"FALSE {where}: {mutant.false}")
    for line in lines[: arguments.limit]:
        print(line[:500])
    if arguments.write:
        record(arguments.write, mutants)
    print()
    print_table(mutants)
    print(f"\n{max(0, len(mutants) - len(lines))} passed, {len(lines)} failed")
    sys.exit(len(lines) > 0 or not mutants)


if __name__ == "__main__":
    main()

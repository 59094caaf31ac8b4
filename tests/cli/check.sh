#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quoit check manifest: lines that editors can parse, the same as JSON, exit statuses, and files that are no manifests.
. "$top_srcdir/tests/cli/lib.sh"
good=$two_slices
unset QUOIT_DB # it needs none
cd "$tmp" || exit 1

# edited NAME SED: makes NAME from the valid manifest by the sed script SED.
edited ()
{
  sed "$2" "$good" >"$tmp/$1"
}
edited hosts.yaml 's/numOfHosts: 4/numOfHosts: 3/'
edited warned.yaml 's/ replicas: 2/ replicas: 9/; s/numOfHosts/maxReplicas: 4\n    numOfHosts/'
edited both.yaml 's/numOfHosts: 4/numOfHosts: 3/; s/ replicas: 2/ replicas: "2"/'
edited variable.yaml 's/numOfHosts: 4/numOfHosts: ${HOSTS}/'
edited hostile.yaml "s/tpu-v6e-slice/'a:1: error: b'/"
printf 'kind: RayCluster\nspec: [\n' >broken.yaml
printf 'kind: RayCluster\nspec: {a: "\001"}\n' >control.yaml
printf 'kind: JobSet\n' >other.yaml
: >empty.yaml

# one 'sentence' LINE: stdout is that line alone.
one ()
{
  holds "$1" test "$(cat "$tmp/out")" = "$2"
}
line=$(grep -n numOfHosts hosts.yaml | cut -d: -f1)

# --- the format that editors parse
ok 0 "what is right" check manifest "$good"
one "says nothing" ""
ok 3 "what is wrong" check manifest hosts.yaml
one "is a line with file, line, severity, value and expectation" \
  "hosts.yaml:$line: error: numOfHosts '3': expected 4, which topology '4x4' has with 4 chips a pod [numofhosts-topology]"
holds "and nothing on stderr" test ! -s "$tmp/err"
ok 0 "a warning is none" check manifest warned.yaml
out "but is told" "warning: replicas '9': expected 0 to 4, minReplicas and maxReplicas: KubeRay makes it 4 [replicas-range]"
ok 3 "unless that is asked for" check manifest --strict warned.yaml
ok 0 "a note is none even then" check manifest --strict other.yaml
one "and is told too" "other.yaml:1: note: nothing was looked at: expected a RayCluster, RayJob or RayService [no-ray-object]"
ok 3 "all of a file" check manifest both.yaml
holds "is told" test "$(grep -c '^both.yaml:[0-9]*: error: ' "$tmp/out")" -eq 2
holds "by line" sort -c -t: -k2n "$tmp/out"
ok 3 "several files" check manifest "$good" hosts.yaml warned.yaml
holds "are told one after the other" test "$(cut -d: -f1 "$tmp/out" | tr '\n' ' ')" = "hosts.yaml warned.yaml "
ok 3 "what is no YAML" check manifest broken.yaml
out "is an error at its line" "broken.yaml:3: error: "
out "of a rule of its own" "[yaml]"
ok 3 "control bytes too" check manifest control.yaml
out "at theirs" "control.yaml:2: error: control characters are not allowed"
ok 3 "an empty file" check manifest empty.yaml
one "is none either" "empty.yaml:1: error: the end: expected a YAML document [yaml]"
ok 3 "a finding in a name" check manifest hostile.yaml hosts.yaml
out "stays in its quotes" "warning: accelerator 'a:1: error: b': expected"
printf 'apiVersion: ray.io/v1\nkind: "RayCluster"\nmetadata: {name: "a\\e[31m\\nb.yaml:1: error: c"}\n' >escape.yaml
ok 3 "control bytes in a value" check manifest escape.yaml
holds "do not reach the terminal" test "$(LC_ALL=C tr -d ' -~\n' <"$tmp/out" | wc -c)" -eq 0
holds "nor begin a line" test "$(grep -cv '^escape.yaml:' "$tmp/out")" -eq 0
cp hosts.yaml "$(printf 'a\033[31m.yaml')"
ok 3 "control bytes in the name of a file" check manifest "$(printf 'a\033[31m.yaml')"
out "neither" 'a\x1b[31m.yaml:'

# --- variables
ok 0 "a variable without a value" check manifest variable.yaml
out "is a note" "variable.yaml:$line: note: numOfHosts: variable '\${HOSTS}' has no value: expected --set HOSTS=VALUE [variable]"
ok 0 "with a value" check manifest --set HOSTS=4 variable.yaml
one "it is read as that" ""
ok 3 "that is wrong" check manifest --set HOSTS=3 variable.yaml
out "it is an error" "variable.yaml:$line: error: numOfHosts '\${HOSTS}': expected 4"
refused 3 "a name that is none" "variable '1A=x'|expected NAME=value" check manifest --set 1A=x variable.yaml
refused 3 "a name twice" "variable 'A=x'|each name once" check manifest --set A=x --set A=y variable.yaml

# --- standard input, and missing files
status=0
quoit check manifest - <hosts.yaml >"$tmp/out" 2>"$tmp/err" || status=$?
holds "- is standard input" test "$status" -eq 3
out "and is called so" "standard input:$line: error: numOfHosts '3'"
refused 4 "a file that is not there is NOT_FOUND" "quoit: check: |missing.yaml: No such file" \
  check manifest missing.yaml hosts.yaml
out "and the others are checked" "hosts.yaml:$line: error: numOfHosts '3'"
refused 4 "of several" "missing.yaml: No such file" check manifest missing.yaml "$tmp" hosts.yaml
err "each is named" "$tmp: is a directory"
refused 3 "a directory is none" "is a directory" check manifest "$tmp"

# --- the command line
refused 2 "a file is wanted" "expected the arguments: manifest FILE..." check manifest
refused 2 "of a manifest" "'workload': expected manifest" check workload x
refused 2 "in a form that there is" "--output 'xml'|expected table or json" check manifest -o xml x

# --- as JSON
ok 3 "as JSON" check manifest -o json "$good" both.yaml warned.yaml
json "is a document"
fact "with every finding" '[(f["file"], f["severity"], f["rule"]) for f in d["findings"]]' \
  "[('both.yaml', 'error', 'field'), ('both.yaml', 'error', 'numofhosts-topology'), ('warned.yaml', 'warning', 'replicas-range')]"
fact "with its place" '[f["line"] for f in d["findings"]][1], d["findings"][1]["column"] > 1, d["findings"][1]["path"]' \
  "($line, True, '\$.spec.workerGroupSpecs[0].numOfHosts')"
fact "with value and expectation" 'd["findings"][1]["value"], d["findings"][1]["expected"]' \
  "('3', \"4, which topology '4x4' has with 4 chips a pod\")"
fact "and the message of the line" 'd["findings"][1]["message"]' \
  "numOfHosts '3': expected 4, which topology '4x4' has with 4 chips a pod"
fact "each file has its counts" '[(f["checked"], f["n_errors"], f["n_warnings"], f["n_notes"], f["problem"]) for f in d["files"]]' \
  "[(True, 0, 0, 0, None), (True, 2, 0, 0, None), (True, 0, 1, 0, None)]"
ok 3 "what is no YAML" check manifest -o json broken.yaml
json "is a document"
fact "with its place" '[(f["line"], f["column"] > 0, f["rule"], f["path"], f["value"], f["expected"]) for f in d["findings"]]' \
  "[(3, True, 'yaml', None, None, 'YAML')]"
ok 3 "what is missing" check manifest -o json escape.yaml
fact "has no value" '[(f["value"], f["path"]) for f in d["findings"] if f["rule"] == "cluster-spec"]' "[(None, '\$')]"
fact "and bytes are as they are" '[f["value"] for f in d["findings"] if f["rule"] == "cluster-name"] == ["a\x1b[31m\nb.yaml:1: error: c"]' True
ok 4 "a file that is not there" check manifest -o json hosts.yaml missing.yaml
json "is a document"
fact "with the error and the findings" 'd["error"]["code"], len(d["findings"]), [f["checked"] for f in d["files"]]' \
  "('NOT_FOUND', 1, [True, False])"

finish

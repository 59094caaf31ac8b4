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
edited warned.yaml 's/ replicas: 2/ replicas: 9/; s/numOfHosts/maxReplicas: 4\n    numOfHosts/; s/MEGASCALE_NUM_SLICES/OTHER/'
edited both.yaml 's/numOfHosts: 4/numOfHosts: 3/; s/ replicas: 2/ replicas: "2"/'
edited variable.yaml 's/numOfHosts: 4/numOfHosts: ${HOSTS}/'
edited hostile.yaml "s/tpu-v6e-slice/'a:1: error: b'/"
edited old.yaml 's#ray.io/v1$#ray.io/v1alpha1#'
edited selector.yaml 's/gke-tpu-topology/gke-tpu-toplogy/'
edited label.yaml 's/tpu-v6e-slice/tpu-v5e-slice/'
printf 'kind: RayCluster\nspec: [\n' >broken.yaml
printf 'kind: RayCluster\nspec: {a: "\001"}\n' >control.yaml
printf 'apiVersion: policy/v1\nkind: PodDisruptionBudget\n' >other.yaml
printf 'apiVersion: kubeflow.org/v1\nkind: PyTorchJob\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n' >unread.yaml
: >empty.yaml

# one 'sentence' LINE: stdout is that line alone.
one ()
{
  holds "$1" test "$(cat "$tmp/out")" = "$2"
}
line=$(grep -n numOfHosts hosts.yaml | cut -d: -f1)

# --- the format that editors parse
ok 0 "a valid manifest has exit status 0" check manifest "$good"
one "a valid manifest prints nothing" ""
ok 3 "an invalid manifest has exit status 3" check manifest hosts.yaml
one "a finding has file, line, severity, value and expectation" \
  "hosts.yaml:$line: error: numOfHosts '3': expected 4, the hosts of topology '4x4' with 4 chips per pod [numofhosts-topology]"
holds "findings are not printed on stderr" test ! -s "$tmp/err"
ok 0 "a warning does not change the exit status" check manifest warned.yaml
out "the warning is printed" "warning: replicas '9': expected 0 to 4, minReplicas and maxReplicas: KubeRay makes it 4 [replicas-range]"
ok 3 "--strict makes a warning an error" check manifest --strict warned.yaml
ok 0 "--strict does not make a note an error" check manifest --strict other.yaml
one "the note is printed" "other.yaml:1: note: nothing was checked: expected a RayCluster, RayJob or RayService, or another object that makes pods or queues for TPUs [no-ray-object]"
ok 0 "an object of an unknown kind is a note" check manifest unread.yaml
one "the note names the kind" "unread.yaml:2: note: kind 'PyTorchJob': expected one that quoit reads, such as RayCluster or JobSet: this object was not checked [kind-unread]"
ok 3 "--strict makes an object of an unknown kind an error" check manifest --strict unread.yaml
ok 3 "an object of an unknown kind is counted" check manifest --strict -o json "$good" unread.yaml
fact "the count is that of each file" '[f["n_unread"] for f in d["files"]]' "[0, 1]"
ok 3 "a file with two errors has exit status 3" check manifest both.yaml
holds "both errors are printed" test "$(grep -c '^both.yaml:[0-9]*: error: ' "$tmp/out")" -eq 2
holds "findings are sorted by line" sort -c -t: -k2n "$tmp/out"
ok 3 "several files are checked" check manifest "$good" hosts.yaml warned.yaml
holds "findings are printed file by file" test "$(cut -d: -f1 "$tmp/out" | tr '\n' ' ')" = "hosts.yaml warned.yaml "
ok 3 "invalid YAML has exit status 3" check manifest broken.yaml
out "invalid YAML is an error with its line" "broken.yaml:3: error: "
out "invalid YAML has the rule yaml" "[yaml]"
ok 3 "control bytes in YAML have exit status 3" check manifest control.yaml
out "control bytes are an error with their line" "control.yaml:2: error: control characters are not allowed"
ok 3 "an empty file has exit status 3" check manifest empty.yaml
one "an empty file is an error of rule yaml" "empty.yaml:1: error: the end: expected a YAML document [yaml]"
ok 3 "a value that looks like a finding has exit status 3" check manifest hostile.yaml hosts.yaml
out "a value that looks like a finding stays quoted" "warning: accelerator 'a:1: error: b': expected"
printf 'apiVersion: ray.io/v1\nkind: "RayCluster"\nmetadata: {name: "a\\e[31m\\nb.yaml:1: error: c"}\n' >escape.yaml
ok 3 "control bytes in a value have exit status 3" check manifest escape.yaml
holds "no control bytes of a value reach the terminal" test "$(LC_ALL=C tr -d ' -~\n' <"$tmp/out" | wc -c)" -eq 0
holds "control bytes of a value do not begin a line" test "$(grep -cv '^escape.yaml:' "$tmp/out")" -eq 0
cp hosts.yaml "$(printf 'a\033[31m.yaml')"
ok 3 "control bytes in a file name have exit status 3" check manifest "$(printf 'a\033[31m.yaml')"
out "control bytes in a file name are escaped" 'a\x1b[31m.yaml:'

# --- variables
ok 0 "a variable without a value has exit status 0" check manifest variable.yaml
out "a variable without a value is a note" "variable.yaml:$line: note: numOfHosts: variable '\${HOSTS}' has no value: expected --set HOSTS=VALUE [variable]"
ok 0 "--set gives a variable a valid value" check manifest --set HOSTS=4 variable.yaml
one "a variable with a valid value has no finding" ""
ok 3 "--set gives a variable an invalid value" check manifest --set HOSTS=3 variable.yaml
out "a variable with an invalid value is an error" "variable.yaml:$line: error: numOfHosts '\${HOSTS}': expected 4"
refused 3 "invalid variable name" "variable '1A=x'|expected NAME=value" check manifest --set 1A=x variable.yaml
refused 3 "repeated variable" "variable 'A=x'|each name once" check manifest --set A=x --set A=y variable.yaml

# --- standard input, and missing files
status=0
quoit check manifest - <hosts.yaml >"$tmp/out" 2>"$tmp/err" || status=$?
holds "- reads standard input" test "$status" -eq 3
out "findings of standard input are named so" "standard input:$line: error: numOfHosts '3'"
refused 4 "a missing file has exit status 4" "quoit: check: |missing.yaml: No such file" \
  check manifest missing.yaml hosts.yaml
out "the other files are checked if one is missing" "hosts.yaml:$line: error: numOfHosts '3'"
refused 4 "several unreadable files have exit status 4" "missing.yaml: No such file" check manifest missing.yaml "$tmp" hosts.yaml
err "each unreadable file is named" "$tmp: is a directory"
refused 3 "directory instead of a file" "is a directory" check manifest "$tmp"

# --- the command line
refused 2 "check manifest without files" "expected the arguments: manifest FILE..." check manifest
refused 2 "unknown object of check" "'workload': expected manifest" check workload x
refused 2 "unknown output form" "--output 'xml'|expected table, wide, json, sarif or github" check manifest -o xml x

# --- as JSON
ok 3 "check manifest -o json has exit status 3 for errors" check manifest -o json "$good" both.yaml warned.yaml
json "check manifest prints JSON"
fact "JSON has every finding" '[(f["file"], f["severity"], f["rule"]) for f in d["findings"]]' \
  "[('both.yaml', 'error', 'field'), ('both.yaml', 'error', 'numofhosts-topology'), ('warned.yaml', 'warning', 'replicas-range')]"
fact "a JSON finding has its line and column" '[f["line"] for f in d["findings"]][1], d["findings"][1]["column"] > 1, d["findings"][1]["path"]' \
  "($line, True, '\$.spec.workerGroupSpecs[0].numOfHosts')"
fact "a JSON finding has value and expectation" 'd["findings"][1]["value"], d["findings"][1]["expected"]' \
  "('3', \"4, the hosts of topology '4x4' with 4 chips per pod\")"
fact "a JSON finding has the message of the text line" 'd["findings"][1]["message"]' \
  "numOfHosts '3': expected 4, the hosts of topology '4x4' with 4 chips per pod"
fact "JSON has counts per file" '[(f["checked"], f["n_errors"], f["n_warnings"], f["n_notes"], f["problem"]) for f in d["files"]]' \
  "[(True, 0, 0, 0, None), (True, 2, 0, 0, None), (True, 0, 1, 0, None)]"
ok 3 "invalid YAML has exit status 3 with -o json" check manifest -o json broken.yaml
json "invalid YAML is reported as JSON"
fact "the JSON finding of invalid YAML has line and column" '[(f["line"], f["column"] > 0, f["rule"], f["path"], f["value"], f["expected"]) for f in d["findings"]]' \
  "[(3, True, 'yaml', None, None, 'YAML')]"
ok 3 "control bytes have exit status 3 with -o json" check manifest -o json escape.yaml
fact "the JSON finding of a missing field has no value" '[(f["value"], f["path"]) for f in d["findings"] if f["rule"] == "cluster-spec"]' "[(None, '\$')]"
fact "JSON values have their original bytes" '[f["value"] for f in d["findings"] if f["rule"] == "cluster-name"] == ["a\x1b[31m\nb.yaml:1: error: c"]' True
ok 4 "a missing file has exit status 4 with -o json" check manifest -o json hosts.yaml missing.yaml
json "a missing file is reported as JSON"
fact "JSON has the error and the findings of the other files" 'd["error"]["code"], len(d["findings"]), [f["checked"] for f in d["files"]]' \
  "('NOT_FOUND', 1, [True, False])"

# --- hints
refused 2 "a file without 'manifest'" "'hosts.yaml': expected manifest or train, as in 'quoit check manifest FILE'" check hosts.yaml
ok 3 "a field of a later version" check manifest old.yaml
has out "names the version" "field 'numOfHosts': expected a field of workerGroupSpecs[0]; apiVersion 'ray.io/v1' has this one"
ok 3 "a misspelt selector" check manifest selector.yaml
has out "is named, at its line" "selector.yaml:30: error: no node selector 'cloud.google.com/gke-tpu-topology': expected"
has out "with the question" "is 'cloud.google.com/gke-tpu-toplogy' meant to be it?"
ok 0 "a wrong label of a generation" check manifest label.yaml
has out "has the labels of that generation" "on GKE's nodes: 'tpu-v5-lite-device', 'tpu-v5-lite-podslice' [accelerator-unknown]"
ok 0 "a variable that no file has" check manifest --set NO_SUCH=1 --set "IMAGE=x" "$good"
has err "is a warning" "quoit: check: warning: --set 'NO_SUCH=1': no file has \${NO_SUCH}"
holds "the other one is not" test "$(wc -l <"$tmp/err")" -eq 1
ok 0 "SARIF succeeds" check manifest -o sarif "$good"
holds "its texts are no Markdown" test "$(grep -c ']([#h]' "$tmp/out")" -eq 0

# --- the manifest of docs/ray-head.md
ok 0 "the RayCluster with a ledger is correct" check manifest --strict "$top_srcdir/contrib/ray/raycluster-ledger.yaml"
holds "it has no finding" test ! -s "$tmp/out"
holds "the page has its environment" sh -c '
  sed -n "s/^ *- name: \\(QUOIT_DB\\|RAY_gcs_storage.*\\)$/\\1/p" "$1" | while read -r name; do grep -q "name: $name, value" "$2" || exit 1; done
' sh "$top_srcdir/contrib/ray/raycluster-ledger.yaml" "$top_srcdir/docs/ray-head.md"

finish

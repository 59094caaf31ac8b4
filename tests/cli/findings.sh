#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Findings for other programs: `quoit check -o sarif` and `-o github`, the GitHub Action and the hook for pre-commit.
. "$top_srcdir/tests/cli/lib.sh"
good=$two_slices
unset QUOIT_DB
cd "$tmp" || exit 1
edited ()
{
  sed "$2" "$good" >"$tmp/$1"
}
edited hosts.yaml 's/numOfHosts: 4/numOfHosts: 3/'
edited 'odd, 5%: name.yaml' "s/tpu-v6e-slice/'50%:::error,'/"
edited warned.yaml 's/ replicas: 2/ replicas: 9/; s/numOfHosts/maxReplicas: 4\n    numOfHosts/; s/NUM_SLICES/NUM/'
edited variable.yaml 's/numOfHosts: 4/numOfHosts: ${HOSTS}/'
printf 'kind: RayCluster\nspec: [\n' >broken.yaml
line=$(grep -n numOfHosts hosts.yaml | cut -d: -f1)

# --- workflow commands
ok 3 "-o github has exit status 3 for errors" check manifest -o github "$good" hosts.yaml
holds "a finding is one workflow command" test "$(cat "$tmp/out")" = \
  "::error file=hosts.yaml,line=$line,col=5,title=quoit numofhosts-topology::numOfHosts '3': expected 4, the hosts of topology '4x4' with 4 chips per pod"
ok 0 "-o github has exit status 0 for warnings" check manifest -o github warned.yaml
out "a warning is a warning" "::warning file=warned.yaml,line="
ok 3 "odd names and values are checked" check manifest -o github 'odd, 5%: name.yaml'
out "properties and messages are escaped" "::warning file=odd%2C 5%25%3A name.yaml,line="
out "the percent sign of a message is escaped, and nothing else" "::accelerator '50%25:::error,': expected"
cp hosts.yaml "$(printf 'a\n::error::b\033.yaml')"
ok 3 "a file name with a line feed is checked" check manifest -o github "$(printf 'a\n::error::b\033.yaml')"
holds "a line feed in a file name begins no command" test "$(grep -c . "$tmp/out")" -eq 1
holds "no control bytes reach the log" test "$(LC_ALL=C tr -d ' -~\n' <"$tmp/out" | wc -c)" -eq 0
ok 0 "a note is a notice" check manifest -o github variable.yaml
out "a note is a notice" "::notice file=variable.yaml,line=$line,"
ok 3 "invalid YAML has exit status 3" check manifest -o github broken.yaml
out "invalid YAML is a command with its line" "::error file=broken.yaml,line=3,col=1,title=quoit yaml::"
refused 4 "an unreadable file" "missing.yaml: No such file" check manifest -o github missing.yaml hosts.yaml
out "an unreadable file is a command without a line" "::error file=missing.yaml,title=quoit unreadable-file::missing.yaml: No such file"
out "the other files have their commands" "::error file=hosts.yaml,line=$line,"
ok 3 "train has -o github" check train --accelerator v6e --topology 4x4 -o github ici_fdsp_parallelism=4
holds "a word of the command line has no file" test "$(cat "$tmp/out")" = \
  "::error title=quoit key-unknown::'ici_fdsp_parallelism': expected a setting of MaxText, such as 'ici_fsdp_parallelism'"
printf 'ici_fdsp_parallelism: 4\n' >mine.yml
ok 3 "a file of settings is checked" check train --accelerator v6e --topology 4x4 -o github --config mine.yml mine.yml
out "a setting of a file has its place" "::error file=mine.yml,line=1,title=quoit key-unknown::mine.yml: line 1: "
refused 2 "another verb with -o sarif" "--output 'sarif'|expected table, wide or json" verify -o sarif

# --- SARIF
valid='import json, sys
log = json.load(open(sys.argv[1], encoding="utf-8"))
assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
(run,) = log["runs"]
rules = run["tool"]["driver"]["rules"]
ids = [rule["id"] for rule in rules]
assert len(set(ids)) == len(ids)
without = [rule["id"] for rule in rules if len(rule.get("shortDescription", {}).get("text", "")) < 10]
assert not without, f"docs/checking.md does not describe {without}"
for result in run["results"]:
    assert result["level"] in ("error", "warning", "note")
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["message"]["text"]'
ok 3 "-o sarif has exit status 3 for errors" check manifest -o sarif "$good" hosts.yaml warned.yaml broken.yaml
holds "the log is valid, and the documentation describes each rule" "$python" -c "$valid" "$tmp/out"
fact "the results have rules and levels" '[(r["ruleId"], r["level"]) for r in d["runs"][0]["results"]]' \
  "[('numofhosts-topology', 'error'), ('replicas-range', 'warning'), ('yaml', 'error')]"
fact "a result has file, line and column" 'd["runs"][0]["results"][0]["locations"][0]["physicalLocation"]' \
  "{'artifactLocation': {'uri': 'hosts.yaml'}, 'region': {'startLine': $line, 'startColumn': 5}}"
fact "a result has the path in the document" 'd["runs"][0]["results"][0]["locations"][0]["logicalLocations"]' \
  "[{'fullyQualifiedName': '\$.spec.workerGroupSpecs[0].numOfHosts'}]"
fact "the run has its exit status" '[(i["executionSuccessful"], i["exitCode"]) for i in d["runs"][0]["invocations"]]' "[(True, 3)]"
ok 3 "a file with an odd name is checked" check manifest -o sarif 'odd, 5%: name.yaml'
fact "a name that looks like a scheme is a relative reference" \
  'd["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]' "./odd,%205%25:%20name.yaml"
ok 3 "an absolute path is checked" check manifest -o sarif "$tmp/hosts.yaml"
fact "an absolute path is a URL" 'd["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"][:8]' 'file:///'
ok 4 "an unreadable file has exit status 4" check manifest -o sarif missing.yaml hosts.yaml
holds "the log of an unreadable file is valid" "$python" -c "$valid" "$tmp/out"
fact "an unreadable file is a notification" \
  '[(n["message"]["text"][:12], i["executionSuccessful"], i["exitCode"]) for i in d["runs"][0]["invocations"] for n in i["toolExecutionNotifications"]]' \
  "[('missing.yaml', False, 4)]"
fact "the other files have their results" 'len(d["runs"][0]["results"])' 1
ok 0 "a valid file is checked" check manifest -o sarif "$good"
fact "a valid file has an empty list of results" 'd["runs"][0]["results"]' "[]"
ok 3 "train has -o sarif" check train --accelerator v6e --topology 4x4 -o sarif --config mine.yml mine.yml
holds "the log of train is valid, and the documentation describes each rule" "$python" -c "$valid" "$tmp/out"
fact "a setting of a file has its line" 'd["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]' "{'startLine': 1}"

# --- the GitHub Action
# act STATUS 'sentence' INPUT=VALUE...: runs the steps of the action as GitHub's runner does.
act ()
{
  expected=$1 sentence=$2 status=0
  shift 2
  last_command="the action with $*"
  "$python" "$top_srcdir/tests/cli/run-action.py" "$top_srcdir/contrib/github-action" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
  if [ "$status" -eq "$expected" ]; then
    pass
  else
    fail "$sentence" "$last_command" "exit status $status, expected $expected" "$(cat "$tmp/out" "$tmp/err")"
  fi
}
command=$top_builddir/cli/quoit
mkdir -p 'm/two words/deep' bin
cp hosts.yaml 'm/two words/deep/a b.yaml'
cp "$good" m/good.yaml
if [ -z "$python" ] || ! bash -c 'shopt -s globstar && declare -A a' 2>/dev/null; then
  skip "no python3 or no bash for the action"
else
  act 3 "the action finds errors below a folder" quoit="$command" files='m/**/*.yaml' sarif=out.sarif
  out "the action prints workflow commands" "::error file=m/two words/deep/a b.yaml,line=$line,"
  holds "the action checks each file once" test "$(grep -c '^::error' "$tmp/out")" -eq 1
  holds "the action writes the log" "$python" -c "$valid" out.sarif
  act 0 "the action accepts valid files" quoit="$command" files='m/good.yaml'
  act 0 "the action sets variables" quoit="$command" files='variable.yaml' set='HOSTS=4' strict=true
  holds "a set variable leaves no finding" test "$(grep -c '^::' "$tmp/out")" -eq 0
  act 0 "warnings pass the action" quoit="$command" files='warned.yaml'
  act 3 "strict makes warnings fail the action" quoit="$command" files='warned.yaml' strict=true
  act 2 "a pattern without files fails the action" quoit="$command" files='none/*.yaml'
  out "the pattern is named" "::error title=quoit::input files 'none/*.yaml': expected a pattern that matches a file"
  act 2 "an empty list of files fails the action" quoit="$command" files=' '
  act 2 "a wrong strict fails the action" quoit="$command" files=hosts.yaml strict=yes
  out "the value of strict is named" "input strict 'yes': expected true or false"
  act 4 "a missing file fails the action" quoit="$command" files='missing.yaml'
  act 1 "a wrong command fails the action" quoit=/nonexistent files=hosts.yaml
  out "the wrong command is named" "input quoit '/nonexistent': expected a command that prints its version"
  printf '#!/bin/sh\nexec "%s" "$@"\n' "$command" >bin/quoit
  chmod +x bin/quoit
  (PATH=$tmp/bin:$PATH && failed=0 && act 3 "the action uses the quoit on the path" files=hosts.yaml && [ "$failed" -eq 0 ])
  holds "the action uses the quoit on the path" test $? -eq 0

  # Without a quoit, the action builds its own source by ./dev, as root.
  mkdir -p source/contrib tools
  cp -R "$top_srcdir/contrib/github-action" source/contrib
  printf '#!/bin/sh\ncd "$(dirname "$0")" && mkdir -p build/cli && cp "%s" build/cli/quoit && echo "built: $*"\n' "$tmp/bin/quoit" >source/dev
  printf '#!/bin/sh\nexec "$@"\n' >tools/sudo
  chmod +x source/dev tools/sudo
  (PATH=$tmp/tools:/usr/bin:/bin "$python" "$top_srcdir/tests/cli/run-action.py" source/contrib/github-action files=hosts.yaml >"$tmp/out" 2>&1)
  holds "the action checks with the command that it has built" test $? -eq 3
  out "the action builds its source" "built: build"
  out "the built command finds the error" "::error file=hosts.yaml,line=$line,"
fi

# --- the hook for pre-commit, whose entry gets the names of the changed files
entry=$(sed -n 's/^  entry: //p' "$top_srcdir/.pre-commit-hooks.yaml")
hook ()
{
  (PATH=$tmp/bin:$PATH && sh -c "$entry \"\$@\"" hook "$@") >"$tmp/out" 2>"$tmp/err"
}
printf '#!/bin/sh\nexec "%s" "$@"\n' "$command" >bin/quoit
chmod +x bin/quoit
holds "the hook accepts valid files" hook m/good.yaml
hook m/good.yaml hosts.yaml
holds "the hook refuses wrong files" test $? -eq 3
out "the hook prints the findings" "hosts.yaml:$line: error: numOfHosts '3'"

finish

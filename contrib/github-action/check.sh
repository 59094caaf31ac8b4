#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the hook with the real pre-commit, the log of -o sarif with the published schema, and the action with a full YAML
# parser. The packages are those of tests/requirements-hooks.txt.
. "$top_srcdir/tests/cli/lib.sh"
unset QUOIT_DB
cd "$tmp" || exit 1
command -v git >/dev/null || {
  skip "no git"
  finish
}
wheels=$(sh "$top_srcdir/tests/wheels.sh" "$top_srcdir/tests/requirements-hooks.txt") || {
  skip "the packages of tests/requirements-hooks.txt cannot be installed"
  finish
}
home=$HOME
export HOME="$tmp" PRE_COMMIT_HOME="$tmp/pre-commit" GIT_CONFIG_NOSYSTEM=1
mkdir bin
printf '#!/bin/sh\nexec "%s/cli/quoit" "$@"\n' "$top_builddir" >bin/quoit
chmod +x bin/quoit
PATH=$tmp/bin:$PATH
git config --global user.name test
git config --global user.email test@example.com
git config --global init.defaultBranch main

# --- pre-commit clones the repository with the hook at a revision
mkdir hooks user
cp "$top_srcdir/.pre-commit-hooks.yaml" hooks
(cd hooks && git init -q && git add -A && git commit -q -m hooks)
cd user || exit 1
git init -q
printf 'repos:\n- repo: %s\n  rev: %s\n  hooks:\n  - id: quoit-check\n' "$tmp/hooks" "$(git -C "$tmp/hooks" rev-parse HEAD)" >.pre-commit-config.yaml
cp "$two_slices" good.yaml
printf 'no manifest\n' >text.txt
git add -A
hook ()
{
  "$wheels/bin/python" -m pre_commit run --all-files --color never >"$tmp/out" 2>"$tmp/err"
}
holds "pre-commit runs the hook on valid manifests" hook
out "the hook has passed" "quoit check"
out "the hook was not skipped" "Passed"
sed 's/numOfHosts: 4/numOfHosts: 3/' "$two_slices" >bad.yaml
git add -A
hook
holds "pre-commit fails on a wrong manifest" test $? -eq 1
out "the findings are printed" "error: numOfHosts '3': expected 4"
holds "text files are not checked" test "$(grep -c text.txt "$tmp/out")" -eq 0
holds "pre-commit accepts the file of hooks" "$wheels/bin/python" -m pre_commit validate-manifest "$top_srcdir/.pre-commit-hooks.yaml"

# --- the published schema of SARIF 2.1.0, which a Go module contains as the text of a constant
module=github.com/owenrumney/go-sarif/v3@v3.3.1
valid='import json, re, sys
import jsonschema
source = open(sys.argv[2] + "/pkg/report/v210/sarif/schema.go", encoding="utf-8").read()
schema = json.loads(re.search(r"const schema = `(.*)`", source, re.DOTALL)[1])
assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/"), schema["id"]
log = json.load(open(sys.argv[1], encoding="utf-8"))
jsonschema.validate(log, schema)
log["runs"][0]["results"].append({})
try:
    jsonschema.validate(log, schema)
except jsonschema.ValidationError:
    sys.exit(0)
sys.exit("the schema accepts anything")'
folder=
if command -v go >/dev/null; then
  folder=$(cd "$tmp" && GOTOOLCHAIN=local GOFLAGS=-mod=mod GOWORK=off HOME="$home" go mod download -json "$module" | sed -n 's/^.*"Dir": "\(.*\)".*/\1/p') || :
fi
printf 'spec: [\n' >broken.yaml
printf 'ici_fdsp_parallelism: 4\n' >mine.yml
if [ -z "$folder" ]; then
  skip "the Go module with the schema of SARIF cannot be downloaded"
else
  ok 4 "files with findings and a missing file are checked" check manifest -o sarif good.yaml bad.yaml broken.yaml missing.yaml
  holds "the log of manifests follows the schema" "$wheels/bin/python" -c "$valid" "$tmp/out" "$folder"
  ok 3 "settings are checked" check train --accelerator v6e --topology 4x4 -o sarif --config mine.yml mine.yml ici_x=1
  holds "the log of settings follows the schema" "$wheels/bin/python" -c "$valid" "$tmp/out" "$folder"
fi

# --- the action
holds "a YAML parser reads the action as the hermetic test does" "$wheels/bin/python" -c 'import importlib.util, sys
import yaml
spec = importlib.util.spec_from_file_location("run_action", sys.argv[1])
run_action = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_action)
ours = run_action.read(sys.argv[2])
ours["runs"]["steps"] = ours["runs"]["steps"]["items"]
theirs = yaml.load(open(sys.argv[2], encoding="utf-8"), yaml.BaseLoader)
assert ours == theirs, (ours, theirs)' "$top_srcdir/tests/cli/run-action.py" "$top_srcdir/contrib/github-action/action.yml"

finish

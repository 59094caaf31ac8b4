#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Untrusted text: what a manifest says comes back byte for byte through `-o env` and a shell, runs nothing on its way, and
# reaches no terminal as it is.
. "$top_srcdir/tests/cli/lib.sh"
fresh

cat >"$tmp/hostile.yaml" <<'MANIFEST'
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: hostile
spec:
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: [{name: head, resources: {limits: {cpu: "1", memory: 1Gi}}}]}}
  workerGroupSpecs:
  - groupName: g
    replicas: 1
    numOfHosts: 1
    rayStartParams: {}
    template:
      spec:
        nodeSelector:
          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
          cloud.google.com/gke-tpu-topology: 2x2
        containers:
        - name: w
          resources: {limits: {cpu: "1", memory: 1Gi, google.com/tpu: 4}}
          env:
          - {name: A_QUOTE, value: "it's '' it"}
          - {name: A_COMMAND, value: "$(touch ran) `touch ran` ; touch ran"}
          - {name: A_NEWLINE, value: "one\ntwo\n\nfour"}
          - {name: A_CONTROL, value: "\e[31mred\a\x01"}
          - {name: A_BACKSLASH, value: "\\n \\ $HOME ~ * ? [a]"}
          - {name: A_BLANK, value: "  two  blanks  "}
          - {name: AN_ACCENT, value: "Zürich → 東京"}
          - {name: EMPTY, value: ""}
          - {name: not.a-name, value: "x"}
MANIFEST
ok 0 "a hostile manifest is read" import raycluster "$tmp/hostile.yaml" --now "$now"
ok 0 "and its slice reserved" reserve 'a$(touch ran)' --topology 2x2 --accelerator v6e --slices 1 --now "$now"
group='a$(touch ran)'

mkdir "$tmp/here"
ok 0 "its environment" env "$group" -o env
cp "$tmp/out" "$tmp/env"
err "without what no shell can name" "warning: 'not.a-name' is left out"

# value NAME: what a shell has in NAME after reading the lines; the dot keeps newlines at the end.
value ()
{
  (cd "$tmp/here" && env -i PATH="$PATH" sh -c '. "$1"; eval "printf %s. \"\$$2\""' sh "$tmp/env" "$1")
}
same ()
{
  holds "$1 comes back byte for byte" test "$(value "$1")" = "$2."
}
same A_QUOTE "it's '' it"
same A_COMMAND '$(touch ran) `touch ran` ; touch ran'
same A_NEWLINE 'one
two

four'
same A_CONTROL "$(printf '\033[31mred\007\001')"
same A_BACKSLASH '\n \ $HOME ~ * ? [a]'
same A_BLANK '  two  blanks  '
same AN_ACCENT 'Zürich → 東京'
same EMPTY ''
same TPU_WORKER_ID 0
holds "and nothing ran" test -z "$(ls "$tmp/here")"

ok 0 "JSON has all of it" env "$group" -o json
fact "also the name that is none" 'd["processes"][0]["environment"]["not.a-name"]' x
fact "and the control bytes" 'd["processes"][0]["environment"]["A_CONTROL"] == "\x1b[31mred\x07\x01"' True

# clean SENTENCE: no control byte but the newline is in the last run's output.
clean ()
{
  holds "$1 has no control bytes" test -z "$(tr -d '\n\040-\176\200-\377' <"$tmp/out")"
}
ok 0 "the table form" env "$group"
clean "env"
out "escapes" '\x1b[31mred\x07\x01'
ok 0 "status" status
clean "status"
ok 0 "groups" groups
clean "groups"
out "the name is text" 'a$(touch ran)'

# In the C locale no byte beyond ASCII reaches the terminal; in UTF-8 the letters do, and what turns them around does not.
fresh 'v6e 2x2 x1'
ok 0 "a name that is not ASCII" reserve 'Zürich' --topology 2x2 --accelerator v6e --slices 1 --now "$now"
out "is escaped in the C locale" 'Z\xc3\xbcrich@1'
if locale -a 2>/dev/null | grep -qix 'c.utf-\{0,1\}8'; then
  LC_ALL=C.UTF-8 quoit groups >"$tmp/out"
  out "and is itself in a UTF-8 locale" 'Zürich@1'
else
  skip "no UTF-8 locale"
fi
baseline
refused 4 "an error escapes what one typed" '\x1b[31m' show "$(printf 'x\033[31m\r\n')"
refused 3 "and what turns the writing around" '\u{202e}' reserve "$(printf 'x\342\200\256y')" --topology 2x2 \
  --accelerator v6e --slices 1 --now "$now"

finish

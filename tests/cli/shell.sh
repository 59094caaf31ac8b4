#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Untrusted text: a manifest's text comes back byte for byte through `-o env` and a shell, executes nothing on its way,
# and reaches no terminal unescaped.
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
          - {name: LD_PRELOAD, value: /tmp/evil.so}
          - {name: PATH, value: /tmp/evil}
          - {name: BASH_ENV, value: /tmp/evil.sh}
          - {name: ENV, value: /tmp/evil.sh}
          - {name: IFS, value: T}
          - {name: PROMPT_COMMAND, value: touch ran}
          - {name: PS4, value: $(touch ran)}
          - {name: TPU, value: "of no family"}
          - {name: UID, value: "7"}
          - {name: SHELLOPTS, value: "7"}
          - {name: PPID, value: "7"}
          - {name: OPTIND, value: x}
          - {name: XLA_FLAGS, value: --a --b}
          - {name: LIBTPU_INIT_ARGS, value: --c}
          - {name: ZZ_LAST, value: end}
MANIFEST
ok 0 "a manifest with hostile names is imported" import raycluster "$tmp/hostile.yaml" --now "$now"
ok 0 "a slice of the hostile manifest is reserved" reserve 'a$(touch ran)' --topology 2x2 --accelerator v6e --slices 1 --now "$now"
group='a$(touch ran)'

mkdir "$tmp/here"
ok 0 "env -o env prints a hostile environment" env "$group" -o env
holds "env -o env prints only variables of TPU jobs" test "$(grep -cvE '^(LIBTPU|TPU|XLA)_[A-Z_]+=' "$tmp/out")" = 0
for name in LIBTPU_INIT_ARGS TPU_WORKER_ID XLA_FLAGS; do
  out "env -o env prints $name" "$name='"
done
err "a note names the omitted variables" "note: 'AN_ACCENT', 'A_BACKSLASH', 'A_BLANK', 'A_COMMAND'"
err "the note counts further omitted variables" " more left out: not a variable for TPU jobs; --all-variables writes it"
err "a warning names variables with invalid names" "warning: 'not.a-name' left out: not a valid name in a shell"
err "a warning names variables that are read-only in shells" "warning: 'OPTIND', 'PPID', 'SHELLOPTS', 'UID' left out: a shell does not allow setting it"
ok 0 "env prints a hostile environment as text" env "$group"
out "omitted variables are comments" "# only with --all-variables: LD_PRELOAD='/tmp/evil.so'"
out "read-only variables are comments" "# read-only in a shell: UID='7'"
out "variables with invalid names are comments" "# invalid name in a shell: not.a-name='x'"
holds "no omitted variable is evaluated" test "$(grep -cE '^(LD_PRELOAD|PATH|BASH_ENV|ENV|IFS|PROMPT_COMMAND|PS4|TPU)=' "$tmp/out")" = 0
baseline
refused 2 "--all-variables with a manifest" "--all-variables cannot be combined with --manifest" env --manifest "$tmp/hostile.yaml" --all-variables
ok 0 "env --all-variables succeeds" env "$group" -o env --all-variables
cp "$tmp/out" "$tmp/env"
err "--all-variables omits invalid names with a warning" "warning: 'not.a-name' left out"
holds "--all-variables prints no note" test "$(grep -c note "$tmp/err")" = 0
for shell in sh bash dash; do
  if command -v "$shell" >/dev/null; then
    got=$(env -i "$(command -v "$shell")" -c 'eval "$1"; echo "$ZZ_LAST $TPU_WORKER_ID"' x "$(cat "$tmp/env")" 2>&1)
    holds "$shell evaluates all lines: '$got'" test "$got" = "end 0"
  fi
done
grep -vE '^(PATH|LD_PRELOAD|IFS)=' "$tmp/out" >"$tmp/env"

# value NAME: the value of NAME in a shell that has read the lines. The dot keeps newlines at the end.
value ()
{
  (cd "$tmp/here" && env -i PATH="$PATH" sh -c '. "$1"; eval "printf %s. \"\$$2\""' sh "$tmp/env" "$1")
}
same ()
{
  holds "the shell reads $1 byte for byte" test "$(value "$1")" = "$2."
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
holds "no command in a value was executed" test -z "$(ls "$tmp/here")"

ok 0 "env -o json prints a hostile environment" env "$group" -o json
fact "JSON has the variable with an invalid name" 'd["processes"][0]["environment"]["not.a-name"]' x
fact "JSON has the original control bytes" 'd["processes"][0]["environment"]["A_CONTROL"] == "\x1b[31mred\x07\x01"' True

# clean SENTENCE: the last run's output has no control character except newlines.
clean ()
{
  holds "the output of $1 has no control bytes" test -z "$(tr -d '\n\040-\176\200-\377' <"$tmp/out")"
}
ok 0 "env prints a table of a hostile environment" env "$group"
clean "env"
out "env escapes control bytes" '\x1b[31mred\x07\x01'
ok 0 "status prints hostile names" status
clean "status"
ok 0 "groups prints hostile names" groups
clean "groups"
out "the hostile group name is printed as text" 'a$(touch ran)'

# In the C locale only ASCII reaches the terminal. In UTF-8 letters do, but bidirectional controls do not.
fresh 'v6e 2x2 x1'
ok 0 "a name with non-ASCII letters is reserved" reserve 'Zürich' --topology 2x2 --accelerator v6e --slices 1 --now "$now"
out "non-ASCII letters are escaped in the C locale" 'Z\xc3\xbcrich@1'
if locale -a 2>/dev/null | grep -qix 'c.utf-\{0,1\}8'; then
  LC_ALL=C.UTF-8 quoit groups >"$tmp/out"
  out "non-ASCII letters are printed in a UTF-8 locale" 'Zürich@1'
else
  skip "no UTF-8 locale"
fi
baseline
refused 4 "name with control bytes" '\x1b[31m' show "$(printf 'x\033[31m\r\n')"
refused 3 "name with a bidirectional control character" '\u{202e}' reserve "$(printf 'x\342\200\256y')" --topology 2x2 \
  --accelerator v6e --slices 1 --now "$now"

finish

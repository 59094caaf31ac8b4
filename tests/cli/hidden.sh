#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No output has invisible characters or bidirectional controls, in any form and for any verb. JSON keeps them as
# escapes.
. "$top_srcdir/tests/cli/lib.sh"
if [ -z "$python" ]; then
  skip "hidden characters: no python3"
  finish
fi

# C0, DEL and C1 characters; bidirectional controls; line separators; characters without width; a tag beyond the first
# plane.
cat >"$tmp/names.py" <<'PYTHON'
import json
hidden = [0x1, 0x1f, 0x7f, *range(0x80, 0xa0), 0x61c, 0x200b, 0x200e, 0x200f, *range(0x2028, 0x202f), 0x2060, *range(0x2066, 0x206a),
          0xfeff, 0xe0041]
name = "a" + "".join(chr(c) + "-" for c in hidden) + "\u00fcz"
if __name__ == "__main__":
    print(json.dumps([{
        "NodeID": f"{i:056x}", "Alive": True, "NodeManagerAddress": f"192.0.2.{i + 1}", "NodeName": name + str(i),
        "NodeManagerHostname": name + str(i),
        "Resources": {"CPU": 2.0, "TPU": 4.0, "memory": 1024.0, "TPU-v6e-4-head": 1.0, name: 3.0},
        "Labels": {"ray.io/node-id": f"{i:056x}", "ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "s" + str(i),
                   "ray.io/tpu-pod-type": "v6e-4", "ray.io/tpu-topology": "2x2", "ray.io/tpu-worker-id": "0"},
    } for i in range(3)], ensure_ascii=False))
PYTHON
cat >"$tmp/check.py" <<'PYTHON'
"""check.py FILE FORM: no hidden character is in it; a name in JSON is the same when it is read."""
import json, sys, unicodedata
from names import name

def texts(value):
    if isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from texts(v)
    elif isinstance(value, list):
        for v in value:
            yield from texts(v)
    elif isinstance(value, str):
        yield value

text = open(sys.argv[1], encoding="utf-8", newline="").read()
found = sorted({f"U+{ord(c):04X}" for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")})
if found:
    sys.exit(f"found {found}")
if sys.argv[2] == "json" and not any(name in t for t in texts(json.loads(text))):
    sys.exit("the name is another one")
PYTHON
PYTHONIOENCODING=utf-8 "$python" "$tmp/names.py" >"$tmp/nodes.json"
node=$(PYTHONIOENCODING=utf-8 PYTHONPATH=$tmp "$python" -c 'from names import name; print(name, end="")')

# shown FORM WORD...: the output of quoit WORD... has no hidden characters. If FORM is "json", the output is JSON that
# has the node name unchanged.
shown ()
{
  form=$1
  shift
  for locale in C C.UTF-8; do
    LC_ALL=$locale
    export LC_ALL
    run "$@"
    LC_ALL=C
    holds "$1 $form, $locale: something is printed" test -s "$tmp/out"
    for file in out err; do
      holds "$1 $form, $locale: std$file has no hidden characters" env PYTHONPATH="$tmp" "$python" "$tmp/check.py" "$tmp/$file" \
        "$([ "$file" = out ] && echo "$form")"
    done
  done
}

fresh
ok 0 "nodes with hidden characters are imported" import ray-nodes "$tmp/nodes.json" --now "$now"
ok 0 "a group of slices is reserved" reserve g --topology 2x2 --accelerator v6e --slices 1 --now "$now"
ok 0 "a group of bundles is reserved" reserve b --bundle TPU=2 --now "$now"
shown text nodes
shown json nodes -o json
shown text nodes -o csv
shown text journal -o json
shown text journal -o csv
for name in g b "${node}0" s0; do
  shown text show "$name"
  shown json show "$name" -o json
  shown text show "$name" -o csv
done
shown text status
shown json status -o json
shown text status --format ray -v
shown text env g
shown json env g -o json
shown text map
shown json map -o json
shown text map --svg /dev/stdout
shown text report
shown json export json
shown json export jgf
shown text export dot
shown json who-holds "${node}0" -o json
shown errors show "$node" -o json
shown errors who-holds "$node" -o json
ok 0 "export dot succeeds" export dot
out "hidden characters are escaped as in tables" '\\xc2\\x85-'
out "letters are printed as they are" 'üz'
finish

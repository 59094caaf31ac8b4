#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job under valgrind: no read of uninitialised memory, and no leak.
. "$top_srcdir/tests/cli/lib.sh"
[ -z "$SANITIZER_FLAGS" ] || { echo "the sanitizers look already"; exit 77; }
command -v "$VALGRIND" >/dev/null && [ "$VALGRIND" != : ] || { echo "valgrind is not installed"; exit 77; }

quoit ()
{
  "$top_builddir/libtool" --mode=execute "$VALGRIND" -q --error-exitcode=99 --leak-check=full \
    --errors-for-leak-kinds=definite "$top_builddir/cli/quoit" "$@"
}

ok 0 "init creates a database" init
ok 0 "a manifest is imported" import raycluster "$two_slices" --now "$now"
ok 0 "both slices are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --key job-17 --now "$now"
ok 5 "a third slice is not free" reserve more --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "env prints the environment of the workers" env train -o json
ok 0 "mesh prints the mesh of the group" mesh train --axes data=2,fsdp=16 --dcn data=2
ok 0 "mesh --suggest prints choices" mesh train --axes data=2,fsdp=16 --suggest -o json
ok 3 "a mesh that does not fit exits with 3" mesh train --axes data=2,fsdp=17 --dcn data=2
ok 0 "set-state marks a host dead" set-state tpu-group-0-1 dead --now "$now"
ok 0 "slots prints the free slices" slots -o json
ok 0 "who-holds prints the group of a node" who-holds tpu-group-0-1
ok 0 "map --svg writes a picture" map train --svg "$tmp/train.svg"
ok 0 "map prints JSON" map -o json
ok 0 "the group is released" release train --now "$now"
ok 0 "journal succeeds" journal
ok 0 "export json succeeds" export json
ok 0 "backup succeeds" backup "$tmp/copy.db"
ok 0 "verify succeeds" verify
printf '[{"NodeID": "a", "Ali' >"$tmp/bad"
ok 3 "a truncated file exits with 3" import ray-nodes "$tmp/bad" --now "$now"
ok 2 "a missing option exits with 2" reserve --slices 0
finish

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

ok 0 "a database is made" init
ok 0 "a manifest is imported" import raycluster "$two_slices" --now "$now"
ok 0 "both slices are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --key job-17 --now "$now"
ok 5 "one more is refused" reserve more --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "what the workers need is printed" env train -o json
ok 0 "the mesh of it" mesh train --axes data=2,fsdp=16 --dcn data=2
ok 0 "the meshes that it could be" mesh train --axes data=2,fsdp=16 --suggest -o json
ok 3 "one that it cannot be" mesh train --axes data=2,fsdp=17 --dcn data=2
ok 0 "a host dies" set-state tpu-group-0-1 dead --now "$now"
ok 0 "what is free" slots -o json
ok 0 "who holds it" who-holds tpu-group-0-1
ok 0 "a picture of it" map train --svg "$tmp/train.svg"
ok 0 "and the facts of it" map -o json
ok 0 "the group is released" release train --now "$now"
ok 0 "the journal" journal
ok 0 "all of it" export json
ok 0 "a copy" backup "$tmp/copy.db"
ok 0 "nothing was lost" verify
printf '[{"NodeID": "a", "Ali' >"$tmp/bad"
ok 3 "a broken file" import ray-nodes "$tmp/bad" --now "$now"
ok 2 "a wrong option" reserve --slices 0
finish

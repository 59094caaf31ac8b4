#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The environments of the pods that a manifest will make: quoit env --manifest.
. "$top_srcdir/tests/cli/lib.sh"

# value NAME: an expression for that variable of the first pod.
value ()
{
  printf '[v["value"] for v in d["pods"][0]["variables"] if v["name"] == "%s"]' "$1"
}

ok 0 "the example is shown" env --manifest "$two_slices" -o json
json "in JSON"
fact "its pods" 'len(d["pods"]), d["cluster"], d["service"], d["problems"], d["assumed"]' "(8, 'two-slices', 'two-slices-headless', [], [])"
fact "with their indices" '[(p["replica"], p["host"]) for p in d["pods"]] == [(r, h) for r in range(2) for h in range(4)]' True
fact "and host names" '[p["hostname"] for p in d["pods"]][3:5]' "['tpu-group-0-3', 'tpu-group-1-0']"
ok 0 "one pod can be chosen" env --manifest "$two_slices" --group tpu-group --slice-id 1 --worker 2 -o json
fact "with its labels" 'd["pods"][0]["labels"]["ray.io/worker-group-replica-name"]' "tpu-group-<1>"
fact "its worker id" "$(value TPU_WORKER_ID)" "['2']"
fact "its slice" "$(value MEGASCALE_SLICE_ID)" "['1']"
fact "and the coordinator" "$(value MEGASCALE_COORDINATOR_ADDRESS)" "['tpu-group-0-0.two-slices-headless']"
ok 0 "people have lines" env --manifest "$two_slices" --slice-id 0 --worker 0
out "with the pod" "replica 0, host 0, hostname tpu-group-0-0, subdomain two-slices-headless"
out "and what a shell reads" "TPU_NAME='tpu-group-0'"
holds "no database was made" test ! -e "$QUOIT_DB"

ok 0 "a host fails" env --manifest "$two_slices" --then fail=0.2 -o json
fact "its replica goes and comes back in one pass" \
  '[(p["pass"], p["change"], p["replica"], p["n_pods"], p["incarnation"]) for p in d["passes"]]' \
  "[(1, 'deleted', 0, 4, 0), (1, 'created', 0, 4, 2)]"
ok 0 "a node is lost" env --manifest "$two_slices" --then lose=1.0 -o json
fact "the rest goes, and the next pass makes another" \
  '[(p["pass"], p["change"], p["replica"], p["n_pods"]) for p in d["passes"]]' "[(1, 'deleted', 1, 3), (2, 'created', 1, 4)]"
ok 0 "the group shrinks and grows" env --manifest "$two_slices" --then replicas=1 --then replicas=3 -o json
fact "by one of which nobody says which" '[(p["step"], p["replica"], p["is_arbitrary"]) for p in d["passes"]]' \
  "[('replicas=1', 1, True), ('replicas=3', 1, False), ('replicas=3', 2, False)]"
ok 0 "a container restarts" env --manifest "$two_slices" --then restart=0.0 -o json
fact "and nothing happens" '[p["change"] for p in d["passes"]]' "['none']"
ok 0 "it is suspended and resumed" env --manifest "$two_slices" --then suspend --then resume -o json
fact "all go and come" '[p["n_pods"] for p in d["passes"]]' "[4, 4, 4, 4]"
sed 's/^spec:/&\n  enableInTreeAutoscaling: true/' "$two_slices" >"$tmp/scaled.yaml"
ok 0 "with an autoscaler" env --manifest "$tmp/scaled.yaml" --then replicas=1 --then delete=0.1 -o json
fact "nothing goes before that names it" '[(p["step"], p["change"], p["replica"]) for p in d["passes"]]' \
  "[('replicas=1', 'none', None), ('delete=0.1', 'deleted', 0)]"

sed 's/^  name: two-slices/  name: a-cluster-name-of-two-and-forty-bytes-in-all/' "$two_slices" >"$tmp/long.yaml"
ok 3 "a long name of the cluster is shown, and is no success" env --manifest "$tmp/long.yaml" -o json
fact "with the service that there is" 'd["service"]' a-cluster-name-of-two-and-forty-bytes-in-all-headless
fact "that the hosts are told another" 'd["pods"][0]["subdomain"]' luster-name-of-two-and-forty-bytes-in-all-headless
fact "and what would help" '[(p["rule"], "expected at most 41 bytes" in p["message"]) for p in d["problems"]]' "[('names', True)]"
err "people are warned" "quoit: env: warning: cluster 'a-cluster-name"
sed 's/groupName: tpu-group/groupName: a-group-whose-name-is-so-long-that-no-host-is-called-after-it/' "$two_slices" >"$tmp/group.yaml"
ok 3 "so is one of a group" env --manifest "$tmp/group.yaml"
err "with how much shorter it must be" "a groupName shorter by"


sed 's/numOfHosts: 4/numOfHosts: 5/' "$two_slices" >"$tmp/denied.yaml"
ok 3 "what the webhook denies is shown, and is no success" env --manifest "$tmp/denied.yaml" -o json
fact "with the group, the code and the reason" \
  '[(p["rule"], p["group"], p["code"], p["message"].split(": ")[-1]) for p in d["problems"]]' \
  "[('denied', 'tpu-group', 'INVALID', 'Number of workers in worker group not equal to specified topology')]"
fact "and the pods that there would have been" 'len(d["pods"])' 10
err "people are warned" "quoit: env: warning: group 'tpu-group', numOfHosts '5': the TPU webhook denies the cluster"
ok 3 "in words" env --manifest "$tmp/denied.yaml"
out "it stands above the pods" "# group 'tpu-group', numOfHosts '5': the TPU webhook denies the cluster, and no pod of it is made"
ok 3 "nothing happens to pods that are not made" env --manifest "$tmp/denied.yaml" --then fail=0.0 -o json
fact "which is said there too" '[p["rule"] for p in d["problems"]]' "['denied']"
sed 's/numOfHosts: 4/numOfHosts: 0/' "$two_slices" >"$tmp/hostless.yaml"
ok 3 "nor is what it refuses" env --manifest "$tmp/hostless.yaml" -o json
fact "for what it says" '[(p["rule"], p["message"].split(": ", 2)[-1]) for p in d["problems"]]' \
  "[('refused', \"numOfHosts '0': expected the hosts of a slice\")]"

sed 's/kind: RayCluster/kind: RayJob/; s/^spec:/spec:\n  rayClusterSpec:/; /^  headGroupSpec/,$s/^/  /' "$two_slices" >"$tmp/job.yaml"
ok 0 "the cluster of a job has a name that is assumed" env --manifest "$tmp/job.yaml" -o json
fact "and with it that of the service" 'd["cluster"], d["service"], d["assumed"]' \
  "('two-slices-xxxxx', 'two-slices-xxxxx-headless', ['cluster', 'service'])"
fact "with the limit that follows" '"metadata.name has at most 35 bytes" in d["note"]' True
ok 0 "people read it" env --manifest "$tmp/job.yaml"
out "above the pods" "# the name of the cluster is assumed: KubeRay puts five random characters in place of 'xxxxx'"
sed 's/^  name: two-slices/  name: a-job-whose-name-has-thirty-six-byte/' "$tmp/job.yaml" >"$tmp/job-long.yaml"
ok 3 "a longer one is not right whatever KubeRay puts there" env --manifest "$tmp/job-long.yaml"
err "as is said with the limit" "expected at most 35 bytes before the end that KubeRay gives it"
sed 's/name-has-thirty-six-byte/name-has-thirty-five-byt/' "$tmp/job-long.yaml" | sed 's/-byt$/-by/' >"$tmp/job-just.yaml"
ok 0 "one of that many bytes is" env --manifest "$tmp/job-just.yaml"
printf 'status:\n  rayClusterName: two-slices-k2vqx\n' | cat "$tmp/job.yaml" - >"$tmp/job-read.yaml"
ok 0 "one that was read back has its name" env --manifest "$tmp/job-read.yaml" -o json
fact "and nothing is assumed" 'd["cluster"], d["assumed"], d["note"]' "('two-slices-k2vqx', [], None)"

# own NAME VALUE...: the example with these variables added to its container.
own ()
{
  cp "$two_slices" "$tmp/own.yaml"
  while [ $# -gt 0 ]; do
    sed "s/^          - name: JAX_PLATFORMS/          - {name: $1, value: '$2'}\n&/" "$tmp/own.yaml" >"$tmp/own"
    mv "$tmp/own" "$tmp/own.yaml"
    shift 2
  done
}

# seen NAME: the value of the variable in a process of host 2 of the first slice, its origin, and the value in the
# manifest.
seen ()
{
  printf '[(v["value"], v["set_by"], v["manifest_value"]) for v in d["pods"][2]["variables"] if v["name"] == "%s"]' "$1"
}

ok 0 "what a container brings is shown" env --manifest "$two_slices" -o json
fact "as it brings it" "$(seen MEGASCALE_PORT)" "[('9915', 'manifest', None)]"
fact "JAX's too" "$(seen JAX_PLATFORMS)" "[('tpu,cpu', 'manifest', None)]"
own TPU_WORKER_ID 7 TPU_NAME mine TPU_WORKER_HOSTNAMES localhost
ok 0 "the webhook leaves values alone" env --manifest "$tmp/own.yaml" -o json
fact "also a wrong worker id" "$(seen TPU_WORKER_ID)" "[('7', 'manifest', None)]"
fact "and a name" "$(seen TPU_NAME)" "[('mine', 'manifest', None)]"
fact "but not that of the device plugin" "$(seen TPU_WORKER_HOSTNAMES).__getitem__(0)[1:]" "('webhook', 'localhost')"
ok 0 "people see both" env --manifest "$tmp/own.yaml" --slice-id 0 --worker 2
out "with what was there" "# instead of 'localhost' of the manifest:"
own TPU_WORKER_ID 0
ok 0 "a number that the device plugin would give is replaced" env --manifest "$tmp/own.yaml" -o json
fact "in every host but the first" "$(seen TPU_WORKER_ID)" "[('2', 'webhook', '0')]"
own TPU_WORKER_ID 5 TPU_WORKER_ID 6
ok 0 "of two of a name a process has the last" env --manifest "$tmp/own.yaml" -o json
fact "though the webhook looks at the first" "$(seen TPU_WORKER_ID)" "[('6', 'manifest', None)]"
own SECRET of-the-job RAY_DEDUP_LOGS 0
ok 0 "what is no matter of TPUs" env --manifest "$tmp/own.yaml" -o json
fact "is left out" "$(seen SECRET)" "[]"
fact "unlike what is Ray's" "$(seen RAY_DEDUP_LOGS)" "[('0', 'manifest', None)]"

refused 2 "a manifest or a group" "expected the arguments: GROUP | --manifest FILE" env
refused 2 "and not both" "expected the arguments: GROUP | --manifest FILE" env g --manifest "$two_slices"
refused 2 "a group has no steps" "--then: expected it with --manifest alone" env g --then suspend
refused 2 "a manifest no profile" "--profile: expected it without --manifest alone" env --manifest "$two_slices" --profile quoit
refused 2 "a shell cannot know all of a pod" "-o env: expected it without --manifest" env --manifest "$two_slices" -o env
refused 2 "a step is one that there is" "--then 'explode=1': expected fail=REPLICA.HOST" env --manifest "$two_slices" --then explode=1
refused 2 "of a place" "--then 'fail=0.x'" env --manifest "$two_slices" --then fail=0.x
refused 4 "with a pod in it" "--then 'fail=7.0': expected a pod that is there" env --manifest "$two_slices" --then fail=7.0
refused 4 "a group must be there" "--group 'x'|tpu-group" env --manifest "$two_slices" --group x
refused 4 "and a replica" "--slice-id, --worker" env --manifest "$two_slices" --slice-id 9
refused 4 "and a file" "nothing.yaml" env --manifest "$tmp/nothing.yaml"
printf 'kind: RayCluster\nmetadata: {name: c}\nspec: {workerGroupSpecs: [{groupName: g, numOfHosts: 0x2}]}\n' >"$tmp/bad.yaml"
refused 3 "what is wrong has its place" "bad.yaml: line 3: spec.workerGroupSpecs[0].numOfHosts" env --manifest "$tmp/bad.yaml"
grep -v gke-tpu-topology "$two_slices" >"$tmp/shapeless.yaml"
refused 3 "nor what the webhook would refuse" "group 'tpu-group': pod: expected a node selector" env --manifest "$tmp/shapeless.yaml"
sed 's/replicas: 2/replicas: 99999/' "$two_slices" >"$tmp/many.yaml"
refused 3 "nor more pods than can be shown" "expected at most 65536" env --manifest "$tmp/many.yaml"

for file in "$top_srcdir"/../shared/manifests/*.yaml; do
  [ -e "$file" ] || { skip "real manifests are not here"; break; }
  ok_or_refused=0
  quoit env --manifest "$file" -o json >"$tmp/out" 2>"$tmp/err" </dev/null || ok_or_refused=$?
  holds "$(basename "$file"): an answer or a refusal" test "$ok_or_refused" -eq 0 -o "$ok_or_refused" -eq 3
done
finish

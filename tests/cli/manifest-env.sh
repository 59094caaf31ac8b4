#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The environments of the pods that a manifest will make: quoit env --manifest.
. "$top_srcdir/tests/cli/lib.sh"

# value NAME: an expression for that variable of the first pod.
value ()
{
  printf '[v["value"] for v in d["pods"][0]["variables"] if v["name"] == "%s"]' "$1"
}

ok 0 "env --manifest prints the example" env --manifest "$two_slices" -o json
json "env --manifest prints JSON"
fact "JSON has pods, cluster and service" 'len(d["pods"]), d["cluster"], d["service"], d["problems"], d["assumed"]' "(8, 'two-slices', 'two-slices-headless', [], [])"
fact "each pod has replica and host index" '[(p["replica"], p["host"]) for p in d["pods"]] == [(r, h) for r in range(2) for h in range(4)]' True
fact "each pod has its host name" '[p["hostname"] for p in d["pods"]][3:5]' "['tpu-group-0-3', 'tpu-group-1-0']"
ok 0 "env --manifest selects one pod" env --manifest "$two_slices" --group tpu-group --slice-id 1 --worker 2 -o json
fact "the pod has its labels" 'd["pods"][0]["labels"]["ray.io/worker-group-replica-name"]' "tpu-group-<1>"
fact "the pod has its worker id" "$(value TPU_WORKER_ID)" "['2']"
fact "the pod has its slice id" "$(value MEGASCALE_SLICE_ID)" "['1']"
fact "the pod has the coordinator" "$(value MEGASCALE_COORDINATOR_ADDRESS)" "['tpu-group-0-0.two-slices-headless']"
ok 0 "env --manifest prints text" env --manifest "$two_slices" --slice-id 0 --worker 0
out "the text names the pod" "replica 0, host 0, hostname tpu-group-0-0, subdomain two-slices-headless"
out "the text has shell variables" "TPU_NAME='tpu-group-0'"
holds "env --manifest creates no database" test ! -e "$QUOIT_DB"

ok 0 "--then fail is accepted" env --manifest "$two_slices" --then fail=0.2 -o json
fact "the replica of a failed host is recreated in one pass" \
  '[(p["pass"], p["change"], p["replica"], p["n_pods"], p["incarnation"]) for p in d["passes"]]' \
  "[(1, 'deleted', 0, 4, 0), (1, 'created', 0, 4, 2)]"
ok 0 "--then lose is accepted" env --manifest "$two_slices" --then lose=1.0 -o json
fact "the rest of the replica is deleted, and recreated in the next pass" \
  '[(p["pass"], p["change"], p["replica"], p["n_pods"]) for p in d["passes"]]' "[(1, 'deleted', 1, 3), (2, 'created', 1, 4)]"
ok 0 "--then replicas is accepted" env --manifest "$two_slices" --then replicas=1 --then replicas=3 -o json
fact "the deleted replica is arbitrary" '[(p["step"], p["replica"], p["is_arbitrary"]) for p in d["passes"]]' \
  "[('replicas=1', 1, True), ('replicas=3', 1, False), ('replicas=3', 2, False)]"
ok 0 "--then restart is accepted" env --manifest "$two_slices" --then restart=0.0 -o json
fact "a restart changes nothing" '[p["change"] for p in d["passes"]]' "['none']"
ok 0 "--then suspend and resume are accepted" env --manifest "$two_slices" --then suspend --then resume -o json
fact "all pods are deleted and recreated" '[p["n_pods"] for p in d["passes"]]' "[4, 4, 4, 4]"
sed 's/^spec:/&\n  enableInTreeAutoscaling: true/' "$two_slices" >"$tmp/scaled.yaml"
ok 0 "--then delete is accepted with an autoscaler" env --manifest "$tmp/scaled.yaml" --then replicas=1 --then delete=0.1 -o json
fact "the autoscaler chooses the deleted pod" '[(p["step"], p["change"], p["replica"]) for p in d["passes"]]' \
  "[('replicas=1', 'none', None), ('delete=0.1', 'deleted', 0)]"

sed 's/^  name: two-slices/  name: a-cluster-name-of-two-and-forty-bytes-in-all/' "$two_slices" >"$tmp/long.yaml"
ok 3 "a cluster name that is too long exits with 3" env --manifest "$tmp/long.yaml" -o json
fact "JSON has the actual service name" 'd["service"]' a-cluster-name-of-two-and-forty-bytes-in-all-headless
fact "the hosts get a different subdomain" 'd["pods"][0]["subdomain"]' luster-name-of-two-and-forty-bytes-in-all-headless
fact "the problem has the limit of 41 bytes" '[(p["rule"], "expected at most 41 bytes" in p["message"]) for p in d["problems"]]' "[('names', True)]"
err "a warning names the cluster that is too long" "quoit: env: warning: cluster 'a-cluster-name"
sed 's/groupName: tpu-group/groupName: a-group-whose-name-is-so-long-that-no-host-is-called-after-it/' "$two_slices" >"$tmp/group.yaml"
ok 3 "a group name that is too long exits with 3" env --manifest "$tmp/group.yaml"
err "the warning has the required reduction" "shorten the groupName by"


sed 's/numOfHosts: 4/numOfHosts: 5/' "$two_slices" >"$tmp/denied.yaml"
ok 3 "a cluster that the webhook denies exits with 3" env --manifest "$tmp/denied.yaml" -o json
fact "the problem has group, code and reason" \
  '[(p["rule"], p["group"], p["code"], p["message"].split(": ")[-1]) for p in d["problems"]]' \
  "[('denied', 'tpu-group', 'INVALID', 'Number of workers in worker group not equal to specified topology')]"
fact "pods of a denied cluster are printed" 'len(d["pods"])' 10
err "a warning names the denied group" "quoit: env: warning: group 'tpu-group', numOfHosts '5': the TPU webhook denies the cluster"
ok 3 "a denied cluster exits with 3 as text" env --manifest "$tmp/denied.yaml"
out "the text has the denial above the pods" "# group 'tpu-group', numOfHosts '5': the TPU webhook denies the cluster, so no pods are created"
ok 3 "--then on a denied cluster exits with 3" env --manifest "$tmp/denied.yaml" --then fail=0.0 -o json
fact "the denial is the only problem" '[p["rule"] for p in d["problems"]]' "['denied']"
sed 's/numOfHosts: 4/numOfHosts: 0/' "$two_slices" >"$tmp/hostless.yaml"
ok 3 "a pod that the webhook cannot number exits with 3" env --manifest "$tmp/hostless.yaml" -o json
fact "the problem has the webhook's reason" '[(p["rule"], p["message"].split(": ", 2)[-1]) for p in d["problems"]]' \
  "[('refused', \"numOfHosts '0': expected the number of hosts of a slice\")]"

sed 's/kind: RayCluster/kind: RayJob/; s/^spec:/spec:\n  rayClusterSpec:/; /^  headGroupSpec/,$s/^/  /' "$two_slices" >"$tmp/job.yaml"
ok 0 "a job with an assumed cluster name is accepted" env --manifest "$tmp/job.yaml" -o json
fact "cluster and service name of a job are assumed" 'd["cluster"], d["service"], d["assumed"]' \
  "('two-slices-xxxxx', 'two-slices-xxxxx-headless', ['cluster', 'service'])"
fact "a note has the limit of the name" '"metadata.name has at most 35 bytes" in d["note"]' True
ok 0 "env --manifest prints text for a job" env --manifest "$tmp/job.yaml"
out "the text says that the name is assumed" "# the name of the cluster is assumed: KubeRay puts five random characters in place of 'xxxxx'"
sed 's/^  name: two-slices/  name: a-job-whose-name-has-thirty-six-byte/' "$tmp/job.yaml" >"$tmp/job-long.yaml"
ok 3 "a job name that is too long exits with 3" env --manifest "$tmp/job-long.yaml"
err "the warning has the limit for jobs" "expected at most 35 bytes before the characters that KubeRay appends"
sed 's/name-has-thirty-six-byte/name-has-thirty-five-byt/' "$tmp/job-long.yaml" | sed 's/-byt$/-by/' >"$tmp/job-just.yaml"
ok 0 "a job name of exactly the limit is accepted" env --manifest "$tmp/job-just.yaml"
printf 'status:\n  rayClusterName: two-slices-k2vqx\n' | cat "$tmp/job.yaml" - >"$tmp/job-read.yaml"
ok 0 "a job with a known cluster name is accepted" env --manifest "$tmp/job-read.yaml" -o json
fact "a known cluster name is not assumed" 'd["cluster"], d["assumed"], d["note"]' "('two-slices-k2vqx', [], None)"

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

ok 0 "env --manifest prints the variables of containers" env --manifest "$two_slices" -o json
fact "a variable of the container keeps its value" "$(seen MEGASCALE_PORT)" "[('9915', 'manifest', None)]"
fact "JAX_PLATFORMS of the container is printed" "$(seen JAX_PLATFORMS)" "[('tpu,cpu', 'manifest', None)]"
own TPU_WORKER_ID 7 TPU_NAME mine TPU_WORKER_HOSTNAMES localhost
ok 0 "a manifest with its own variables is accepted" env --manifest "$tmp/own.yaml" -o json
fact "a worker id of the manifest is kept even if it is wrong" "$(seen TPU_WORKER_ID)" "[('7', 'manifest', None)]"
fact "TPU_NAME of the manifest is kept" "$(seen TPU_NAME)" "[('mine', 'manifest', None)]"
fact "TPU_WORKER_HOSTNAMES of the device plugin is replaced" "$(seen TPU_WORKER_HOSTNAMES).__getitem__(0)[1:]" "('webhook', 'localhost')"
ok 0 "the text shows replaced values" env --manifest "$tmp/own.yaml" --slice-id 0 --worker 2
out "a comment has the replaced value of the manifest" "# instead of 'localhost' of the manifest:"
own TPU_WORKER_ID 0
ok 0 "a manifest with TPU_WORKER_ID 0 is accepted" env --manifest "$tmp/own.yaml" -o json
fact "TPU_WORKER_ID 0 is replaced on all hosts but the first" "$(seen TPU_WORKER_ID)" "[('2', 'webhook', '0')]"
own TPU_WORKER_ID 5 TPU_WORKER_ID 6
ok 0 "a manifest with a repeated variable is accepted" env --manifest "$tmp/own.yaml" -o json
fact "the process has the last value, although the webhook reads the first" "$(seen TPU_WORKER_ID)" "[('6', 'manifest', None)]"
own SECRET of-the-job RAY_DEDUP_LOGS 0
ok 0 "a manifest with other variables is accepted" env --manifest "$tmp/own.yaml" -o json
fact "variables that do not concern TPUs are omitted" "$(seen SECRET)" "[]"
fact "variables of Ray are printed" "$(seen RAY_DEDUP_LOGS)" "[('0', 'manifest', None)]"

# The example with references, and with envFrom of a ConfigMap and a Secret of the same file.
sed "s/^          env:/          envFrom:\n          - configMapRef: {name: settings}\n          - secretRef: {name: keys}\n\
          - configMapRef: {name: gone}\n          - configMapRef: {name: spare, optional: true}\n&/
  s/^          - name: JAX_PLATFORMS/          - {name: JAX_CACHE, value: '\$(RAY_ROOT)\/\$(MEGASCALE_PORT)\/\$\$(X)\/\$(HOME)'}\n&/" \
  "$two_slices" >"$tmp/from.yaml"
cat >>"$tmp/from.yaml" <<'END'
---
kind: ConfigMap
metadata: {name: settings}
data: {RAY_ROOT: /data, TPU_NAME: mine, OTHER: x}
---
kind: Secret
metadata: {name: keys}
data: {RAY_KEY: c2VjcmV0}
END
ok 0 "envFrom and references are followed" env --manifest "$tmp/from.yaml" -o json
fact "a reference is expanded" "$(seen JAX_CACHE)" "[('/data/9915/\$(X)/\$(HOME)', 'manifest', None)]"
fact "a ConfigMap gives its variables" "$(seen RAY_ROOT)" "[('/data', 'manifest', None)]"
fact "a Secret gives its variables" "$(seen RAY_KEY)" "[('secret', 'manifest', None)]"
fact "the webhook does not see them" "$(seen TPU_NAME)" "[('tpu-group-0', 'webhook', 'mine')]"
fact "a missing ConfigMap has a note" '[n.split(": ", 2)[-1] for n in d["notes"]]' \
  "[\"no ConfigMap 'gone' in the file: its variables are not known\"]"
ok 0 "the text reports a missing ConfigMap" env --manifest "$tmp/from.yaml" --slice-id 0 --worker 0
out "the note names the missing ConfigMap" "containers[0].envFrom[2].configMapRef: no ConfigMap 'gone' in the file: its variables are not known"

refused 2 "env without arguments" "expected the arguments: GROUP | --manifest FILE" env
refused 2 "env with a group and a manifest" "expected the arguments: GROUP | --manifest FILE" env g --manifest "$two_slices"
refused 2 "--then with a group" "--then requires --manifest" env g --then suspend
refused 2 "--profile with a manifest" "--profile cannot be combined with --manifest" env --manifest "$two_slices" --profile quoit
refused 2 "-o env with a manifest" "-o env cannot be combined with --manifest" env --manifest "$two_slices" -o env
refused 2 "unknown step of --then" "--then 'explode=1': expected fail=REPLICA.HOST" env --manifest "$two_slices" --then explode=1
refused 2 "--then with an invalid host index" "--then 'fail=0.x'" env --manifest "$two_slices" --then fail=0.x
refused 4 "--then with an unknown replica" "--then 'fail=7.0': no pod has that replica and host index" env --manifest "$two_slices" --then fail=7.0
refused 4 "unknown --group" "--group 'x'|tpu-group" env --manifest "$two_slices" --group x
refused 4 "unknown --slice-id" "--slice-id '9': the manifest has no pod with that replica index" env --manifest "$two_slices" --slice-id 9
refused 4 "missing manifest" "nothing.yaml" env --manifest "$tmp/nothing.yaml"
printf 'kind: RayCluster\nmetadata: {name: c}\nspec: {headGroupSpec: {template: {spec: {containers: [{name: head}]}}}, workerGroupSpecs: [{groupName: g, numOfHosts: two}]}\n' >"$tmp/bad.yaml"
refused 3 "manifest with an invalid field" "bad.yaml: line 3: spec.workerGroupSpecs[0].numOfHosts" env --manifest "$tmp/bad.yaml"
grep -v gke-tpu-topology "$two_slices" >"$tmp/shapeless.yaml"
refused 3 "pod that the webhook would refuse" "group 'tpu-group': pod: expected a node selector" env --manifest "$tmp/shapeless.yaml"
sed 's/replicas: 2/replicas: 99999/' "$two_slices" >"$tmp/many.yaml"
refused 3 "manifest with more pods than the limit" "expected at most 65536" env --manifest "$tmp/many.yaml"

finish

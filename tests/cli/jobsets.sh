#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Manifests without Ray: a JobSet is checked and imported, and its pods have their environment.
. "$top_srcdir/tests/cli/lib.sh"
set=$top_srcdir/examples/jobset-v6e-4x4-x2.yaml
cd "$tmp" || exit 1

# --- check
ok 0 "the example has no findings" check manifest --strict "$set"
holds "a valid JobSet prints nothing" test ! -s "$tmp/out"
sed 's/ici_fsdp_parallelism=16/ici_fsdp_parallelism=8/' "$set" >mesh.yaml
ok 3 "a mesh that does not fit the slices is an error" check manifest mesh.yaml
out "the finding names the setting in the command" "error: ici_*_parallelism '8' in the command: expected a product of 16, the devices of a slice"
sed 's/llama3-8b/llama3-70b/' "$set" >memory.yaml
ok 0 "a model that does not fit is a warning" check manifest memory.yaml
out "the finding has the memory" "warning: model_name 'llama3-70b' in the command: expected parameters, optimizer state and gradients of at most 32.0 GiB"
sed 's/replicas: 2/replicas: 3/' "$set" >slices.yaml
ok 0 "another number of slices is a warning" check manifest slices.yaml
out "the finding names the sizes between slices" "[entrypoint-slices]"
sed 's/parallelism: 4/parallelism: 2/' "$set" >pods.yaml
ok 0 "too few pods are a warning" check manifest pods.yaml
out "the finding has the number of hosts" "warning: parallelism '2': expected 4, the hosts of topology '4x4' with 4 chips per pod [pods-topology]"

# --- import
fresh
ok 0 "a JobSet is imported" import raycluster "$set" --now "$now" -o json
fact "the source is the JobSet" 'd["source"], d["n_nodes"]' "('two-slices', 8)"
fact "the pool is the replicated job" '[(p["pool"], p["topology"], p["slices"], p["free"]) for p in d["pools"]]' "[('workers', '4x4', 2, 2)]"
ok 0 "the slices of a JobSet are reserved" reserve two-slices --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "the environment of the group is printed" env two-slices --profile jobset --replicated-job workers -o json
cp "$tmp/out" group.json
baseline
refused 3 "a JobSet that contradicts its topology" "parallelism 2: expected 4" import raycluster pods.yaml --now "$now"
{ cat "$set" && echo --- && sed 's/two-slices/other/' "$set"; } >both.yaml
refused 3 "two JobSets in a file" "a second object that makes pods, JobSet, after JobSet in line 6" import raycluster both.yaml --now "$now"

# --- env --manifest
unset QUOIT_DB
ok 0 "the pods of a JobSet are printed" env --manifest "$set"
out "a pod has its place and name" "# process 5: slice id 1 (two-slices-workers-1), worker 1, node two-slices-workers-1-1"
out "the coordinator is the first pod" "MEGASCALE_COORDINATOR_ADDRESS='two-slices-workers-0-0.two-slices'"
out "the number of slices is that of the jobs" "MEGASCALE_NUM_SLICES='2'"
ok 0 "one pod is selected" env --manifest "$set" --slice-id 1 --worker 2 -o json
fact "the pod has its variables" '[(p["node"], p["environment"]["TPU_WORKER_ID"], p["environment"]["MEGASCALE_SLICE_ID"]) for p in d["processes"]]' \
  "[('two-slices-workers-1-2', '2', '1')]"
ok 0 "all pods are printed as JSON" env --manifest "$set" -o json
holds "the environment equals that of a group on these slices" "$python" -c 'import json, sys
ours, group = (json.load(open(file, encoding="utf-8")) for file in sys.argv[1:])
assert [p["environment"] for p in ours["processes"]] == [p["environment"] for p in group["processes"]]
assert len(ours["processes"]) == 8' "$tmp/out" group.json
refused 4 "a slice that does not exist" "slice-id" env --manifest "$set" --slice-id 2
refused 4 "a replicated job that does not exist" "--group 'driver': expected a group of pods of the manifest with slices: workers" \
  env --manifest "$set" --group driver
refused 2 "steps for a JobSet" "--then requires a RayCluster" env --manifest "$set" --then fail=0.0
sed 's/^kind: JobSet/kind: Unknown/' "$set" >unknown.yaml
refused 3 "an object of another kind" "no Ray object in it, but 'Unknown' in line 6|such as a JobSet" env --manifest unknown.yaml
refused 3 "a JobSet that contradicts its topology" "env: pods.yaml: line |parallelism 2: expected 4, the hosts of topology '4x4'" \
  env --manifest pods.yaml
sed 's/parallelism: 4/parallelism: 2/; s/completions: 4/completions: 2/; s/4x4/2x2/' "$set" >many.yaml
refused 3 "a job whose pods have a slice each" "replicated job 'workers': expected jobs of one slice each" env --manifest many.yaml

sed 's/^spec:/spec:\n  suspend: true/' "$set" >suspended.yaml
refused 3 "a suspended JobSet" "env: suspended.yaml: no pods: expected an object that is not suspended, with replicas" \
  env --manifest suspended.yaml

# --- other objects
selectors='nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}'
chips='containers: [{name: a, image: a, resources: {limits: {google.com/tpu: 4}}}]'
cat >lws.yaml <<EOF
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve, namespace: team}
spec:
  replicas: 2
  leaderWorkerTemplate: {size: 4, workerTemplate: {spec: {$selectors, $chips}}}
EOF
ok 0 "the pods of a LeaderWorkerSet are printed" env --manifest lws.yaml
out "a pod of a LeaderWorkerSet has its name" "# process 5: slice id 1 (serve-1), worker 1, node serve-1-1"
out "a pod has the names of its replica" "TPU_WORKER_HOSTNAMES='serve-1.serve,serve-1-1.serve,serve-1-2.serve,serve-1-3.serve'"
out "a pod has the address of its leader" "LWS_LEADER_ADDRESS='serve-1.serve.team'"
ok 0 "the pods of a LeaderWorkerSet are printed as JSON" env --manifest lws.yaml -o json
fact "the profile is that of the object" 'd["profile"], "MEGASCALE_NUM_SLICES" in d["processes"][0]["environment"]' "('lws', False)"
cp "$tmp/out" lws.json
QUOIT_DB=$tmp/lws.db && export QUOIT_DB
fresh
ok 0 "a LeaderWorkerSet is imported" import raycluster lws.yaml --now "$now"
ok 0 "its slices are reserved" reserve serve --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "the environment of its group is printed" env serve --profile lws --lws serve --namespace team -o json
holds "the environment equals that of the manifest" "$python" -c 'import json, sys
ours, group = (json.load(open(file, encoding="utf-8")) for file in sys.argv[1:])
assert [p["environment"] for p in ours["processes"]] == [p["environment"] for p in group["processes"]]' lws.json "$tmp/out"
baseline
refused 2 "a name for another profile" "--lws 'serve' requires --profile lws" env serve --profile job --lws serve
refused 3 "a job of several slices" "group with 2 slices of several hosts: expected one slice" env serve --profile job --subdomain hosts
unset QUOIT_DB
baseline
sed 's/size: 4/size: 8, subGroupPolicy: {subGroupSize: 4}/' lws.yaml >subgroups.yaml
ok 0 "subgroups are slices" env --manifest subgroups.yaml
out "a leader with chips in a subgroup is noted" "LeaderWorkerSet up to 0.9 gives a leader that requests chips a wrong TPU_WORKER_ID"

cat >job.yaml <<EOF
apiVersion: batch/v1
kind: Job
metadata: {name: fit}
spec:
  completionMode: Indexed
  completions: 4
  parallelism: 4
  template: {spec: {subdomain: hosts, restartPolicy: Never, $selectors, $chips}}
EOF
ok 0 "the pods of a Job are printed" env --manifest job.yaml --worker 2
out "a pod of a Job has its index" "JOB_COMPLETION_INDEX='2'"
out "a pod has the names of its Job" "TPU_WORKER_HOSTNAMES='fit-0.hosts,fit-1.hosts,fit-2.hosts,fit-3.hosts'"
sed 's/subdomain: hosts, //' job.yaml >alone.yaml
refused 3 "a Job without a service" "expected a subdomain, which is the name of a headless service" env --manifest alone.yaml
sed 's/Indexed/NonIndexed/' job.yaml >plain.yaml
refused 3 "a Job without indices" "expected a Job with completionMode 'Indexed'" env --manifest plain.yaml

selectors='nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 2x2}'
printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {%s, %s}\n' "$selectors" "$chips" >pod.yaml
ok 0 "the environment of a Pod is printed" env --manifest pod.yaml
out "a pod on one host needs no names" "TPU_WORKER_HOSTNAMES='localhost'"
long=$(printf '%063d' 0 | tr 0 a)
for name in "$long" my.pod; do
  sed "s/name: p}/name: $name}/" pod.yaml >name.yaml
  ok 0 "a name that only a Pod can have is accepted" env --manifest name.yaml
done
printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2, template: {spec: {%s, %s}}}\n' "$selectors" "$chips" >deployment.yaml
ok 0 "the environment of a Deployment is printed" env --manifest deployment.yaml -o json
fact "each pod of a Deployment has a slice" '[(p["slice"], p["worker_id"]) for p in d["processes"]]' "[('d-0', 0), ('d-1', 0)]"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n' >none.yaml
refused 3 "a file without pods" "expected" env --manifest none.yaml

finish

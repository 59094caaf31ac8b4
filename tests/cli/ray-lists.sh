# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Makes `ray list nodes --detail --format json` of a KubeRay cluster: a head, and replicas of the worker group tpu-group, v6e
# 4x4 on four hosts. KubeRay names the slice of replica R tpu-group-R. Each incarnation of a replica has its own pods,
# addresses and node ids.
#
#   ray_list FILE REPLICA.INCARNATION[:STATE]...     STATE: ALIVE by default, or DEAD
#   ray_row REPLICA WORKER INCARNATION STATE         one host of the replica; its address is 10.REPLICA.INCARNATION.WORKER

# ray_id REPLICA INCARNATION WORKER: 28 bytes in hexadecimal.
ray_id ()
{
  printf '%016x%016x%016x%08x' "$(($1 + 17))" "$(($2 + 34))" "$(($3 + 51))" 3735928559
}

ray_row ()
{
  address=10.$1.$3.$2
  id=$(ray_id "$1" "$3" "$2")
  head=
  [ "$2" -ne 0 ] || head='"TPU-v6e-16-head": 1.0, '
  printf '{"node_id": "%s", "node_ip": "%s", "is_head_node": false, "state": "%s", "state_message": null, ' "$id" "$address" "$4"
  printf '"node_name": "%s", "resources_total": {"node:%s": 1.0, "CPU": 8.0, "TPU": 4.0, %s' "$address" "$address" "$head"
  printf '"object_store_memory": "80.000 MiB", "tpu-group-%s": 1.0, "accelerator_type:TPU-V6E": 1.0, "memory": "1.000 GiB"}, ' "$1"
  printf '"labels": {"ray.io/tpu-topology": "4x4", "ray.io/tpu-slice-name": "tpu-group-%s", "ray.io/tpu-worker-id": "%s", ' "$1" "$2"
  printf '"ray.io/node-group": "tpu-group", "ray.io/tpu-pod-type": "v6e-16", "ray.io/node-id": "%s", ' "$id"
  printf '"ray.io/accelerator-type": "TPU-V6E"}, "start_time_ms": "2026-05-01 09:00:00", "end_time_ms": "1970-01-01 00:00:00"}'
}

ray_list ()
{
  list=$1
  shift
  {
    id=$(ray_id 0 0 99)
    printf '[{"node_id": "%s", "node_ip": "10.99.0.1", "is_head_node": true, "state": "ALIVE", "state_message": null, ' "$id"
    printf '"node_name": "10.99.0.1", "resources_total": {"node:__internal_head__": 1.0, "node:10.99.0.1": 1.0, "CPU": 8.0, '
    printf '"object_store_memory": "80.000 MiB", "memory": "1.000 GiB"}, "labels": {"ray.io/node-group": "headgroup", '
    printf '"ray.io/node-id": "%s"}, "start_time_ms": "2026-05-01 09:00:00", "end_time_ms": "1970-01-01 00:00:00"}' "$id"
    for replica; do
      state=ALIVE
      case $replica in *:*) state=${replica#*:} replica=${replica%:*} ;; esac
      for worker in 0 1 2 3; do
        printf ',\n'
        ray_row "${replica%.*}" "$worker" "${replica#*.}" "$state"
      done
    done
    echo ']'
  } >"$list"
}

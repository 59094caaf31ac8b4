#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quoit check train: fills in MaxText's axes, and reports errors and possible values, as lines and as JSON.
. "$top_srcdir/tests/cli/lib.sh"
unset QUOIT_DB # it needs none

two='--accelerator v6e --topology 4x4 --slices 2'

# train STATUS 'sentence' WORD...: checks a job on two slices of v6e 4x4.
train ()
{
  expected=$1 sentence=$2
  shift 2
  # shellcheck disable=SC2086
  ok "$expected" "$sentence" check train $two "$@"
}

# --- what MaxText accepts
train 0 "the settings of a tutorial" ici_fsdp_parallelism=-1 dcn_data_parallelism=2 per_device_batch_size=4
out "are filled in within a slice" "fsdp                    16   1"
out "and between slices" "data                     1   2"
out "with nothing to say" "findings: none"
holds "on stderr neither" test ! -s "$tmp/err"
train 0 "the same as JSON" ici_fsdp_parallelism=-1 dcn_data_parallelism=2 per_device_batch_size=4 -o json
json "is a document"
fact "with the axes of the mesh" "{a['axis']: (a['ici'], a['dcn']) for a in d['axes'] if (a['ici'], a['dcn']) != (1, 1)}" \
  "{'data': (1, 2), 'fsdp': (16, 1)}"
fact "and what they are of" "[d[n] for n in ('n_slices', 'n_hosts', 'n_chips', 'n_devices', 'n_devices_per_slice', 'batch')]" \
  "[2, 8, 32, 32, 16, 128]"
fact "and no findings" "d['findings']" "[]"
ok 0 "one slice unless more are said" check train --accelerator v6e --topology 4x4 -o json
fact "is one" "d['n_slices'], d['n_devices']" "(1, 16)"
ok 0 "slices may be named in MaxText's words" check train compile_topology=tpu7x-16 compile_topology_num_slices=2 -o json
fact "of two devices a chip" "d['n_chips'], d['n_devices']" "(16, 32)"
ok 0 "a 2x4 of two hosts" check train --accelerator v6e --topology 2x4 --chips-per-host 4 -o json
fact "has two" "d['n_hosts']" 2

# --- what MaxText refuses
train 3 "a name with two letters exchanged" ici_fdsp_parallelism=4
out "is an error that names the right one" \
  "error    key-unknown 'ici_fdsp_parallelism': expected a setting of MaxText's, as 'ici_fsdp_parallelism'"
train 3 "a size that does not divide" ici_tensor_parallelism=3 -o json
fact "is told by rule and setting" "[(f['severity'], f['rule'], f['setting'], f['value']) for f in d['findings']]" \
  "[('error', 'unspecified-value', 'ici_fsdp_parallelism', '-1')]"
fact "with what would work" "d['findings'][0]['expected'].endswith(': as ici_tensor_parallelism=4')" True
fact "and the axis is left as it was" "[a['ici'] for a in d['axes'] if a['axis'] == 'fsdp']" "[-1]"
train 3 "two that are -1" ici_data_parallelism=-1
out "are told, also where one was not given" "ici_fsdp_parallelism is -1 unless it is given: as ici_fsdp_parallelism=1"
train 3 "zero, less, and more than 64 bits" ici_tensor_parallelism=0 ici_data_parallelism=-2 \
  ici_expert_parallelism=9223372036854775808
out "are told each: zero" "ici_tensor_parallelism '0': expected 1 or more"
out "are told each: less" "ici_data_parallelism '-2': expected 1 or more"
out "are told each: more" "ici_expert_parallelism '9223372036854775808': expected an integer of at most 64 bits"
train 3 "a batch that the devices do not divide" per_device_batch_size=1.5
out "is told with those that they do" "per_device_batch_size '1.5': expected 1 or 2"
ok 3 "DCN sizes on one slice" check train --accelerator v6e --topology 4x4 dcn_data_parallelism=2
out "are told" "dcn_data_parallelism '2': expected 1 for a job of one slice"
train 0 "a warning is none" ici_sequence_parallelism=4
out "but is told" "warning  axis-unused ici_sequence_parallelism '4'"
train 3 "unless that is asked for" --strict ici_sequence_parallelism=4
train 0 "a file of settings" maxtext/configs/base.yml
out "is not read, and a note says so" "note     config-file 'maxtext/configs/base.yml'"
train 0 "a note is none even then" --strict base.yml
train 3 "control bytes" "$(printf 'a\033[31m=\nerror')"
holds "do not reach the terminal" test "$(LC_ALL=C tr -d ' -~\n' <"$tmp/out" | wc -c)" -eq 0

# --- a file of settings
printf 'base_config: base.yml\nici_tensor_parallelism: 4\nici_fsdp_parallelism: -1\nper_device_batch_size: 2\n' >"$tmp/mine.yml"
train 0 "a file of settings is read" --config "$tmp/mine.yml" -o json
fact "as words are" "{a['axis']: a['ici'] for a in d['axes'] if a['ici'] != 1}, d['batch']" "({'fsdp': 4, 'tensor': 4}, 64)"
train 0 "the command line as it stands" --config "$tmp/mine.yml" path/to/mine.yml per_device_batch_size=4 -o json
fact "counts more than the file that it names" "d['batch'], d['findings']" "(128, [])"
printf 'base_config: mine.yml\nper_device_batch_size: 8\n' >"$tmp/more.yml"
train 0 "and one that another is based on" --config "$tmp/mine.yml" --config "$tmp/more.yml" -o json
fact "is below it" "d['batch'], d['findings'], [a['ici'] for a in d['axes'] if a['axis'] == 'tensor']" "(256, [], [4])"
train 0 "without it" --config "$tmp/more.yml" -o json
fact "that is noted" "[(f['rule'], f['setting'], f['value'], f['line']) for f in d['findings']]" \
  "[('config-file', 'base_config', 'mine.yml', 1)]"
printf 'steps: 10_000\nici_fdsp_parallelism: 4\nici_tensor_parallelism: 0\n' >"$tmp/wrong.yml"
train 3 "what is wrong in it" --config "$tmp/wrong.yml"
out "has its line" "error    key-unknown $tmp/wrong.yml: line 2: 'ici_fdsp_parallelism': expected a setting of MaxText's, as 'ici_fsdp_parallelism'"
train 3 "also as JSON" --config "$tmp/wrong.yml" -o json
fact "with the file" "[(f['rule'], f['file'] == '$tmp/wrong.yml', f['line']) for f in d['findings']]" \
  "[('key-unknown', True, 2), ('axis-size', True, 3)]"
train 3 "and a word that mends it has none" --config "$tmp/wrong.yml" ici_tensor_parallelism=0 -o json
fact "which is said" "[(f['rule'], f['file'], f['line']) for f in d['findings'][1:]]" "[('axis-size', None, None)]"
holds "standard input is one too" sh -c 'echo "ici_tensor_parallelism: 4" | "$1" check train --accelerator v6e --topology 4x4 --config - | grep -q "^tensor  *4"' \
  sh "$top_builddir/cli/quoit"
printf 'steps: 1\nsteps: 2\n' >"$tmp/twice.yml"
refused 3 "a key twice" "twice.yml: line 2" check train --accelerator v6e --topology 4x4 --config "$tmp/twice.yml"
printf -- '- steps\n' >"$tmp/list.yml"
refused 3 "what is no map" "list.yml: line 1: a list: expected a map of settings" check train --accelerator v6e --topology 4x4 --config "$tmp/list.yml"
refused 4 "and no file" "nothing.yml" check train --accelerator v6e --topology 4x4 --config "$tmp/nothing.yml"
refused 2 "are not for manifests" "--config: expected it with train alone" check manifest --config "$tmp/mine.yml" a.yaml

# --- Ray Train
train 0 "workers that fill the slices" --workers 8 --worker-resources TPU=4,CPU=1
train 0 "of one chip each" --workers 32 --worker-resources TPU=1
train 3 "workers that fill one" --workers 4 --worker-resources TPU=4
out "are told how many would" "ScalingConfig.num_workers '4': expected 8, which fill 2 slices with 4 each"
train 3 "workers that fill none" --workers 7 --worker-resources TPU=4
out "are told as Ray does" "ScalingConfig: number of workers '7': expected a multiple of the 4"
train 3 "an elastic job whose sizes fit one number of slices" --workers 4..12 --worker-resources TPU=4 dcn_data_parallelism=2
out "is told which does not" "they do not fit 1"
train 0 "and one that fits all" --workers 4..12 --worker-resources TPU=4

# --- usage
refused 3 "nothing of the slices is INVALID" "check: slices: expected accelerator and topology" check train
refused 3 "a generation that is none" "generation 'v9'" check train --accelerator v9 --topology 4x4
refused 3 "a topology that is none" "topology '4x5'|nearest" check train --accelerator v6e --topology 4x5
refused 3 "no slices" "slices '0': expected 1 to 1000000" check train --accelerator v6e --topology 4x4 --slices 0
refused 2 "half of a slice" "expected both --accelerator and --topology" check train --topology 4x4
refused 2 "slices of nothing" "expected also --accelerator and --topology" check train --slices 2
refused 2 "workers of nothing" "--workers: expected also --accelerator" check train --workers 2 compile_topology=v6e-16
refused 2 "resources of nobody" "--worker-resources: expected also --workers" \
  check train --accelerator v6e --topology 4x4 --worker-resources TPU=4
refused 2 "a number that is none" "--workers 'x': expected a number" check train --accelerator v6e --topology 4x4 --workers x
refused 2 "amounts that are none" "--worker-resources 'TPU': expected amounts" \
  check train --accelerator v6e --topology 4x4 --workers 4 --worker-resources TPU
refused 2 "a manifest's option" "--set: expected it with manifest alone" check train --set A=1
refused 2 "a job's option" "--slices: expected it with train alone" check manifest --slices 2 a.yaml
refused 2 "no file" "expected the arguments: manifest FILE..." check manifest
refused 2 "another word" "'pods': expected manifest or train" check pods a

finish

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
train 0 "the settings of a tutorial have no errors" ici_fsdp_parallelism=-1 dcn_data_parallelism=2 per_device_batch_size=4
out "fsdp is filled in within a slice" "fsdp                    16   1"
out "data is filled in between slices" "data                     1   2"
out "the settings of a tutorial have no findings" "findings: none"
holds "nothing is printed on stderr" test ! -s "$tmp/err"
train 0 "the settings of a tutorial are checked as JSON" ici_fsdp_parallelism=-1 dcn_data_parallelism=2 per_device_batch_size=4 -o json
json "check train prints JSON"
fact "JSON has the axes of the mesh" "{a['axis']: (a['ici'], a['dcn']) for a in d['axes'] if (a['ici'], a['dcn']) != (1, 1)}" \
  "{'data': (1, 2), 'fsdp': (16, 1)}"
fact "JSON has the numbers of slices, hosts, chips and devices" "[d[n] for n in ('n_slices', 'n_hosts', 'n_chips', 'n_devices', 'n_devices_per_slice', 'batch')]" \
  "[2, 8, 32, 32, 16, 128]"
fact "JSON has no findings" "d['findings']" "[]"
ok 0 "check train accepts a topology without --slices" check train --accelerator v6e --topology 4x4 -o json
fact "the default is one slice" "d['n_slices'], d['n_devices']" "(1, 16)"
ok 0 "slices can be given in MaxText's words" check train compile_topology=tpu7x-16 compile_topology_num_slices=2 -o json
fact "tpu7x has two devices per chip" "d['n_chips'], d['n_devices']" "(16, 32)"
ok 0 "check train accepts --chips-per-host 4 with 2x4" check train --accelerator v6e --topology 2x4 --chips-per-host 4 -o json
fact "a 2x4 slice with 4 chips per host has two hosts" "d['n_hosts']" 2

# --- memory
ok 0 "a model that fits has no finding" check train --accelerator v6e --topology 4x4 model_name=llama3-8b per_device_batch_size=4
out "the memory is printed in GiB" "weights and optimizer state: 5.6 GiB"
out "the sum is an estimate" "together (estimate):         17.4 GiB"
ok 3 "a model that does not fit is an error" check train --accelerator v6e --topology 4x4 -o json model_name=llama2-70b per_device_batch_size=1
fact "JSON has bytes" "(d['memory']['n_parameters'], d['memory']['state_bytes'], d['memory']['gradient_bytes'], d['memory']['hbm_bytes'])" \
  "(68976648192, 51732486144, 17244162048, 34359738368)"
fact "the finding names the model" "[(f['rule'], f['setting'], f['value']) for f in d['findings']]" "[('memory-state', 'model_name', 'llama2-70b')]"
ok 0 "a step that may not fit is a warning" check train --accelerator v6e --topology 4x4 model_name=llama3-8b per_device_batch_size=32
out "the warning is printed" "warning  memory-total model_name 'llama3-8b': expected a step of at most 32.0 GiB"
ok 0 "an unknown model is accepted" check train --accelerator v6e --topology 4x4 -o json model_name=deepseek3-671b per_device_batch_size=1
fact "an unknown model has no memory" "'memory' in d" False

# --- what MaxText refuses
train 3 "a misspelled setting is an error" ici_fdsp_parallelism=4
out "the error names the correct setting" \
  "error    key-unknown 'ici_fdsp_parallelism': expected a setting of MaxText, such as 'ici_fsdp_parallelism'"
train 3 "a size that does not divide the devices is an error" ici_tensor_parallelism=3 -o json
fact "the finding has severity, rule, setting and value" "[(f['severity'], f['rule'], f['setting'], f['value']) for f in d['findings']]" \
  "[('error', 'unspecified-value', 'ici_fsdp_parallelism', '-1')]"
fact "the finding proposes a valid size" "d['findings'][0]['expected'].endswith(': for example ici_tensor_parallelism=4')" True
fact "the axis without a valid size stays -1" "[a['ici'] for a in d['axes'] if a['axis'] == 'fsdp']" "[-1]"
train 3 "two sizes of -1 are an error" ici_data_parallelism=-1
out "the error names the default of -1 that was not given" "ici_fsdp_parallelism is -1 by default: for example ici_fsdp_parallelism=1"
train 3 "zero, negative sizes and sizes beyond 64 bits are errors" ici_tensor_parallelism=0 ici_data_parallelism=-2 \
  ici_expert_parallelism=9223372036854775808
out "the size 0 has a finding" "ici_tensor_parallelism '0': expected 1 or more"
out "the negative size has a finding" "ici_data_parallelism '-2': expected 1 or more"
out "the size beyond 64 bits has a finding" "ici_expert_parallelism '9223372036854775808': expected an integer of at most 64 bits"
train 3 "a batch that does not divide the devices is an error" per_device_batch_size=1.5
out "the finding names valid batch sizes" "per_device_batch_size '1.5': expected 1 or 2"
ok 3 "DCN sizes on one slice are an error" check train --accelerator v6e --topology 4x4 dcn_data_parallelism=2
out "the finding names the DCN size" "dcn_data_parallelism '2': expected 1 for a job of one slice"
train 0 "a warning does not change the exit status" ici_sequence_parallelism=4
out "the warning is printed" "warning  axis-unused ici_sequence_parallelism '4'"
train 3 "--strict makes a warning an error" --strict ici_sequence_parallelism=4
train 0 "a settings file as an argument is accepted" maxtext/configs/base.yml
out "a note says that the settings file is not read" "note     config-file 'maxtext/configs/base.yml'"
train 0 "--strict does not make a note an error" --strict base.yml
train 3 "a setting with control bytes is an error" "$(printf 'a\033[31m=\nerror')"
holds "no control bytes reach the terminal" test "$(LC_ALL=C tr -d ' -~\n' <"$tmp/out" | wc -c)" -eq 0

# --- a file of settings
printf 'base_config: base.yml\nici_tensor_parallelism: 4\nici_fsdp_parallelism: -1\nper_device_batch_size: 2\n' >"$tmp/mine.yml"
train 0 "--config reads a settings file" --config "$tmp/mine.yml" -o json
fact "settings of the file are used like arguments" "{a['axis']: a['ici'] for a in d['axes'] if a['ici'] != 1}, d['batch']" "({'fsdp': 4, 'tensor': 4}, 64)"
train 0 "a command line of MaxText is accepted" --config "$tmp/mine.yml" path/to/mine.yml per_device_batch_size=4 -o json
fact "an argument overrides the settings file" "d['batch'], d['findings']" "(128, [])"
printf 'base_config: mine.yml\nper_device_batch_size: 8\n' >"$tmp/more.yml"
train 0 "a second --config is the base of the first" --config "$tmp/mine.yml" --config "$tmp/more.yml" -o json
fact "settings of the base file have the lowest precedence" "d['batch'], d['findings'], [a['ici'] for a in d['axes'] if a['axis'] == 'tensor']" "(256, [], [4])"
train 0 "a settings file without its base is accepted" --config "$tmp/more.yml" -o json
fact "a note names the missing base file" "[(f['rule'], f['setting'], f['value'], f['line']) for f in d['findings']]" \
  "[('config-file', 'base_config', 'mine.yml', 1)]"
printf 'steps: 10_000\nici_fdsp_parallelism: 4\nici_tensor_parallelism: 0\n' >"$tmp/wrong.yml"
train 3 "an invalid setting in a file is an error" --config "$tmp/wrong.yml"
out "the finding has the line of the file" "error    key-unknown $tmp/wrong.yml: line 2: 'ici_fdsp_parallelism': expected a setting of MaxText, such as 'ici_fsdp_parallelism'"
train 3 "an invalid setting in a file is an error in JSON" --config "$tmp/wrong.yml" -o json
fact "the JSON finding has the file and line" "[(f['rule'], f['file'] == '$tmp/wrong.yml', f['line']) for f in d['findings']]" \
  "[('key-unknown', True, 2), ('axis-size', True, 3)]"
train 3 "an invalid argument overrides the file and is an error" --config "$tmp/wrong.yml" ici_tensor_parallelism=0 -o json
fact "the finding of an argument has no file" "[(f['rule'], f['file'], f['line']) for f in d['findings'][1:]]" "[('axis-size', None, None)]"
holds "--config - reads standard input" sh -c 'echo "ici_tensor_parallelism: 4" | "$1" check train --accelerator v6e --topology 4x4 --config - | grep -q "^tensor  *4"' \
  sh "$top_builddir/cli/quoit"
printf 'steps: 1\nsteps: 2\n' >"$tmp/twice.yml"
refused 3 "settings file with a repeated key" "twice.yml: line 2" check train --accelerator v6e --topology 4x4 --config "$tmp/twice.yml"
printf -- '- steps\n' >"$tmp/list.yml"
refused 3 "settings file that is no map" "list.yml: line 1: a list: expected a map of settings" check train --accelerator v6e --topology 4x4 --config "$tmp/list.yml"
refused 4 "missing settings file" "nothing.yml" check train --accelerator v6e --topology 4x4 --config "$tmp/nothing.yml"
refused 2 "--config with a manifest" "--config requires train" check manifest --config "$tmp/mine.yml" a.yaml

# --- Ray Train
train 0 "workers that fill the slices are accepted" --workers 8 --worker-resources TPU=4,CPU=1
train 0 "workers of one chip that fill the slices are accepted" --workers 32 --worker-resources TPU=1
train 3 "workers that fill only one of two slices are an error" --workers 4 --worker-resources TPU=4
out "the finding names the number of workers that fill both slices" "ScalingConfig.num_workers '4': expected 8, which fill 2 slices with 4 each"
train 3 "workers that fill no whole slice are an error" --workers 7 --worker-resources TPU=4
out "the finding is the one of Ray" "ScalingConfig: number of workers '7': expected a multiple of the 4"
train 3 "an elastic job whose sizes fit only one number of slices is an error" --workers 4..12 --worker-resources TPU=4 dcn_data_parallelism=2
out "the finding names the number of slices that does not fit" "the given ones do not fit 1"
train 0 "an elastic job that fits every number of slices is accepted" --workers 4..12 --worker-resources TPU=4

slices='--accelerator v6e --topology 4x4'
# shellcheck disable=SC2086
{
  ok 0 "workers for two slices are accepted without --slices" check train $slices --workers 8 -o json
  fact "the workers give two slices" "d['n_slices'], d['n_hosts'], d['findings']" "(2, 8, [])"
  ok 0 "workers of one chip are accepted without --slices" check train $slices --workers 32 --worker-resources TPU=1 -o json
  fact "workers of one chip give whole slices" "d['n_slices'], d['findings']" "(2, [])"
  ok 3 "--slices that contradicts --workers is an error" check train $slices --workers 8 --slices 1
  ok 3 "workers that fill no whole number of slices are an error without --slices" check train $slices --workers 7 -o json
  fact "the default of one slice is used, with a finding" "d['n_slices'], [f['rule'] for f in d['findings']]" "(1, ['scaling'])"
  ok 0 "an elastic job is accepted without --slices" check train $slices --workers 4..8 -o json
  fact "the minimum of the elastic job gives one slice" "d['n_slices']" 1
}

# --- usage
refused 3 "check train without slices" "check: slices: expected accelerator and topology" check train
refused 3 "unknown generation" "generation 'v9'" check train --accelerator v9 --topology 4x4
refused 3 "topology that v6e does not have" "topology '4x5'|nearest" check train --accelerator v6e --topology 4x5
refused 3 "--slices 0" "slices '0': expected 1 to 1000000" check train --accelerator v6e --topology 4x4 --slices 0
refused 2 "--topology without --accelerator" "expected both --accelerator and --topology" check train --topology 4x4
refused 2 "--slices without --accelerator and --topology" "--slices and --chips-per-host require --accelerator and --topology" check train --slices 2
refused 2 "--workers without --accelerator" "--workers requires --accelerator" check train --workers 2 compile_topology=v6e-16
refused 2 "--worker-resources without --workers" "--worker-resources requires --workers" \
  check train --accelerator v6e --topology 4x4 --worker-resources TPU=4
refused 2 "--workers that is no number" "--workers 'x': expected a number" check train --accelerator v6e --topology 4x4 --workers x
refused 2 "--worker-resources without amounts" "--worker-resources 'TPU': expected amounts" \
  check train --accelerator v6e --topology 4x4 --workers 4 --worker-resources TPU
refused 2 "--set with train" "--set requires manifest" check train --set A=1
refused 2 "--slices with manifest" "--slices requires train" check manifest --slices 2 a.yaml
refused 2 "check manifest without a file" "expected the arguments: manifest FILE..." check manifest
refused 2 "unknown object of check" "'pods': expected manifest or train" check pods a

finish

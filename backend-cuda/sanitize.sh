#!/bin/sh
# Runs a model's steps under compute-sanitizer: memory accesses, races in shared memory, barriers. Takes minutes; choose
# a small model.
#
# usage: sanitize.sh MODEL.gguf [TENON]     TENON: the command (default: the launcher of this source tree)
set -u
model=$1
tenon=${2-$(cd "$(dirname "$0")/.." && pwd)/tenon}
failed=0
for tool in memcheck racecheck synccheck; do
  # Few tokens, then many: the kernels for few rows and those on tensor cores. Then generation: the choice on the device.
  for ids in 1,2,3 $(seq -s, 1 40); do
    echo "== $tool, $(echo "$ids" | tr ',' '\n' | wc -l) tokens"
    compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 86 \
      "$tenon" logits -m "$model" --backend cuda --ids "$ids" -o /dev/null || failed=1
  done
  echo "== $tool, generation"
  compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 86 \
    "$tenon" run -m "$model" --backend cuda -p a -n 8 --top-k 20 --temp 1 --ignore-eos || failed=1
done
exit $failed

#!/bin/sh
# Compiles the CUDA sources to PTX, which the bundle carries for machines that have a driver but no compiler.
# Run it after every change of src/main/resources/**/*.cu and *.cuh; a test says when it was forgotten.
#
# Environment: NVCC  the compiler (default: nvcc of the PATH), CUDA 12.8 or newer
#              JOBS  compilers at the same time (default: number of processors)
set -eu
script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
cd "$(dirname "$0")/src/main/resources/dev/tenon/kernels/nvidia"
nvcc=${NVCC:-nvcc}
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
formats="BF16 F16 F32 Q2_K Q3_K Q4_0 Q4_K Q5_K Q6_K Q8_0"
# Pairs of formats in which llama.cpp's quantisation mixes keep query and key, and value.
pairs="Q2_K:Q3_K Q2_K:Q4_K Q2_K:Q6_K Q3_K:Q4_K Q3_K:Q5_K Q3_K:Q6_K Q4_0:Q6_K Q4_K:Q5_K Q4_K:Q6_K Q5_K:Q6_K Q6_K:Q8_0"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

list() { # list ARCHITECTURE: every module: NAME FILE MACROS...
  # Small devices have less shared memory, in which the ring of these kernels lies: blocks of 256 threads there.
  block= macro=
  [ "$1" = compute_90a ] || block=.256 macro=-DTENON_BLOCK=256
  for file in small attention attention_prefill rows sample; do
    echo "$file $file.cu"
  done
  for format in $formats; do
    for file in embedding matmul; do
      echo "$file.$format $file.cu -DTENON_FORMAT=$format"
    done
    echo "linear$block.$format linear.cu -DTENON_FORMAT=$format $macro"
    echo "qkv$block.$format.$format qkv.cu -DTENON_FORMAT=$format -DTENON_FORMAT_V=$format $macro"
  done
  for pair in $pairs; do
    echo "qkv$block.${pair%:*}.${pair#*:} qkv.cu -DTENON_FORMAT=${pair%:*} -DTENON_FORMAT_V=${pair#*:} $macro"
  done
}

compile() { # compile ARCHITECTURE NAME FILE MACROS...
  architecture=$1 name=$2 file=$3
  shift 3
  # Comments name the compiler's build and folders; without them the same source gives the same bytes.
  "$nvcc" -std=c++17 -ptx -arch="$architecture" "$@" -o "$work/$name.$architecture.ptx" "$file"
  grep -v '^//' "$work/$name.$architecture.ptx" | gzip -n9 >"$work/$name.$architecture.ptx.gz"
  rm "$work/$name.$architecture.ptx"
}

if [ "${1-}" = compile ]; then
  shift
  work=$PREBUILD_WORK
  trap - EXIT
  compile "$@"
  exit
fi

export PREBUILD_WORK="$work" NVCC="$nvcc"

for architecture in compute_80 compute_90a; do
  list "$architecture" | sed "s/^/$architecture /; s/ *$//"
done | xargs -P "$jobs" -L 1 "$script" compile

mkdir -p prebuilt
rm -f prebuilt/*.ptx.gz
mv "$work"/*.ptx.gz prebuilt/
for file in $(ls ./*.cu ./*.cuh | LC_ALL=C sort); do
  printf '%s\n' "${file#./}"
  cat "$file"
done | sha256sum | cut -d' ' -f1 >prebuilt/sources.sha256
"$nvcc" --version | tail -n 1 >prebuilt/compiler.txt

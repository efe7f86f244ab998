#!/bin/sh
# Compiles the CUDA sources to PTX for compute capability 8.0, which the bundle carries for machines that have a driver
# but no compiler.
# Run it after every change of src/main/resources/**/*.cu and *.cuh; a test says when it was forgotten.
#
# Environment: NVCC  the compiler (default: nvcc of the PATH), CUDA 12.8 or newer; ptxas has to be on the PATH
#              JAVA  a java of JDK 25 (default: java of the PATH)
#              JOBS  compilers at the same time (default: number of processors)
set -eu
script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
packer=$(dirname "$script")/src/main/java/dev/tenon/kernels/nvidia/source/PtxFiles.java
cd "$(dirname "$0")/src/main/resources/dev/tenon/kernels/nvidia"
nvcc=${NVCC:-nvcc}
java=${JAVA:-java}
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
formats="BF16 F16 F32 IQ4_NL IQ4_XS MXFP4 Q2_K Q3_K Q4_0 Q4_1 Q4_K Q5_0 Q5_1 Q5_K Q6_K Q8_0"
# Pairs of formats in which llama.cpp's quantisation mixes keep query and key, and value.
pairs="Q2_K:Q3_K Q2_K:Q4_K Q2_K:Q6_K Q3_K:Q4_K Q3_K:Q5_K Q3_K:Q6_K Q4_0:Q6_K Q4_K:Q5_K Q4_K:Q6_K Q5_K:Q6_K Q6_K:Q8_0 IQ4_NL:Q5_K IQ4_XS:Q5_K"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

list() { # every module: NAME FILE MACROS...
  for file in small encoders attention attention_prefill rows sample router states key_states float_matmul; do
    echo "$file $file.cu"
  done
  # Small devices have less shared memory, in which the ring of these kernels lies: blocks of 256 threads.
  for format in $formats; do
    echo "embedding.$format embedding.cu -DTENON_FORMAT=$format"
    # F32 weights never go to tensor cores.
    if [ "$format" != F32 ]; then
      echo "matmul.$format matmul.cu -DTENON_FORMAT=$format"
      echo "expert_matmul.$format expert_matmul.cu -DTENON_FORMAT=$format"
    fi
    echo "experts.256.$format experts.cu -DTENON_FORMAT=$format -DTENON_BLOCK=256"
    echo "linear.256.$format linear.cu -DTENON_FORMAT=$format -DTENON_BLOCK=256"
    echo "qkv.256.$format.$format qkv.cu -DTENON_FORMAT=$format -DTENON_FORMAT_V=$format -DTENON_BLOCK=256"
  done
  for pair in $pairs; do
    echo "qkv.256.${pair%:*}.${pair#*:} qkv.cu -DTENON_FORMAT=${pair%:*} -DTENON_FORMAT_V=${pair#*:} -DTENON_BLOCK=256"
  done
}

compile() { # compile NAME FILE MACROS...
  name=$1 file=$2
  shift 2
  "$nvcc" -std=c++17 -ptx -arch=compute_80 "$@" -o "$work/$name.ptx" "$file"
  # What the kernels use is in PTX 7.8, which drivers from CUDA 11.8 on compile; nvcc writes its own version.
  sed -i 's/^\.version .*/.version 7.8/' "$work/$name.ptx"
}

check() { # check NAME: what the driver will get compiles
  ptxas -arch=sm_80 -O0 -o /dev/null "$work/$1.ptx"
}

case "${1-}" in
compile | check)
  work=$PREBUILD_WORK
  trap - EXIT
  "$@"
  exit
  ;;
esac

export PREBUILD_WORK="$work" NVCC="$nvcc" JAVA="$java"
list | sed 's/^/compile /; s/ *$//' | xargs -P "$jobs" -L 1 "$script"
"$java" "$packer" pack "$work" .compute_80.ptx.gz
rm "$work"/*.ptx
# The packed form numbers registers again.
"$java" "$packer" unpack "$work" .compute_80.ptx.gz
list | sed 's/ .*//; s/^/check /' | xargs -P "$jobs" -L 1 "$script"

mkdir -p prebuilt
rm -f prebuilt/*.ptx.gz
mv "$work"/*.ptx.gz prebuilt/
for file in $(ls ./*.cu ./*.cuh | LC_ALL=C sort); do
  printf '%s\n' "${file#./}"
  cat "$file"
done | sha256sum | cut -d' ' -f1 >prebuilt/sources.sha256
"$nvcc" --version | tail -n 1 >prebuilt/compiler.txt

#!/bin/sh
# Compiles the CUDA sources to machine code for sm_87, which Jetson Orins run without the CUDA driver.
#
#   cubins.sh                       what the bundle carries: the kernels for few tokens of Q4_K and Q6_K models
#   cubins.sh FOLDER [FORMAT ...]   everything for models of these formats (default: all), for nv-tegra.kernel-folder
#
# Run the first form after every change of src/main/resources/**/*.cu and *.cuh; a test says when it was forgotten.
#
# Environment: NVCC  the compiler (default: nvcc of the PATH), CUDA 12.6 or newer
#              JOBS  compilers at the same time (default: number of processors)
set -eu
script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
sources=$(dirname "$script")/src/main/resources/dev/tenon/kernels/nvidia
nvcc=${NVCC:-nvcc}

if [ "${1-}" = compile ]; then # compile FOLDER NAME FILE MACROS...
  folder=$2 name=$3 file=$4
  shift 4
  cd "$sources"
  "$nvcc" -std=c++17 -cubin -arch=sm_87 "$@" -o "$folder/$name.sm_87.cubin" "$file"
  gzip -n9f "$folder/$name.sm_87.cubin"
  exit
fi

every=yes
formats="BF16 F16 F32 IQ4_NL IQ4_XS MXFP4 Q2_K Q3_K Q4_0 Q4_1 Q4_K Q5_0 Q5_1 Q5_K Q6_K Q8_0"
if [ $# -eq 0 ]; then
  every=no
  formats="Q4_K Q6_K"
  target=$sources/prebuilt
else
  mkdir -p "$1"
  target=$(cd "$1" && pwd)
  shift
  [ $# -eq 0 ] || formats=$*
fi
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

list() { # every module: NAME FILE MACROS...
  echo "small small.cu"
  echo "encoders encoders.cu"
  echo "attention attention.cu"
  echo "router router.cu"
  echo "states states.cu"
  echo "key_states key_states.cu"
  if [ $every = yes ]; then
    echo "attention_prefill attention_prefill.cu"
    echo "rows rows.cu"
    echo "float_matmul float_matmul.cu"
  fi
  for format in $formats; do
    echo "embedding.$format embedding.cu -DTENON_FORMAT=$format"
    echo "linear.256.$format linear.cu -DTENON_FORMAT=$format -DTENON_BLOCK=256"
    echo "experts.256.$format experts.cu -DTENON_FORMAT=$format -DTENON_BLOCK=256"
    if [ $every = yes ]; then
      echo "matmul.$format matmul.cu -DTENON_FORMAT=$format"
      echo "expert_matmul.$format expert_matmul.cu -DTENON_FORMAT=$format"
    fi
    # Query and key are of one format; value may be of a larger one, as in llama.cpp's mixes.
    for other in $formats; do
      case "$format:$other" in
      "$format:$format" | Q2_K:Q3_K | Q2_K:Q4_K | Q2_K:Q6_K | Q3_K:Q4_K | Q3_K:Q5_K | Q3_K:Q6_K | Q4_0:Q6_K | \
        Q4_K:Q5_K | Q4_K:Q6_K | Q5_K:Q6_K | Q6_K:Q8_0 | IQ4_NL:Q5_K | IQ4_XS:Q5_K)
        echo "qkv.256.$format.$other qkv.cu -DTENON_FORMAT=$format -DTENON_FORMAT_V=$other -DTENON_BLOCK=256"
        ;;
      esac
    done
  done
}

list | sed "s|^|$work |" | xargs -P "$jobs" -L 1 "$script" compile
mkdir -p "$target"
[ $every = yes ] || rm -f "$target"/*.sm_87.cubin.gz
mv "$work"/*.gz "$target"
if [ $every = no ]; then
  cd "$sources"
  for file in $(ls ./*.cu ./*.cuh | LC_ALL=C sort); do
    printf '%s\n' "${file#./}"
    cat "$file"
  done | sha256sum | cut -d' ' -f1 >"$target/sm_87.sha256"
fi

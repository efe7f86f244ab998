/// NVIDIA GPUs through the CUDA driver, without a toolkit and without JNI: `libcuda.so.1` is called
/// through `java.lang.foreign`.
package dev.tenon.backend.cuda;

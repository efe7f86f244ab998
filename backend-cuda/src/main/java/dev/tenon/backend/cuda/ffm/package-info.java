/// The CUDA driver through `java.lang.foreign`: `libcuda.so.1` without JNI.
package dev.tenon.backend.cuda.ffm;

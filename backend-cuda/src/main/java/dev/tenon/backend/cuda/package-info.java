/// NVIDIA GPUs through the CUDA driver, without a toolkit and, unless a setting asks for it, without JNI.
package dev.tenon.backend.cuda;

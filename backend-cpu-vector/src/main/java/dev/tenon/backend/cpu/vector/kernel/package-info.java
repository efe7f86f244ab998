/// Kernels of the CPU backend: plain Java ones that run everywhere, and Vector API ones behind
/// [VectorKernels].
package dev.tenon.backend.cpu.vector.kernel;

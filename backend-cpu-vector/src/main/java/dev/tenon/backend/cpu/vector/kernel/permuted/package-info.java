/// Linear kernels that read packed activations, rounded to 8 bits and permuted so that integer products of several
/// rows fill a vector.
package dev.tenon.backend.cpu.vector.kernel.permuted;

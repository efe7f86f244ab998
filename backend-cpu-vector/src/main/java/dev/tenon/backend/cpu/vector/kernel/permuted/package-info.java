/// Linear kernels that read packed activations: float32, put once for all rows into the order in which levels come
/// out of the words of a block.
package dev.tenon.backend.cpu.vector.kernel.permuted;

/// Memory of plans: the allocator, which counts what is in use, and the arrays that kernels read and write.
package dev.tenon.backend.cpu.vector.memory;

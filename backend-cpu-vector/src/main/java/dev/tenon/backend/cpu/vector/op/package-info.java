/// The kernels of a compiled plan that see rows alone, one class for each op or fused op of a graph,
/// and what all kernels share during a step. A kernel divides its work among the threads of the
/// team; the arithmetic is in the package `math` and in those below `kernel`.
package dev.tenon.backend.cpu.vector.op;

/// The kernels of a compiled plan, one class for each op or fused op of a graph, and what they share during a step.
/// A kernel divides its work among the threads of the team; the arithmetic is in the packages below `kernel`.
package dev.tenon.backend.cpu.vector.op;

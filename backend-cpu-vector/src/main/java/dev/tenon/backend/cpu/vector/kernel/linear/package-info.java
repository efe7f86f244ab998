/// Linear kernels that read activations as they are, in float32: one class for each weight format, the format's own
/// decoder for all others, and the adapter for row kernels of other bundles.
package dev.tenon.backend.cpu.vector.kernel.linear;

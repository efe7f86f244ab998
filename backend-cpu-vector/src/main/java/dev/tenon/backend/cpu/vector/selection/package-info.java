/// The selection of kernels: which one runs an op for a weight format, of this backend or of another bundle, and
/// whether a graph can run here at all.
package dev.tenon.backend.cpu.vector.selection;

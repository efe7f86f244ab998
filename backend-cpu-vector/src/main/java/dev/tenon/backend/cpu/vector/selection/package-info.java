/// The selection of kernels: which one runs an op for a weight format, of this backend or of another bundle.
package dev.tenon.backend.cpu.vector.selection;

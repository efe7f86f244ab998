/// The arithmetic of activations and norms, in plain Java and in vectors; both give the same bits.
package dev.tenon.backend.cpu.vector.kernel.elements;

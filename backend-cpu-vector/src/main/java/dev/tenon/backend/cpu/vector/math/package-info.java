/// Arithmetic of rows: norms, gates and rotations, by machine code or vectors.
package dev.tenon.backend.cpu.vector.math;

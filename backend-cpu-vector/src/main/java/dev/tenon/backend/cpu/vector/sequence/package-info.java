/// Kernels that see the tokens of a sequence: attention, and ops with a state.
package dev.tenon.backend.cpu.vector.sequence;

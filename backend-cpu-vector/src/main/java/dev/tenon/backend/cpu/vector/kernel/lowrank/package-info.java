/// What low-rank adapters add to projections, in plain Java and with the Vector API.
package dev.tenon.backend.cpu.vector.kernel.lowrank;

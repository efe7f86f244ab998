/// Arithmetic of ops with a state: in plain Java, and with the Vector API.
package dev.tenon.backend.cpu.vector.kernel.states;

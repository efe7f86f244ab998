/// Compilation: a table of ops, by whose rows a graph becomes a flat list of kernels with their memory, and that
/// list is the plan which runs steps.
package dev.tenon.backend.cpu.vector.plan;

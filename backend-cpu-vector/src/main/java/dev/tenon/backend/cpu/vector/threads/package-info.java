/// The team of threads that runs a plan: its barrier and its work counter, and the binding of each thread to a
/// processor of its own.
package dev.tenon.backend.cpu.vector.threads;

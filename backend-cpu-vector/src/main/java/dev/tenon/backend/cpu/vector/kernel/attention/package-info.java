/// The arithmetic of attention on one page of the KV cache, in plain Java and in vectors; both give the same bits.
package dev.tenon.backend.cpu.vector.kernel.attention;

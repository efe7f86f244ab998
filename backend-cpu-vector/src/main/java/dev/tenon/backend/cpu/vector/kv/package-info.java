/// The KV cache and the memory into which attention reads it: pages in a layout that attention reads one head at a
/// time, in float32, F16 or 8 bits.
package dev.tenon.backend.cpu.vector.kv;

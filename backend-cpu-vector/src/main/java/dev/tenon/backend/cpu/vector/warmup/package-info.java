/// The warm-up: plain Java stands in for vector code until the JIT compiler has compiled that, which a thread in the
/// background brings about.
package dev.tenon.backend.cpu.vector.warmup;

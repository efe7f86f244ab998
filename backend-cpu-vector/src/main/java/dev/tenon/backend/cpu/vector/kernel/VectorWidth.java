package dev.tenon.backend.cpu.vector.kernel;

import jdk.incubator.vector.VectorShape;

/// The width of the vectors that all kernels use: the widest that the processor prefers, or what
/// the system property `tenon.vector.bits` (else `TENON_VECTOR_BITS`) asks for: 128 or 256 on a
/// processor that has more; wider ones would run in software.
///
/// Telling it loads a few classes, while the kernels load some two hundred of the Vector API. Not to be
/// touched where the module `jdk.incubator.vector` is missing.
public final class VectorWidth {
    /// System property that overrides the width.
    static final String PROPERTY = "tenon.vector.bits";

    private static final int BITS = select(
            Integer.getInteger(PROPERTY, Integer.parseInt(System.getenv().getOrDefault("TENON_VECTOR_BITS", "512"))),
            VectorShape.preferredShape().vectorBitSize());

    private VectorWidth() {}

    /// {@return bits of a vector: 128, 256 or 512}
    public static int bits() {
        return BITS;
    }

    private static int select(int wanted, int preferred) {
        int bits = Math.min(wanted, preferred);
        return bits >= 512 ? 512 : bits >= 256 ? 256 : 128;
    }
}

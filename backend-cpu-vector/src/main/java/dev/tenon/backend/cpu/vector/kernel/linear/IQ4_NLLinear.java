package dev.tenon.backend.cpu.vector.kernel.linear;

import jdk.incubator.vector.ByteVector;

/// IQ4_NL: 32 four-bit indices into a table of uneven levels and an F16 scale, 4.5 bits a weight.
///
/// ```
/// byte 0       2               18
///      | d:f16 | qs: uint8[16] |        value[i] = d * T[q[i]];  q: see HalfBlocks
///
/// T = -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113
/// ```
public final class IQ4_NLLinear extends LevelLinear {
    static final ByteVector TABLE =
            HalfBlocks.table(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);

    private static final int BYTES = 18;

    public IQ4_NLLinear() {
        super(
                "iq4_nl",
                Kind.SCALE_16,
                HalfBlocks.GROUP,
                BYTES,
                (r, b, f) -> HalfBlocks.scales(r, f, BYTES),
                (r, b, f) -> HalfBlocks.tableLevels(r, b, BYTES, 2, TABLE));
    }
}

package dev.tenon.backend.cpu.vector.kernel.linear;

/// Q4_1: 32 four-bit levels, an F16 scale and an F16 offset, 5 bits a weight.
///
/// ```
/// byte 0       2       4               20
///      | d:f16 | m:f16 | qs: uint8[16] |        value[i] = d * q[i] + m;  q: see HalfBlocks
/// ```
public final class Q4_1Linear extends LevelLinear {
    private static final int BYTES = 20;

    public Q4_1Linear() {
        super(
                "q4_1",
                Kind.SCALE_OFFSET_32,
                HalfBlocks.GROUP,
                BYTES,
                (r, b, f) -> HalfBlocks.scalesAndOffsets(r, f, BYTES),
                (r, b, f) -> HalfBlocks.levels(r, b, BYTES, 4, (byte) 0));
    }
}

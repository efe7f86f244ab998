package dev.tenon.backend.cpu.vector.kernel.linear;

/// Q5_1: 32 five-bit levels, an F16 scale and an F16 offset, 6 bits a weight.
///
/// ```
/// byte 0       2       4            8               24
///      | d:f16 | m:f16 | qh: uint32 | qs: uint8[16] |   value[i] = d * (q[i] | (qh >> i & 1) << 4) + m;  q: see
/// HalfBlocks
/// ```
public final class Q5_1Linear extends LevelLinear {
    private static final int BYTES = 24;

    public Q5_1Linear() {
        super(
                "q5_1",
                Kind.SCALE_OFFSET_32,
                HalfBlocks.GROUP,
                BYTES,
                (r, b, f) -> HalfBlocks.scalesAndOffsets(r, f, BYTES),
                (r, b, f) -> HalfBlocks.fiveBitLevels(r, b, BYTES, 8, (byte) 0));
    }
}

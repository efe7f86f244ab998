package dev.tenon.backend.cpu.vector.kernel.linear;

/// Q5_0: 32 five-bit levels and an F16 scale, 5.5 bits a weight.
///
/// ```
/// byte 0       2            6               22
///      | d:f16 | qh: uint32 | qs: uint8[16] |        value[i] = d * ((q[i] | (qh >> i & 1) << 4) - 16);  q: see
/// HalfBlocks
/// ```
public final class Q5_0Linear extends LevelLinear {
    private static final int BYTES = 22;

    public Q5_0Linear() {
        super(
                "q5_0",
                Kind.SCALE_16,
                HalfBlocks.GROUP,
                BYTES,
                (r, b, f) -> HalfBlocks.scales(r, f, BYTES),
                (r, b, f) -> HalfBlocks.fiveBitLevels(r, b, BYTES, 6, (byte) 16));
    }
}

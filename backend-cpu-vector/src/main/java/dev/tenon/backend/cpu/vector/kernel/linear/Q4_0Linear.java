package dev.tenon.backend.cpu.vector.kernel.linear;

/// Q4_0: 32 four-bit levels and an F16 scale, 4.5 bits a weight.
///
/// ```
/// byte 0       2               18
///      | d:f16 | qs: uint8[16] |        value[i] = d * (q[i] - 8);  q: see HalfBlocks
/// ```
public final class Q4_0Linear extends LevelLinear {
    private static final int BYTES = 18;

    public Q4_0Linear() {
        super(
                "q4_0",
                Kind.SCALE_16,
                HalfBlocks.GROUP,
                BYTES,
                (r, b, f) -> HalfBlocks.scales(r, f, BYTES),
                (r, b, f) -> HalfBlocks.levels(r, b, BYTES, 2, (byte) 8));
    }
}

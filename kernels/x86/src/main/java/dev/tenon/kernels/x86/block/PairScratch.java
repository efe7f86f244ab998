package dev.tenon.kernels.x86.block;

/// The scratch memory of products with pairs and quads of rows.
///
/// ```
/// results [MAX_TOKENS][OUT_ROWS] | sums [PAIRS * SUM_REGISTERS] registers | spread activations [span][token]
/// ```
public final class PairScratch {
    private static final int REGISTER_BYTES = 64;

    /// Most tokens, of quads too.
    public static final int MAX_TOKENS = 32;
    /// Most tokens of pairs.
    public static final int PAIRS_TOKENS = 8;
    /// Floats from a token's results to the next one's.
    public static final int OUT_ROWS = 256;
    /// Most pairs of rows with several tiles.
    public static final int PAIRS = 16;
    /// Most registers of sums.
    static final int SUM_REGISTERS = 16;
    /// Where sums are in scratch memory.
    public static final int SUMS_OFFSET = MAX_TOKENS * OUT_ROWS * Float.BYTES;
    /// Where spread activations begin in scratch memory.
    public static final int SPREAD_OFFSET = SUMS_OFFSET + PAIRS * SUM_REGISTERS * REGISTER_BYTES;

    private PairScratch() {}
}

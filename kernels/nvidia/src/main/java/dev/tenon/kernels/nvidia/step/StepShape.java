package dev.tenon.kernels.nvidia.step;

/// The sizes that a step's launches are planned for. Steps of one shape run the same launches.
///
/// @param rows bucket of the step's tokens; 0 when only the part after `select_rows` runs
/// @param logitRows bucket of the rows that want logits; 0 skips the part after `select_rows`
/// @param decode whether every sequence has one token; only told apart for more rows than
///     [#FEW]
/// @param deep whether a sequence is so long that attention has kernels of its own for it; only told
///     apart for up to [#FEW] rows, see [StepLimits#at]
/// @param candidates most tokens that the device samples among, see [TokenRing]; 0 leaves it
///     to the host
/// @param adapters which adapters are read: 0 for none, [#EVERY] for each of them, otherwise its number plus 1
/// @param given what comes with tokens that the graph reads: a sum of [GivenInput#ROWS], [GivenInput#PLACES] and
///     [GivenInput#SPANS]
public record StepShape(
        int rows, int logitRows, boolean decode, boolean deep, int candidates, int adapters, int given) {
    /// That each adapter is read.
    public static final int EVERY = -1;

    /// Steps of more rows run on tensor cores.
    public static final int FEW = 4;

    /// A shape whose tokens the host samples.
    ///
    /// @param rows as above
    /// @param logitRows as above
    /// @param decode as above
    public StepShape(int rows, int logitRows, boolean decode) {
        this(rows, logitRows, decode, 0);
    }

    /// A shape of steps that are not deep.
    ///
    /// @param rows as above
    /// @param logitRows as above
    /// @param decode as above
    /// @param candidates as above
    public StepShape(int rows, int logitRows, boolean decode, int candidates) {
        this(rows, logitRows, decode, false, candidates, EVERY, 0);
    }

    /// {@return the shape of a step}
    ///
    /// @param tokens number of tokens, at least 1
    /// @param wanted number of rows that want logits
    /// @param sequences number of sequences that have tokens
    public static StepShape of(int tokens, int wanted, int sequences) {
        int rows = Buckets.of(tokens);
        return new StepShape(rows, Buckets.of(wanted), rows > FEW && sequences == tokens);
    }

    /// {@return this shape, with tokens that the device samples from the rows that want logits}
    ///
    /// @param most most tokens that it samples among, 1 to [TokenRing#MOST_CANDIDATES]
    public StepShape sampling(int most) {
        int bucket = most == 1 ? 1 : Math.max(TokenRing.FEW_CANDIDATES, Buckets.of(most));
        return new StepShape(rows, logitRows, decode, deep, bucket, adapters, given);
    }

    /// {@return this shape, with kernels for long sequences; the layout of its input is the same}
    public StepShape withDepth() {
        return new StepShape(rows, logitRows, decode, rows > 0 && rows <= FEW, candidates, adapters, given);
    }

    /// {@return this shape, with what is read of adapters; the layout of its input is the same}
    ///
    /// @param read as [#adapters]
    public StepShape reading(int read) {
        return new StepShape(rows, logitRows, decode, deep, candidates, read, given);
    }

    /// {@return this shape, with what comes with tokens}
    ///
    /// @param there as [#given]
    public StepShape withGiven(int there) {
        return new StepShape(rows, logitRows, decode, deep, candidates, adapters, there);
    }

    /// {@return whether something comes with tokens}
    ///
    /// @param what one of the numbers that [#given] is a sum of
    public boolean has(int what) {
        return (given & what) != 0;
    }

    /// {@return whether an adapter is read}
    ///
    /// @param adapter its number in the graph
    public boolean reads(int adapter) {
        return adapters == EVERY || adapters == adapter + 1;
    }
}

package dev.tenon.kernels.nvidia;

/// The sizes that a step's launches are planned for. Steps of one shape run the same launches.
///
/// @param rows bucket of the step's tokens; 0 when only the part behind `select_rows` runs
/// @param logitRows bucket of the rows that want logits; 0 skips the part behind `select_rows`
/// @param decode whether every sequence has one token; only told apart for more rows than [#FEW]
public record StepShape(int rows, int logitRows, boolean decode) {
    /// Most rows that the matrix-vector kernels take at once.
    public static final int FEW = 8;

    /// {@return the shape of a step}
    ///
    /// @param tokens number of tokens, at least 1
    /// @param wanted number of rows that want logits
    /// @param sequences number of sequences that have tokens
    public static StepShape of(int tokens, int wanted, int sequences) {
        int rows = Buckets.of(tokens);
        return new StepShape(rows, Buckets.of(wanted), rows > FEW && sequences == tokens);
    }
}

package dev.tenon.platform.bench.measure;

/// What is timed: a prompt, a generation, or a prompt followed by a generation, after a number of
/// tokens.
///
/// @param nPrompt prompt tokens
/// @param nGen generated tokens
/// @param nDepth tokens that are in the session before, untimed
/// @param nParallel sequences that do this at once; each has a session and a thread
/// @param greedy whether the generated tokens are the model's own, the best each time, instead of
///     random ones
/// @param edits whether they are those of the session again with some changed, as where a model edits a
///     text, whatever its logits
public record BenchTest(int nPrompt, int nGen, int nDepth, int nParallel, boolean greedy, boolean edits) {
    /// Makes a test that edits nothing.
    public BenchTest(int nPrompt, int nGen, int nDepth, int nParallel, boolean greedy) {
        this(nPrompt, nGen, nDepth, nParallel, greedy, false);
    }

    /// Makes a test whose tokens are random.
    public BenchTest(int nPrompt, int nGen, int nDepth, int nParallel) {
        this(nPrompt, nGen, nDepth, nParallel, false);
    }

    /// Makes a test of one sequence.
    public BenchTest(int nPrompt, int nGen, int nDepth) {
        this(nPrompt, nGen, nDepth, 1);
    }

    /// {@return the name that llama-bench gives it, such as `pp512`, `tg128`, `pp512+tg128 @
    /// d1024`; `x 8` behind it is ours and stands for eight sequences, `greedy` too}
    public String name() {
        String name =
                nPrompt > 0 && nGen > 0 ? "pp" + nPrompt + "+tg" + nGen : nPrompt > 0 ? "pp" + nPrompt : "tg" + nGen;
        return name
                + (edits ? " edit" : greedy ? " greedy" : "")
                + (nParallel > 1 ? " x " + nParallel : "")
                + (nDepth > 0 ? " @ d" + nDepth : "");
    }

    /// {@return tokens that are timed, over all sequences}
    public int tokens() {
        return nParallel * (nPrompt + nGen);
    }

    /// {@return positions that the context of a sequence needs}
    public int context() {
        return nPrompt + nGen + nDepth + (greedy || edits ? 1 : 0);
    }
}

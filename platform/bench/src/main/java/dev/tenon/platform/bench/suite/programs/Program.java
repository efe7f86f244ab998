package dev.tenon.platform.bench.suite.programs;

/// A program of the benchmark suite.
///
/// It measures through its [ProgramRun], case after case, the important ones first: a case that the
/// time left does not allow is skipped. An object has no state, so that it can be asked for its
/// name anywhere.
public interface Program {
    /// {@return the name on the command line}
    String name();

    /// {@return what it measures, in a line}
    String about();

    /// {@return how long it takes about on two processors, which orders the programs; what it takes
    ///     of the suite's time is in proportion}
    int seconds();

    /// Measures.
    ///
    /// @param run what it measures with, and where results go
    /// @throws InterruptedException if it is to end
    /// @throws dev.tenon.api.error.TenonException if it cannot go on; what it measured before is
    ///     kept
    void run(ProgramRun run) throws InterruptedException;
}

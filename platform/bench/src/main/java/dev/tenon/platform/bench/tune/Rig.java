package dev.tenon.platform.bench.tune;

import java.util.List;

/// Where candidates are measured: defaults and one candidate side by side, so that both see the same
/// moments of the machine. For one thread.
interface Rig extends AutoCloseable {
    /// Compiles what candidates need, several at once, while nothing is measured. One that fails here fails again,
    /// and is told, when it is opened.
    ///
    /// @param candidates whose kernels have to be compiled
    void prepare(List<Candidate> candidates);

    /// Makes a candidate ready beside the defaults, in place of the one before.
    ///
    /// @param candidate the candidate
    /// @throws CandidateFailure if it hangs or fails
    void open(Candidate candidate) throws CandidateFailure;

    /// Makes both ready again in plans of their own, so that luck of memory and compilation is drawn again.
    ///
    /// @param candidate the candidate
    /// @param process whether also in a process of their own
    /// @throws CandidateFailure if it hangs or fails
    void reopen(Candidate candidate, boolean process) throws CandidateFailure;

    /// Compares results.
    ///
    /// @return how far the candidate's logits are from the defaults': mean square of the
    ///     difference over that of the logits; 0 for the same bits, NaN where one is no number
    /// @throws CandidateFailure if it hangs or fails
    double difference() throws CandidateFailure;

    /// Measures both in turns.
    ///
    /// @return the times
    /// @throws CandidateFailure if it hangs or fails
    Workload.Quad quad() throws CandidateFailure;

    @Override
    void close();
}

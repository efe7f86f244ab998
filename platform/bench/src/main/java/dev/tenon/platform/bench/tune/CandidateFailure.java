package dev.tenon.platform.bench.tune;

/// A candidate cannot be measured: it hung, failed or computes something else. An outcome, not an error of the tuner.
final class CandidateFailure extends Exception {
    private static final long serialVersionUID = 1L;

    /// @param how what became of it, after the candidate's name
    CandidateFailure(String how) {
        super(how);
    }
}

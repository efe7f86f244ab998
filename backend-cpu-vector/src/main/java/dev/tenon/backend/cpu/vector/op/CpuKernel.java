package dev.tenon.backend.cpu.vector.op;

/// A kernel of a compiled plan: one op of its graph, cut into phases with a barrier after each.
///
/// Within a phase, every thread of the team takes work until there is none ([StepContext#claim(int)]).
public interface CpuKernel {
    /// {@return number of phases, at most}
    int phases();

    /// {@return number of phases in a step}
    ///
    /// @param c the step
    default int phases(StepContext c) {
        return phases();
    }

    /// {@return whether it works on the rows that want logits only}
    boolean selected();

    /// Does a thread's share of a phase.
    ///
    /// @param c the step's input and the threads' memory
    /// @param phase 0 to [#phases()] - 1
    /// @param thread index of the calling thread
    void run(StepContext c, int phase, int thread);
}

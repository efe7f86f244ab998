package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.api.device.PlanReport;
import dev.tenon.api.device.StepInput;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.backend.cpu.vector.expert.ExpertMemory;
import dev.tenon.backend.cpu.vector.math.ElementDispatch;
import dev.tenon.backend.cpu.vector.math.RopeTable;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.op.CpuKernel;
import java.util.List;
import java.util.Map;

/// A graph as kernels, whose activations and thread memory are still to be allocated.
///
/// @param kernels the kernels in order
/// @param logits the output
/// @param outputs outputs beside the logits
/// @param positions number of positions that the model has vectors for
/// @param activations all arrays of values, without memory
/// @param tables tables of all ways to rotate
/// @param needs what each thread needs
/// @param attentionKernels kernels of other bundles for attention; the other layers use this backend's
/// @param elements activations, norms and sums
/// @param ownElements whether this backend's own arithmetic computes some of them
/// @param experts what layers of experts share, without memory
/// @param vocabularySize number of token ids that all embeddings know
record LoweredGraph(
        List<Entry> kernels,
        Activations logits,
        Map<String, Activations> outputs,
        int positions,
        List<Activations> activations,
        List<RopeTable> tables,
        ThreadNeeds needs,
        Map<CoreOp.Attention, AttentionKernel> attentionKernels,
        ElementDispatch elements,
        boolean ownElements,
        ExpertMemory experts,
        int vocabularySize) {
    /// Refuses a step with a position that the model has no vector for.
    void checkPositions(StepInput input) {
        for (int t = 0; positions < Integer.MAX_VALUE && t < input.tokenCount(); t++) {
            if (input.position(t) >= positions) {
                throw new IllegalArgumentException("position " + input.position(t) + " at index " + t
                        + "; the model has vectors for positions 0 to " + (positions - 1));
            }
        }
    }

    /// A kernel of the plan.
    ///
    /// @param kernel the code with its arrays
    /// @param report what the report tells of it
    /// @param weightBytes weight bytes that it reads to decode one token
    record Entry(CpuKernel kernel, PlanReport.Kernel report, long weightBytes) {}

    /// The most memory that any kernel needs on each thread.
    ///
    /// @param scratchFloats floats of linear kernels
    /// @param scratchBytes bytes of linear kernels
    /// @param scratchMemory off-heap bytes of packed kernels and of other bundles' attention
    /// @param normedWidth elements of the longest row that is normed before matrices
    record ThreadNeeds(int scratchFloats, int scratchBytes, long scratchMemory, int normedWidth) {
        /// {@return the larger of both, each number by itself}
        ///
        /// @param other further needs
        ThreadNeeds and(ThreadNeeds other) {
            return new ThreadNeeds(
                    Math.max(scratchFloats, other.scratchFloats),
                    Math.max(scratchBytes, other.scratchBytes),
                    Math.max(scratchMemory, other.scratchMemory),
                    Math.max(normedWidth, other.normedWidth));
        }
    }
}

package dev.tenon.api.device;

import java.util.List;

/// How a graph was compiled, for listings, the coverage test and the byte count of benchmarks.
///
/// @param kernels the flat list of kernels, in order
/// @param weightBytesPerToken weight bytes that decoding one token reads
/// @param memory memory held by the plan
public record PlanReport(List<Kernel> kernels, long weightBytesPerToken, MemoryUse memory) {
    /// Copies the list.
    public PlanReport {
        kernels = List.copyOf(kernels);
    }

    /// One kernel of the plan.
    ///
    /// @param op kind of the op, such as `norm_qkv_rope`
    /// @param name which one, such as `blk.3.attn_q.weight`
    /// @param kernel the kernel's name, such as `q6_k.vector512`
    /// @param level whether it is a fast one
    public record Kernel(String op, String name, String kernel, Support.Level level) {}
}

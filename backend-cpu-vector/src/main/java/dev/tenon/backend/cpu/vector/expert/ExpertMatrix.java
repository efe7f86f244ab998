package dev.tenon.backend.cpu.vector.expert;

import dev.tenon.backend.cpu.vector.op.BoundLinear;

/// The matrices of a layer's experts.
///
/// @param experts each expert's, all with the same shape and kernel
/// @param packed where rows are packed for the kernel, or null if it reads them as they are
public record ExpertMatrix(BoundLinear[] experts, PackedGroups packed) {
    /// {@return the matrices with room for their rows}
    ///
    /// @param experts each expert's
    /// @param used how many experts a token uses
    /// @param memory notes what they need
    public static ExpertMatrix of(BoundLinear[] experts, int used, ExpertMemory memory) {
        BoundLinear first = experts[0];
        memory.need(experts.length, used);
        if (first.packed() != null) {
            return new ExpertMatrix(experts, memory.packed(first.packed().kernel, first.cols()));
        }
        memory.needPlain(first.cols());
        return new ExpertMatrix(experts, null);
    }

    /// {@return rows of each matrix}
    int rows() {
        return experts[0].rows();
    }

    /// {@return one of the matrices, for reports}
    public BoundLinear any() {
        return experts[0];
    }
}

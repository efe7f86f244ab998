package dev.tenon.api.device;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/// Brings the pages of a KV cache, or the slots of states, to the host and back, so that sessions can be saved. What
/// the bytes mean is the backend's own; all pieces have the same number of them, [KvPages#pageBytes()] or
/// [StateSlots#slotBytes()]. Not during a step.
@ConsumerType
public interface HostCopies {
    /// {@return what tells how the bytes lie: a plan of the same graph and weights whose text is the same gives them
    /// the same meaning}
    String layout();

    /// Copies a piece to the host.
    ///
    /// @param index a page or slot
    /// @param target off-heap, as large as a piece
    void read(int index, MemorySegment target);

    /// Copies a piece from the host.
    ///
    /// @param index a page or slot
    /// @param tokens how many tokens a slot has seen; for pages it does not matter
    /// @param source off-heap, what [#read] gave
    void write(int index, int tokens, MemorySegment source);
}

package dev.tenon.api.device;

import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// The memory of the states of a plan ([dev.tenon.api.graph.Graph#opsWithState()]), cut into slots. The
/// backend owns the memory; the platform decides which sequence uses which slot.
///
/// A slot holds the states of all ops for one sequence, and advances with its tokens. The sequence's token at
/// position 0 begins with empty states, whatever the slot held before. A state cannot be cut back: a copy
/// taken earlier is put in its place, or the tokens run again from position 0. After a step that failed, the
/// slots of its sequences hold nothing of use.
@ConsumerType
public interface StateSlots {
    /// {@return number of slots, [PlanOptions#stateSlots()]; slots are 0 to this - 1}
    int slotCount();

    /// {@return bytes of a slot over all ops}
    long slotBytes();

    /// Copies a slot, so that a sequence can return to where it was, or another one go on from there. Not
    /// during a step.
    ///
    /// @param from source slot
    /// @param to target slot
    void copy(int from, int to);

    /// {@return what brings slots to the host and back; empty if the backend cannot do that}
    default Optional<HostCopies> hostCopies() {
        return Optional.empty();
    }
}

package dev.tenon.api.device;

import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/// A compiled graph with its weights bound and its KV cache allocated. The only hot boundary
/// between platform and backend: one call a step.
///
/// One step at a time: calls of [#run] come one after the other, from any thread. The plan owns its
/// device memory and releases it in [#close()]; it borrows the weights until then.
@ConsumerType
public interface Plan extends AutoCloseable {
    /// Runs one step: appends keys and values of all tokens to their pages and computes the wanted logits.
    ///
    /// @param input the batch; borrowed until the call returns
    /// @return the logits, owned by the plan and valid until the next call
    /// @throws IllegalArgumentException if the input exceeds the plan's limits
    /// @throws dev.tenon.api.error.BackendException (`BACKEND-003`) if the device failed
    StepResult run(StepInput input);

    /// {@return the KV cache's memory}
    KvPages kvPages();

    /// {@return the memory of the layers with a window, if the plan has such layers and was asked to keep them apart
    /// ([PlanOptions#windowTokens()]); the pages of [#kvPages()] are then those of the other layers}
    default Optional<WindowPages> windowPages() {
        return Optional.empty();
    }

    /// {@return the memory of the states of sequences; empty if the graph has no op with a state}
    default Optional<StateSlots> states() {
        return Optional.empty();
    }

    /// {@return how the graph was compiled}
    PlanReport report();

    /// {@return what measures the plan's single kernels, if the backend can do that}
    default Optional<PlanProfiler> profiler() {
        return Optional.empty();
    }

    /// {@return whether [#run] keeps to [masks][StepInput#mask] where it samples; if not, no row has one}
    default boolean takesMasks() {
        return false;
    }

    /// {@return what generates tokens without the host, if the backend can do that; it lives as long as the
    /// plan}
    default Optional<TokenGenerator> generator() {
        return Optional.empty();
    }

    /// Frees all memory of the plan. Calling it twice does nothing.
    @Override
    void close();
}

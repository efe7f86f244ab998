package dev.tenon.platform.contracts.compare;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.DeviceOptions;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.kernel.KernelProvider;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// One of the two things that are compared: a graph with its weights, and what computes it.
///
/// @param label what reports call it
/// @param graph the graph, expanded into core ops
/// @param weights its weights; borrowed
/// @param backend where it runs; empty for the reference, float64 arithmetic in plain Java
/// @param device id of the backend's device, or empty
/// @param kernels kernels of other bundles
public record Side(
        String label,
        Graph graph,
        Weights weights,
        Optional<Backend> backend,
        String device,
        List<KernelProvider> kernels) {
    /// The id that stands for the reference.
    public static final String REFERENCE = "reference";

    /// Runs tokens.
    ///
    /// @param tokens token ids
    /// @return the outputs of all ops; the caller closes it
    OpOutputs run(int[] tokens) {
        if (backend.isEmpty()) {
            return new ReferenceOutputs(graph, weights, tokens);
        }
        // Plans live for two steps: nothing is gained by compiling kernels in the background.
        Device opened = backend.get()
                .open(DeviceOptions.builder()
                        .deviceId(device)
                        .settings(Map.of("warmup", "off"))
                        .build());
        return new PlanOutputs(this, opened, tokens);
    }
}

package dev.tenon.platform.core.placement;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.Device;
import dev.tenon.api.device.Plan;
import dev.tenon.api.media.encoder.MediaLayout;
import dev.tenon.api.model.ModelDefinition;
import dev.tenon.platform.core.tuned.TunedModel.Status;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// A model compiled on a device. Owns plans and device, and closes the device last.
///
/// @param backend where it runs
/// @param device the open device
/// @param plan the compiled graph
/// @param head the compiled head for further tokens, with the plan's pages and some after them; empty
///     where it is not used
/// @param definition what was compiled
/// @param layout how pictures or sounds are laid out for it, if it is an encoder of such
/// @param outputs names of the graph's outputs, the default one first
/// @param services all services it uses, by identity: when one is withdrawn, the placement has to
///     end
/// @param tuned which tuned settings it runs with
/// @param check run after each step, before its results are used: fails if what the plan reads is no
///     longer the model
public record Placement(
        Backend backend,
        Device device,
        Plan plan,
        Optional<Plan> head,
        ModelDefinition definition,
        Optional<MediaLayout> layout,
        List<String> outputs,
        Set<Object> services,
        Status tuned,
        Runnable check)
        implements AutoCloseable {
    public boolean uses(Object service) {
        return services.contains(service);
    }

    @Override
    public void close() {
        try (device;
                plan) {
            head.ifPresent(Plan::close);
        }
    }
}

package dev.tenon.api.kernel;

import dev.tenon.api.config.Setting;
import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// Kernels that a format or model bundle offers to other bundles' backends. Without one, a new
/// format still runs, through its scalar decoder.
@ConsumerType
public interface KernelProvider {
    /// {@return the kernels, any number for any kind of device; a stable list}
    List<Kernel> kernels();

    /// {@return the settings that it reads once in a process, for those who list them; a stable list}
    default List<Setting> settings() {
        return List.of();
    }
}

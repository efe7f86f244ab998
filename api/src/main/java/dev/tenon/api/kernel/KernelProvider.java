package dev.tenon.api.kernel;

import dev.tenon.api.config.Setting;
import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// Kernels that a format or model bundle offers to other bundles' backends. Without one, a new
/// format still runs, through its scalar decoder. Safe for any thread.
@ConsumerType
public interface KernelProvider {
    /// {@return the kernels, the best first, any number for any kind of device; a stable list}
    List<Kernel> kernels();

    /// {@return how much its kernels are preferred to those of other providers; the highest rank wins, see
    /// [KernelOffers]}
    default int rank() {
        return 0;
    }

    /// {@return the settings that it reads once in a process, for those who list them; a stable list}
    default List<Setting> settings() {
        return List.of();
    }
}

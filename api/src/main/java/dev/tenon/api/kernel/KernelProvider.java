package dev.tenon.api.kernel;

import dev.tenon.api.config.Setting;
import dev.tenon.api.quant.QuantFormat;
import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// Kernels that a format or model bundle offers to other bundles' backends. Without one, a new
/// format still runs, through its scalar decoder. Safe for any thread.
@ConsumerType
public interface KernelProvider {
    /// {@return the kernels that it has by themselves, the best first, any number for any kind of device; a stable
    /// list. [#kernels(QuantFormat)] may have more}
    List<Kernel> kernels();

    /// {@return the kernels that read a format, the best first; by default those of [#kernels()] that name it. Who
    /// makes kernels of layouts ([QuantFormat#layout()]) makes them here, and gives the same for an equal layout
    /// again}
    ///
    /// @param format a weight format
    default List<Kernel> kernels(QuantFormat format) {
        return kernels().stream()
                .filter(kernel -> kernel.format().equals(format.id()))
                .toList();
    }

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

package dev.tenon.api.kernel;

import java.util.List;
import org.osgi.annotation.versioning.ConsumerType;

/// Kernels that a format or model bundle offers to other bundles' backends. Without one, a new format
/// still runs,
/// through its
/// scalar decoder.
@ConsumerType
public interface KernelProvider {
    /// {@return the kernels, any number for any kind of device; a stable list}
    List<Kernel> kernels();
}

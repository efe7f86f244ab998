package dev.tenon.api.kernel;

import org.osgi.annotation.versioning.ConsumerType;

/// Code for one op on one kind of device. The concrete forms are in `kernel.cpu` (Java and machine code for
/// CPU backends) and `kernel.cuda` (CUDA C for the NVIDIA backends). Stateless and safe for
/// any thread.
@ConsumerType
public interface Kernel {
    /// {@return what reports call it, such as `q4_k.scalar`}
    String name();

    /// {@return the kind of device it runs on, as in [dev.tenon.api.device.DeviceInfo#kind()]}
    String deviceKind();

    /// {@return the op it implements, as in [dev.tenon.api.graph.Op#kind()]}
    String op();

    /// {@return the weight format it reads, as in [dev.tenon.api.quant.QuantFormat#id()]}
    String format();
}

package dev.tenon.api.kernel;

import org.osgi.annotation.versioning.ConsumerType;

/// Code that computes an op, or the core of one, on one kind of device. Stateless and safe for any thread.
///
/// A backend looks kernels up by their type, which is a sub-interface with the call itself, and by
/// [#deviceKind()], [#op()] and [#format()]; [KernelOffers] has the rule where several match. The
/// sub-interfaces are in `kernel.cpu` (Java and machine code for CPU backends) and `kernel.cuda` (CUDA C
/// for the NVIDIA backends).
@ConsumerType
public interface Kernel {
    /// The format of kernels that are not made for one.
    String ANY_FORMAT = "any";

    /// {@return what reports call it, such as `q4_k.scalar`}
    String name();

    /// {@return the kind of device it runs on, as in [dev.tenon.api.device.DeviceInfo#kind()]}
    String deviceKind();

    /// {@return what it computes, which its type determines: the kind of an op, as in
    /// [dev.tenon.api.graph.Op#kind()], or `elements` for all ops that work on single elements of rows}
    String op();

    /// {@return the format of the stored data that it reads, as in [dev.tenon.api.quant.QuantFormat#id()]:
    /// of weights for `linear`, of cached keys and values for `attention`, of rows for `elements`;
    /// [#ANY_FORMAT] for ops that bundles define}
    String format();
}

package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.api.kernel.cuda.CudaOpKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.DeviceFormats;
import java.util.Collection;
import java.util.List;

/// Judges how well ops run, by their rows.
///
/// @param weights formats of the ops' weights
/// @param formats how formats lie on the device
/// @param ownOps kernels of other bundles for ops of their own, in the order of the rule
/// @param libraries bundles whose libraries are named beside the kernels that they stand in for
record OpSupport(
        Weights weights, DeviceFormats formats, List<CudaOpKernel> ownOps, Collection<KernelProvider> libraries) {
    /// {@return how well an op runs, and why}
    Support of(Op op) {
        return NvidiaOps.row(op).support().apply(op, this);
    }

    /// {@return the same for ops inside of others}
    OpSupport inside() {
        return new OpSupport(weights, formats, ownOps, List.of());
    }

    /// {@return what is said of an op whose kernel takes float32}
    static Support float32(Op op, OpSupport judge) {
        return new Support(Support.Level.FAST, "float32 kernel " + op.kind());
    }

    /// {@return a refusal}
    ///
    /// @param what which ops
    static Support notYet(String what) {
        return new Support(Support.Level.NONE, what + " is not supported by NVIDIA kernels yet");
    }

    /// {@return how fast products with a weight are}
    ///
    /// @param kind what reports call the kernel
    Support matrix(String kind, Weight weight) {
        QuantFormat format = weights.format(weight.name());
        DeviceFormat device = formats.of(format);
        return device.transcoded()
                ? new Support(
                        Support.Level.GENERIC,
                        kind + " of " + weight.name() + ": no kernel for " + format.id()
                                + ", so it is decoded to F16 when it is loaded")
                : new Support(Support.Level.FAST, "kernel " + kind + "_" + device.id() + " for " + weight.name());
    }

    /// {@return what follows the reason of a product: the library that computes many rows of it, or why one that is
    /// offered does not}
    String library(Weight weight) {
        String format = weights.format(weight.name()).id();
        CudaMatmul library = KernelSupport.libraries(libraries).get(format);
        return library != null
                ? "; in steps of many rows " + library.name()
                : libraries.stream()
                        .flatMap(provider -> provider.kernels().stream())
                        .filter(kernel ->
                                kernel instanceof CudaMatmul && kernel.format().equals(format))
                        .flatMap(kernel -> ((CudaMatmul) kernel).refusal().stream())
                        .map(reason -> "; a library offered for it cannot run here: " + reason)
                        .findFirst()
                        .orElse("");
    }
}

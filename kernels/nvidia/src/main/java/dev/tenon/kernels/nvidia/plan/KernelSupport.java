package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.KernelOffers;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.api.kernel.cuda.CudaOpKernel;
import dev.tenon.kernels.nvidia.DeviceFormats;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/// Decides which ops the kernels run, and how. Safe for any thread.
public final class KernelSupport {
    private KernelSupport() {}

    /// {@return the block decoders that other bundles offer, by format id}
    static Map<String, CudaFragment> fragments(Collection<KernelProvider> offered) {
        Map<String, CudaFragment> fragments = new HashMap<>();
        for (KernelOffers.Offer offer : KernelOffers.of(offered, "cuda").offers()) {
            if (offer.kernel() instanceof CudaFragment fragment) {
                fragments.putIfAbsent(fragment.format(), fragment);
            }
        }
        return fragments;
    }

    /// {@return the libraries that compute products of many rows on this machine, by format id}
    static Map<String, CudaMatmul> libraries(Collection<KernelProvider> offered) {
        Map<String, CudaMatmul> libraries = new HashMap<>();
        for (KernelOffers.Offer offer : KernelOffers.of(offered, "cuda").offers()) {
            if (offer.kernel() instanceof CudaMatmul library
                    && library.refusal().isEmpty()) {
                libraries.putIfAbsent(library.format(), library);
            }
        }
        return libraries;
    }

    /// {@return the kernels that other bundles offer for ops of their own, in the order of the rule}
    static List<CudaOpKernel> ownOps(Collection<KernelProvider> offered) {
        List<CudaOpKernel> kernels = new ArrayList<>();
        for (KernelOffers.Offer offer : KernelOffers.of(offered, "cuda").offers()) {
            if (offer.kernel() instanceof CudaOpKernel kernel) {
                kernels.add(kernel);
            }
        }
        return kernels;
    }

    /// Judges one op.
    ///
    /// @param op the op
    /// @param weights formats of its weights
    /// @param offered kernels of other bundles
    /// @param compiles whether kernels can be compiled; asked only where that matters
    /// @return how well, and why
    public static Support of(Op op, Weights weights, Collection<KernelProvider> offered, BooleanSupplier compiles) {
        return new OpSupport(weights, new DeviceFormats(fragments(offered), compiles), ownOps(offered), offered).of(op);
    }

    /// {@return whether there is a kernel for the whole op}
    static boolean isFused(CustomOp op) {
        return NvidiaOps.row(op).known().test(op);
    }
}

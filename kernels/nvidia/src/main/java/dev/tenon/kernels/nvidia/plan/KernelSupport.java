package dev.tenon.kernels.nvidia.plan;

import dev.tenon.api.compile.GraphSupport;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.CustomOp;
import dev.tenon.api.graph.ExpertOp;
import dev.tenon.api.graph.LowRankAdd;
import dev.tenon.api.graph.Op;
import dev.tenon.api.graph.PartOp;
import dev.tenon.api.graph.PositionScale;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.StateOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.KernelOffers;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.api.kernel.cuda.CudaMatmul;
import dev.tenon.api.kernel.cuda.CudaOpKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.nvidia.DeviceFormat;
import dev.tenon.kernels.nvidia.launch.AttentionLaunches;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

    /// {@return the kernel for an op that a bundle defines, if one is offered}
    static Optional<CudaOpKernel> ownOp(ReferenceOp op, List<CudaOpKernel> kernels) {
        for (CudaOpKernel kernel : kernels) {
            if (kernel.op().equals(op.kind()) && kernel.accepts(op)) {
                return Optional.of(kernel);
            }
        }
        return Optional.empty();
    }

    /// {@return how well an op that a bundle defines runs, and why}
    static Support ownOp(ReferenceOp op, List<CudaOpKernel> kernels, boolean compiles) {
        Optional<CudaOpKernel> kernel = ownOp(op, kernels);
        if (kernel.isEmpty()) {
            return new Support(
                    Support.Level.NONE,
                    "op " + op.kind() + " is a bundle's own: it needs a kernel, and none is offered here, or a CPU");
        }
        if (!compiles) {
            return new Support(
                    Support.Level.NONE,
                    "op " + op.kind() + " is a bundle's own, and nothing here compiles its kernel "
                            + kernel.get().name() + ": it needs NVRTC (see cuda.nvrtc), or a CPU");
        }
        return new Support(Support.Level.FAST, "kernel " + kernel.get().name() + " for op " + op.kind());
    }

    /// Judges one op.
    ///
    /// @param op the op
    /// @param weights formats of its weights
    /// @param offered kernels of other bundles
    /// @param compiles whether kernels can be compiled; asked only where that matters
    /// @return how well, and why
    public static Support of(Op op, Weights weights, Collection<KernelProvider> offered, BooleanSupplier compiles) {
        if (op instanceof ReferenceOp own && !(op instanceof CustomOp)) {
            return ownOp(own, ownOps(offered), compiles.getAsBoolean());
        }
        Support support = of(op, weights, fragments(offered));
        if (op instanceof CoreOp.Linear linear && linear.bias().isEmpty() && support.level() != Support.Level.NONE) {
            String format = weights.format(linear.weight().name()).id();
            CudaMatmul library = libraries(offered).get(format);
            String more =
                    library != null ? "; in steps of many rows " + library.name() : missingLibrary(offered, format);
            return new Support(support.level(), support.reason() + more);
        }
        return support;
    }

    /// Why a library of a format cannot run on this machine; empty if none is offered.
    private static String missingLibrary(Collection<KernelProvider> offered, String format) {
        return offered.stream()
                .flatMap(provider -> provider.kernels().stream())
                .filter(kernel ->
                        kernel instanceof CudaMatmul && kernel.format().equals(format))
                .flatMap(kernel -> ((CudaMatmul) kernel).refusal().stream())
                .map(reason -> "; a library offered for it cannot run here: " + reason)
                .findFirst()
                .orElse("");
    }

    /// {@return how well an op runs, and why}
    static Support of(Op op, Weights weights, Map<String, CudaFragment> fragments) {
        Optional<String> refusal = NoKernelYet.reason(op);
        if (refusal.isPresent()) {
            return new Support(Support.Level.NONE, refusal.get());
        }
        return switch (op) {
            case CoreOp.Linear linear -> matrix(linear.kind(), linear.weight(), weights, fragments);
            case CoreOp.Embedding embedding -> matrix(embedding.kind(), embedding.table(), weights, fragments);
            case CoreOp.PositionEmbedding embedding -> matrix("embedding", embedding.table(), weights, fragments);
            case PartOp.HeadLinear linear -> matrix(linear.kind(), linear.weight(), weights, fragments);
            case ExpertOp.ExpertLinear linear -> matrix(linear.kind(), linear.weight(), weights, fragments);
            case LowRankAdd l ->
                l.weights().stream()
                        .map(weight -> matrix("linear", weight, weights, fragments))
                        .max(Comparator.comparing(Support::level))
                        .orElseThrow();
            case CoreOp.Attention a -> attention(a);
            case StateOp _,
                    ExpertOp.Router _,
                    ExpertOp.WeightedSum _,
                    CoreOp.Repeat _,
                    CoreOp.RmsNorm _,
                    CoreOp.LayerNorm _,
                    CoreOp.Rope _,
                    CoreOp.Add _,
                    CoreOp.Multiply _,
                    CoreOp.Activate _,
                    CoreOp.SwigluOai _,
                    CoreOp.Scale _,
                    CoreOp.SoftCap _,
                    PositionScale _,
                    PartOp.Slice _,
                    PartOp.Join _,
                    PartOp.GroupedRmsNorm _,
                    PartOp.GroupedLayerNorm _,
                    PartOp.PlainRmsNorm _,
                    CoreOp.SelectRows _,
                    CoreOp.Pool _ -> new Support(Support.Level.FAST, "float32 kernel " + op.kind());
            case CustomOp custom -> GraphSupport.of(custom, isFused(custom), inner -> of(inner, weights, fragments));
            default -> GraphSupport.unknown(op);
        };
    }

    private static Support matrix(String kind, Weight weight, Weights weights, Map<String, CudaFragment> fragments) {
        QuantFormat format = weights.format(weight.name());
        DeviceFormat device = DeviceFormat.of(format, fragments);
        return device.transcoded()
                ? new Support(
                        Support.Level.GENERIC,
                        kind + " of " + weight.name() + ": no kernel for " + format.id()
                                + ", so it is decoded to F16 when it is loaded")
                : new Support(Support.Level.FAST, "kernel " + kind + "_" + device.id() + " for " + weight.name());
    }

    private static Support attention(CoreOp.Attention a) {
        int longest = Math.max(a.keyLength(), a.valueLength());
        return longest > AttentionLaunches.LONGEST_HEAD
                ? new Support(
                        Support.Level.NONE,
                        "attention with heads of " + longest + " elements; the kernels take at most "
                                + AttentionLaunches.LONGEST_HEAD)
                : new Support(Support.Level.FAST, "kernel attention");
    }

    /// {@return whether there is a kernel for the whole op}
    static boolean isFused(Op op) {
        return FusedOpFilter.isKnown(op);
    }
}

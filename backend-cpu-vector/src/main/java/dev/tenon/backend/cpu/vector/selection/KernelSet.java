package dev.tenon.backend.cpu.vector.selection;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.ElementKernel;
import dev.tenon.api.kernel.cpu.PackedKernel;
import dev.tenon.api.kernel.cpu.RowKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.CpuVectorBackend;
import dev.tenon.backend.cpu.vector.kernel.VectorWidth;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.kernel.linear.LinearKernel;
import dev.tenon.backend.cpu.vector.kernel.linear.RowKernelLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.ScalarLinear;
import dev.tenon.backend.cpu.vector.op.Elements;
import dev.tenon.backend.cpu.vector.warmup.WarmAttention;
import dev.tenon.backend.cpu.vector.warmup.WarmElements;
import java.util.Collection;
import java.util.Locale;

/// Chooses kernels: the Vector API ones if they can run fast here, else the plain Java ones.
///
/// @param vector whether the Vector API's module is there and its code is compiled by C2
/// @param warming whether plain Java stands in for attention, activations and norms until the warm-up has had
///     their vector forms compiled
public record KernelSet(boolean vector, boolean warming) {
    /// Chooses kernels that are used from the start.
    ///
    /// @param vector whether the Vector API's module is there and its code is compiled by C2
    public KernelSet(boolean vector) {
        this(vector, false);
    }

    /// Chooses a kernel for a weight format: one of this backend, else one that another bundle offers,
    /// else the
    /// format's decoder.
    ///
    /// @param format weight format
    /// @param offered what other bundles offer
    /// @return the kernel, never null
    public LinearKernel linear(QuantFormat format, Collection<KernelProvider> offered) {
        LinearKernel own = vector ? VectorKernels.linear(format.id()) : null;
        if (own != null) {
            return own;
        }
        for (KernelProvider provider : offered) {
            for (Kernel kernel : provider.kernels()) {
                if (kernel instanceof RowKernel row
                        && row.format().equals(format.id())
                        && row.op().equals("linear")
                        && row.deviceKind().equals(CpuVectorBackend.KIND)) {
                    return new RowKernelLinear(row);
                }
            }
        }
        return new ScalarLinear(format, format.id().toLowerCase(Locale.ROOT) + (vector ? ".generic" : ".scalar"));
    }

    /// {@return a kernel that packs its activations: one that another bundle offers, else one of this
    /// backend, or null if there is none}
    ///
    /// @param format weight format
    /// @param n elements in a row
    /// @param offered what other bundles offer
    public PackedKernel packed(QuantFormat format, int n, Collection<KernelProvider> offered) {
        for (KernelProvider provider : offered) {
            for (Kernel kernel : provider.kernels()) {
                if (kernel instanceof PackedKernel packed
                        && packed.format().equals(format.id())
                        && packed.op().equals("linear")
                        && packed.deviceKind().equals(CpuVectorBackend.KIND)
                        && packed.accepts(n)) {
                    return packed;
                }
            }
        }
        PackedKernel own = vector ? VectorKernels.packed(format.id()) : null;
        return own != null && own.accepts(n) ? own : null;
    }

    /// {@return a kernel for attention that another bundle offers, or null if none fits}
    ///
    /// @param op the op; none fits where scores are capped
    /// @param keyType element type of cached keys
    /// @param valueType element type of cached values
    /// @param offered what other bundles offer
    public static AttentionKernel attention(
            CoreOp.Attention op, KvType keyType, KvType valueType, Collection<KernelProvider> offered) {
        // Rows of values are kept aligned here, and right behind each other in a kernel's.
        if (op.softCap() > 0 || AttentionMath.aligned(op.valueLength()) != op.valueLength()) {
            return null;
        }
        for (KernelProvider provider : offered) {
            for (Kernel kernel : provider.kernels()) {
                if (kernel instanceof AttentionKernel attention
                        && attention.op().equals(op.kind())
                        && attention.deviceKind().equals(CpuVectorBackend.KIND)
                        && attention.accepts(keyType, valueType, op.keyLength(), op.valueLength())) {
                    return attention;
                }
            }
        }
        return null;
    }

    /// {@return activations, norms and sums of a plan, with a kernel that another bundle offers if there is one}
    ///
    /// @param offered what other bundles offer
    public Elements elements(Collection<KernelProvider> offered) {
        for (KernelProvider provider : offered) {
            for (Kernel kernel : provider.kernels()) {
                if (kernel instanceof ElementKernel elements
                        && elements.deviceKind().equals(CpuVectorBackend.KIND)) {
                    return new Elements(elements(), elements);
                }
            }
        }
        return new Elements(elements(), null);
    }

    /// {@return what reports call attention}
    public String attentionName() {
        return vector ? "attention.vector" + vectorBits() : "attention.scalar";
    }

    /// {@return the arithmetic of attention}
    public AttentionMath attention() {
        if (!vector) {
            return AttentionMath.SCALAR;
        }
        return warming ? new WarmAttention(AttentionMath.SCALAR, VectorKernels::attention) : VectorKernels.attention();
    }

    /// {@return what reports call activations and norms}
    public String elementsName() {
        return vector ? "elements.vector" + vectorBits() : "elements.scalar";
    }

    /// {@return activations and norms}
    public ElementMath elements() {
        if (!vector) {
            return ElementMath.SCALAR;
        }
        return warming ? new WarmElements(ElementMath.SCALAR, VectorKernels::elements) : VectorKernels.elements();
    }

    /// {@return width of the vectors in use; 0 for plain Java}
    public int vectorBits() {
        return vector ? VectorWidth.bits() : 0;
    }

    /// {@return the kernels in words}
    public String describe() {
        return vector ? "Vector API kernels of " + vectorBits() + " bits" : "plain Java kernels";
    }
}

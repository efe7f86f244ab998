package dev.tenon.backend.cpu.vector.selection;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.device.Support;
import dev.tenon.api.device.Weights;
import dev.tenon.api.graph.CoreOp;
import dev.tenon.api.graph.ReferenceOp;
import dev.tenon.api.graph.Weight;
import dev.tenon.api.kernel.Kernel;
import dev.tenon.api.kernel.KernelOffers;
import dev.tenon.api.kernel.KernelProvider;
import dev.tenon.api.kernel.cpu.AttentionKernel;
import dev.tenon.api.kernel.cpu.ElementKernel;
import dev.tenon.api.kernel.cpu.LinearKernel;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.backend.cpu.vector.kernel.VectorWidth;
import dev.tenon.backend.cpu.vector.kernel.attention.AttentionMath;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import dev.tenon.backend.cpu.vector.kernel.linear.FloatLinear;
import dev.tenon.backend.cpu.vector.kernel.linear.ScalarLinear;
import dev.tenon.backend.cpu.vector.kernel.lowrank.LowRankMath;
import dev.tenon.backend.cpu.vector.kernel.states.StateMath;
import dev.tenon.backend.cpu.vector.math.ElementDispatch;
import dev.tenon.backend.cpu.vector.warmup.WarmAttention;
import dev.tenon.backend.cpu.vector.warmup.WarmElementMath;
import dev.tenon.backend.cpu.vector.warmup.WarmStateMath;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/// Selects kernels: those that other bundles offer and this backend's own, which are the Vector API ones if
/// they can run fast here, otherwise the plain Java ones.
///
/// @param vector whether the Vector API's module is there and its code is compiled by C2
/// @param warming whether plain Java stands in for attention, activations and norms until the warm-up has
///     had their vector forms compiled
/// @param offered what other bundles offer
public record KernelSet(boolean vector, boolean warming, KernelOffers offered) {
    /// The kind of device that kernels of other bundles have to name.
    public static final String KIND = "cpu";

    /// A linear kernel; exactly one of the two is not null.
    ///
    /// @param packed a kernel that packs its activations
    /// @param plain a kernel that reads activations as they are
    public record Linear(LinearKernel packed, FloatLinear plain) {
        /// {@return what reports call it}
        public String name() {
            return packed != null ? packed.name() : plain.name();
        }

        /// {@return how fast it is}
        public Support.Level level() {
            return packed != null ? Support.Level.FAST : plain.level();
        }
    }

    /// Creates a set.
    ///
    /// @param vector whether the Vector API's module is there and its code is compiled by C2
    /// @param warming whether plain Java stands in for vector forms at first
    /// @param offered what other bundles offer
    public KernelSet(boolean vector, boolean warming, Collection<KernelProvider> offered) {
        this(vector, warming, KernelOffers.of(offered, KIND));
    }

    /// Creates a set without warm-up and without kernels of other bundles.
    ///
    /// @param vector whether the Vector API's module is there and its code is compiled by C2
    public KernelSet(boolean vector) {
        this(vector, false, List.of());
    }

    /// {@return the kernel for a weight format: another bundle's, the first that accepts the rows in the order of
    /// [KernelOffers]; otherwise this backend's own; otherwise one that is made of the format's layout;
    /// otherwise the format's decoder}
    ///
    /// @param format weight format
    /// @param n elements in a row
    public Linear linear(QuantFormat format, int n) {
        LinearKernel packed = packed(format, n);
        return packed != null ? new Linear(packed, null) : new Linear(null, plain(format, n));
    }

    private LinearKernel packed(QuantFormat format, int n) {
        Optional<LinearKernel> other = offered.first(LinearKernel.class, format, k -> k.accepts(n));
        if (other.isPresent()) {
            return other.get();
        }
        LinearKernel own = vector ? VectorKernels.packed(format.id()) : null;
        return own != null && own.accepts(n) ? own : null;
    }

    private FloatLinear plain(QuantFormat format, int n) {
        FloatLinear own = vector ? VectorKernels.linear(format, n) : null;
        if (own != null) {
            return own;
        }
        return new ScalarLinear(format, format.id().toLowerCase(Locale.ROOT) + (vector ? ".generic" : ".scalar"));
    }

    /// {@return a kernel for attention that another bundle offers, or null if none fits}
    ///
    /// @param op the op; none fits where scores are capped or have a bias, or where values are in keys
    /// @param keyType element type of cached keys
    /// @param valueType element type of cached values
    public AttentionKernel attention(CoreOp.Attention op, KvType keyType, KvType valueType) {
        // Rows of values are kept aligned here, and one directly after the other in a kernel's.
        boolean plain = op.params().softCap() == 0
                && !op.params().valuesInKeys()
                && op.params().scoreBias().isEmpty();
        if (!plain || AttentionMath.aligned(op.valueLength()) != op.valueLength()) {
            return null;
        }
        return offered(AttentionKernel.class, k -> k.accepts(keyType, valueType, op.keyLength(), op.valueLength()));
    }

    /// {@return a kernel for an op that a model bundle defines, or null if none is offered}
    ///
    /// @param op the op
    /// @param weights formats of its weights
    public OpKernel own(ReferenceOp op, Weights weights) {
        List<QuantFormat> formats = new ArrayList<>();
        for (Weight weight : op.weights()) {
            formats.add(weights.format(weight.name()));
        }
        return offered(OpKernel.class, k -> k.op().equals(op.kind()) && k.accepts(op, List.copyOf(formats)));
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

    /// {@return activations, norms and sums of a plan, with a kernel that another bundle offers if there is one}
    public ElementDispatch elements() {
        return new ElementDispatch(elementMath(), offered(ElementKernel.class, _ -> true));
    }

    /// {@return what reports call activations and norms}
    public String elementsName() {
        return vector ? "elements.vector" + vectorBits() : "elements.scalar";
    }

    /// {@return the arithmetic of activations and norms}
    public ElementMath elementMath() {
        if (!vector) {
            return ElementMath.SCALAR;
        }
        return warming ? new WarmElementMath(ElementMath.SCALAR, VectorKernels::elements) : VectorKernels.elements();
    }

    /// {@return what reports call the products of adapters}
    public String lowRankName() {
        return vector ? "low_rank.vector" + vectorBits() : "low_rank.scalar";
    }

    /// {@return the products of adapters}
    public LowRankMath lowRank() {
        return vector ? VectorKernels.lowRank() : LowRankMath.SCALAR;
    }

    /// {@return what reports call ops with a state}
    public String statesName() {
        return vector ? "states.vector" + vectorBits() : "states.scalar";
    }

    /// {@return the arithmetic of ops with a state}
    public StateMath states() {
        if (!vector) {
            return StateMath.SCALAR;
        }
        return warming ? new WarmStateMath(StateMath.SCALAR, VectorKernels::states) : VectorKernels.states();
    }

    /// The first fitting kernel that other bundles offer for this device, or null.
    private <K extends Kernel> K offered(Class<K> type, Predicate<K> fits) {
        return offered.first(type, fits).orElse(null);
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

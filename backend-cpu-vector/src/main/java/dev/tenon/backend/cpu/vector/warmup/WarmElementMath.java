package dev.tenon.backend.cpu.vector.warmup;

import dev.tenon.api.graph.Activation;
import dev.tenon.backend.cpu.vector.kernel.elements.ElementMath;
import java.util.function.Supplier;

/// Activations and norms in plain Java until the JIT compiler has compiled the vector form, then with
/// vectors; as [WarmAttention].
///
/// @param plain the plain Java form
/// @param vectors gives the vector form; asked for it when it is needed first, because it loads the Vector
///     API, which takes longer than a short prompt's attention
public record WarmElementMath(ElementMath plain, Supplier<ElementMath> vectors) implements ElementMath {
    /// {@return the vector form}
    ElementMath vector() {
        return vectors.get();
    }

    private ElementMath form() {
        return Warmup.elementsReady() ? vector() : plain;
    }

    @Override
    public void activate(Activation activation, float[] x, float[] out, int from, int to) {
        form().activate(activation, x, out, from, to);
    }

    @Override
    public void gate(Activation activation, float[] gate, float[] up, int from, int to) {
        form().gate(activation, gate, up, from, to);
    }

    @Override
    public float squares(float[] x, int from, int n) {
        return form().squares(x, from, n);
    }

    @Override
    public void addScaled(float[] out, int at, float[] x, int from, int n, float factor) {
        form().addScaled(out, at, x, from, n, factor);
    }

    @Override
    public void scale(float[] x, int from, float factor, float[] weight, float[] out, int at) {
        form().scale(x, from, factor, weight, out, at);
    }
}

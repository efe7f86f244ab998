package dev.tenon.backend.cpu.vector.warmup;

import dev.tenon.backend.cpu.vector.kernel.states.StateMath;
import dev.tenon.backend.cpu.vector.kernel.states.StateWork;
import java.util.function.Supplier;

/// Ops with a state in plain Java until the JIT compiler has compiled the vector form, then with vectors; as
/// [WarmElementMath].
///
/// @param plain the plain Java form
/// @param vectors gives the vector form; asked for it when it is needed first
public record WarmStateMath(StateMath plain, Supplier<StateMath> vectors) implements StateMath {
    private StateMath form() {
        return Warmup.statesReady() ? vectors.get() : plain;
    }

    @Override
    public void scan(StateWork w) {
        form().scan(w);
    }

    @Override
    public void correct(StateWork w) {
        form().correct(w);
    }
}

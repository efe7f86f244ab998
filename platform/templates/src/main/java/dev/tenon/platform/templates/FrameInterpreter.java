package dev.tenon.platform.templates;

import com.hubspot.jinjava.Jinjava;
import com.hubspot.jinjava.interpret.Context;
import com.hubspot.jinjava.interpret.JinjavaInterpreter;

/// The engine's interpreter of one compilation or rendering. Not safe for several threads.
final class FrameInterpreter extends JinjavaInterpreter {
    private Frame frame;

    /// Makes an interpreter.
    ///
    /// @param engine the engine
    FrameInterpreter(Jinjava engine) {
        super(engine, new Context(engine.getGlobalContext()), engine.getGlobalConfig());
        getContext().setExpressionStrategy(JinjaMends.EXPRESSIONS);
    }

    /// {@return the rendering}
    Frame frame() {
        return frame;
    }

    /// Sets the rendering.
    ///
    /// @param frame the rendering
    void frame(Frame frame) {
        this.frame = frame;
    }
}

package dev.tenon.platform.templates;

import com.hubspot.jinjava.interpret.InterpretException;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.text.ChatTemplate;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;

/// A compiled chat template. Each rendering has an interpreter and a [Budget] of its own.
final class JinjaTemplate implements ChatTemplate {
    private final Prepared prepared;
    private final Clock clock;

    /// Makes a template.
    ///
    /// @param prepared the compiled form
    /// @param clock the time that templates see
    JinjaTemplate(Prepared prepared, Clock clock) {
        this.prepared = prepared;
        this.clock = clock;
    }

    @Override
    public String render(Map<String, Object> variables) {
        Map<String, Object> converted = HashMap.newHashMap(variables.size());
        variables.forEach((name, value) -> converted.put(name, Variables.fromJava(value, 0)));
        FrameInterpreter interpreter = new FrameInterpreter(JinjaMends.engine());
        Frame frame = new Frame(prepared, interpreter, clock, converted);
        interpreter.frame(frame);
        try {
            frame.render(prepared.nodes());
            return frame.text();
        } catch (TemplateFailure e) {
            throw failed(e.text(), e);
        } catch (InterpretException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw failed(cause.getMessage(), e);
        } catch (StackOverflowError e) {
            throw failed("it is nested too deeply", e);
        }
    }

    private static ModelFormatException failed(String text, Throwable cause) {
        return new ModelFormatException(
                ErrorCode.MODEL_TEMPLATE,
                "The chat template could not render the conversation: " + text
                        + ". Check the order and roles of the messages, or give another template.",
                cause);
    }
}

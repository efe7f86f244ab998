package dev.tenon.platform.templates;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.Values;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// A compiled chat template.
///
/// @param body its statements
/// @param clock the time that it sees
record JinjaTemplate(List<Statement> body, Clock clock) implements ChatTemplate {
    @Override
    public String render(Map<String, Object> variables) {
        Map<String, Object> converted = HashMap.newHashMap(variables.size());
        variables.forEach((name, value) -> converted.put(name, Values.fromJava(value, 0)));
        Frame frame = new Frame(clock, converted);
        try {
            Statement.renderAll(body, frame);
            return frame.text();
        } catch (TemplateFailure e) {
            throw failed(e.getMessage(), e);
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

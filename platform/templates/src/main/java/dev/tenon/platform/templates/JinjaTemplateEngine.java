package dev.tenon.platform.templates;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.api.text.TemplateText;
import dev.tenon.platform.templates.values.TemplateFailure;
import dev.tenon.platform.templates.values.Text;
import dev.tenon.platform.templates.values.Values;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Compiles chat templates, which render as Hugging Face's `transformers` renders them. Safe for any thread.
@Component(service = ChatTemplateEngine.class, configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = ChatTemplateEngine.class, resolution = Resolution.OPTIONAL)
public final class JinjaTemplateEngine implements ChatTemplateEngine {
    private static final int MAX_SOURCE = 1 << 20;
    private static final String BROKEN = "The chat template is broken: %s. Check `tokenizer.chat_template` in the model"
            + " file, or give another template.";
    private static final String FAILED = "The chat template could not render the conversation: %s. Check the order and"
            + " roles of the messages, or give another template.";

    private final Clock clock;

    /// Makes an engine whose templates see the system's time and zone.
    @Activate
    public JinjaTemplateEngine() {
        this(Clock.systemDefaultZone());
    }

    /// Makes an engine whose templates see a clock.
    JinjaTemplateEngine(Clock clock) {
        this.clock = clock;
    }

    @Override
    public ChatTemplate compile(String source) {
        Objects.requireNonNull(source, "source");
        try {
            if (source.length() > MAX_SOURCE) {
                throw new TemplateFailure("it has " + source.length() + " characters; at most " + MAX_SOURCE);
            }
            return new Template(TemplateParser.parse(source), clock);
        } catch (TemplateFailure | StackOverflowError e) {
            throw failure(BROKEN, e);
        }
    }

    private static ModelFormatException failure(String message, Throwable cause) {
        String reason = cause instanceof StackOverflowError ? "it is nested too deeply" : cause.getMessage();
        return new ModelFormatException(ErrorCode.MODEL_TEMPLATE, message.formatted(reason), cause);
    }

    private record Template(List<Statement> body, Clock clock) implements ChatTemplate {
        @Override
        public String render(Map<String, Object> variables) {
            return renderText(variables).text();
        }

        @Override
        public TemplateText renderText(Map<String, Object> variables) {
            Map<String, Object> converted = HashMap.newHashMap(variables.size());
            variables.forEach((name, value) -> converted.put(name, Values.fromJava(value, 0)));
            try {
                Text text = new Renderer(clock, converted).render(body);
                return new TemplateText(text.toString(), text.client());
            } catch (TemplateFailure | StackOverflowError e) {
                throw failure(FAILED, e);
            }
        }
    }
}

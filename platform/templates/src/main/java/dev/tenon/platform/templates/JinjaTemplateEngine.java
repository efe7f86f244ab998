package dev.tenon.platform.templates;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.ModelFormatException;
import dev.tenon.api.text.ChatTemplate;
import dev.tenon.api.text.ChatTemplateEngine;
import dev.tenon.platform.templates.values.TemplateFailure;
import java.time.Clock;
import java.util.Objects;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/// Compiles chat templates, which render as Hugging Face's `transformers` renders them. Safe for any thread.
@Component(service = ChatTemplateEngine.class, configurationPolicy = ConfigurationPolicy.IGNORE)
@ServiceProvider(value = ChatTemplateEngine.class, resolution = Resolution.OPTIONAL)
public final class JinjaTemplateEngine implements ChatTemplateEngine {
    private static final int MAX_SOURCE = 1 << 20;

    private final Clock clock;

    /// Makes an engine whose templates see the system's time and zone.
    @Activate
    public JinjaTemplateEngine() {
        this(Clock.systemDefaultZone());
    }

    /// Makes an engine with its own time.
    ///
    /// @param clock what `strftime_now` reads
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
            return new JinjaTemplate(TemplateParser.parse(source), clock);
        } catch (TemplateFailure e) {
            throw broken(e.getMessage(), e);
        } catch (StackOverflowError e) {
            throw broken("it is nested too deeply", e);
        }
    }

    private static ModelFormatException broken(String text, Throwable cause) {
        return new ModelFormatException(
                ErrorCode.MODEL_TEMPLATE,
                "The chat template is broken: " + text
                        + ". Check `tokenizer.chat_template` in the model file, or give another template.",
                cause);
    }
}

package org.example.rules;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.text.LogitsProcessor;
import dev.tenon.api.text.LogitsProcessorProvider;
import dev.tenon.api.text.Tokenizer;
import org.osgi.service.component.annotations.Component;

/// `no-repeat=N`: no N tokens come twice in a row of the same order, prompt included.
@Component(service = LogitsProcessorProvider.class)
@ServiceProvider(value = LogitsProcessorProvider.class, resolution = Resolution.OPTIONAL)
public final class NoRepeat implements LogitsProcessorProvider {
    @Override
    public String id() {
        return "no-repeat";
    }

    @Override
    public LogitsProcessor create(String argument, Tokenizer tokenizer) {
        if (!argument.matches("[1-9]\\d?")) {
            throw new IllegalArgumentException("'" + argument + "' is no number of tokens from 1 to 99");
        }
        int length = Integer.parseInt(argument);
        return (history, logits) -> ban(history, length - 1, logits);
    }

    /// Masks what followed earlier where the last `before` tokens stood.
    private static void ban(LogitsProcessor.TokenHistory history, int before, float[] logits) {
        int last = history.length() - before;
        for (int at = 0; at < last; at++) {
            int same = 0;
            while (same < before && history.token(at + same) == history.token(last + same)) {
                same++;
            }
            if (same == before) {
                logits[history.token(at + before)] = Float.NEGATIVE_INFINITY;
            }
        }
    }
}

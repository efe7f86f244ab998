package org.example.rules;

import aQute.bnd.annotation.Resolution;
import aQute.bnd.annotation.spi.ServiceProvider;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.api.speculation.TokenProposerProvider;
import dev.tenon.api.text.LogitsProcessor.TokenHistory;
import dev.tenon.api.text.Tokenizer;
import java.util.Arrays;
import org.osgi.service.component.annotations.Component;

/// `phrases=TEXT`: where the last two tokens stand in the text, what follows there is proposed. Texts that come again,
/// such as the frame of a form, then take fewer steps.
@Component(service = TokenProposerProvider.class)
@ServiceProvider(value = TokenProposerProvider.class, resolution = Resolution.OPTIONAL)
public final class Phrases implements TokenProposerProvider {
    private static final int SAME = 2;

    @Override
    public String id() {
        return "phrases";
    }

    @Override
    public TokenProposer create(String argument, Tokenizer tokenizer) {
        if (argument.isBlank()) {
            throw new IllegalArgumentException("after 'phrases=' stands the text that may come");
        }
        return new Known(tokenizer.encode(argument, false, false));
    }

    private record Known(int[] text) implements TokenProposer {
        @Override
        public int most() {
            return 16;
        }

        @Override
        public int[] propose(TokenHistory tokens, int most) {
            for (int at = SAME; at < text.length; at++) {
                if (endsAt(tokens, at)) {
                    return Arrays.copyOfRange(text, at, Math.min(text.length, at + most));
                }
            }
            return new int[0];
        }

        private boolean endsAt(TokenHistory tokens, int at) {
            return tokens.length() >= SAME
                    && tokens.token(tokens.length() - 1) == text[at - 1]
                    && tokens.token(tokens.length() - 2) == text[at - 2];
        }
    }
}

package dev.tenon.platform.server.generation;

import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// Hears the generation of a reply and hands it on; keeps log-probabilities until they are fetched, and the end of the
/// text. For one thread.
public final class ReplyListener implements GenerationListener {
    private static final int LONGEST_TAIL = 4096;

    private final Tokenizer tokenizer;
    private final GenerationListener next;
    private final boolean keepsTokens;
    /// The end of the text, with what ended it.
    private final StringBuilder text = new StringBuilder();
    private final StreamDecoder tail;
    private final List<GeneratedToken> waiting = new ArrayList<>();
    private int lastToken = -1;
    private int promptRun;
    private long firstNanos;
    private long lastNanos;
    private final GapObserver gaps;
    private final CountDownLatch prompted = new CountDownLatch(1);

    /// Hears how long each token took after the one before.
    @FunctionalInterface
    public interface GapObserver {
        /// Takes a gap.
        ///
        /// @param nanos time since the token before
        void gap(long nanos);
    }

    /// Creates a listener.
    ///
    /// @param tokenizer tells control tokens
    /// @param next hears the reply, too
    /// @param keepsTokens whether tokens are kept, with their log-probabilities
    /// @param gaps hears how long tokens took
    public ReplyListener(Tokenizer tokenizer, GenerationListener next, boolean keepsTokens, GapObserver gaps) {
        this.tokenizer = tokenizer;
        this.next = next;
        this.tail = tokenizer.decoder();
        this.keepsTokens = keepsTokens;
        this.gaps = gaps;
    }

    @Override
    public void onPrefill(int done, int total) {
        promptRun = total;
        if (done == total) {
            prompted();
        }
    }

    /// Has those go on who wait for the prompt: it has run, or will not.
    void prompted() {
        prompted.countDown();
    }

    /// Waits until the prompt has run. The only method for other threads.
    ///
    /// @throws InterruptedException if the thread is interrupted
    void awaitPrompt() throws InterruptedException {
        prompted.await();
    }

    /// {@return how many tokens of the prompt were run, which had not been computed before; known with the first token}
    public int promptRun() {
        return promptRun;
    }

    @Override
    public void onToken(GeneratedToken token) {
        long now = System.nanoTime();
        if (firstNanos == 0) {
            firstNanos = now;
            prompted();
        } else {
            gaps.gap(now - lastNanos);
        }
        lastNanos = now;
        lastToken = token.id();
        boolean ends = tokenizer.isEndOfGeneration(token.id());
        if (keepsTokens && !ends) {
            waiting.add(token);
        }
        text.append(tail.next(token.id()));
        text.delete(0, Math.max(0, text.length() - LONGEST_TAIL));
        next.onToken(token);
    }

    @Override
    public void onText(String part) {
        next.onText(part);
    }

    /// {@return the tokenizer of the model that replies}
    public Tokenizer tokenizer() {
        return tokenizer;
    }

    /// {@return which text ended the reply, or null if none did}
    ///
    /// @param stop the texts that end it
    public String stopText(List<String> stop) {
        return stop.stream().filter(each -> text.indexOf(each) >= 0).findFirst().orElse(null);
    }

    /// {@return the tokens since the last call, with their log-probabilities, if those are kept}
    public List<GeneratedToken> takeTokens() {
        List<GeneratedToken> taken = List.copyOf(waiting);
        waiting.clear();
        return taken;
    }

    /// {@return when the first token came, by [System#nanoTime]; 0 if none has}
    public long firstNanos() {
        return firstNanos;
    }

    /// {@return whether the last token was one that ends the text, so that no stop text did}
    public boolean endedByToken() {
        return lastToken >= 0 && tokenizer.isEndOfGeneration(lastToken);
    }
}

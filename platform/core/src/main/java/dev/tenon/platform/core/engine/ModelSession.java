package dev.tenon.platform.core.engine;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.sampling.StopMatcher;
import java.util.concurrent.locks.ReentrantLock;

/// A session of a [PlacedModel].
final class ModelSession implements Session {
    /// Tokens in front of a reply that its decoder is shown: more than enough for the bytes of a character that is
    /// still
    /// cut, and as many for a long sequence as for a short one.
    private static final int DECODED_BEFORE = 64;

    private final PlacedModel model;
    private final TokenSequence sequence = new TokenSequence();
    private final StepItem item;
    /// Fair: who closes a session waits for one call, not for a series of them.
    private final ReentrantLock call = new ReentrantLock(true);
    private volatile boolean cancelled;
    private volatile boolean closed;

    ModelSession(PlacedModel model) {
        this.model = model;
        this.item = new StepItem(sequence, model.config().vocabSize());
    }

    StepItem item() {
        return item;
    }

    @Override
    public Usage generate(GenerationRequest request, GenerationListener listener) {
        begin();
        try {
            model.scheduler().expect(item);
            return new Generation(request, listener).run();
        } finally {
            forgetUnheard();
            model.scheduler().leave(item);
            call.unlock();
        }
    }

    /// Forgets tokens that the device chose and of which, because something failed, nobody heard.
    private void forgetUnheard() {
        if (item.chosen > item.taken) {
            model.scheduler().truncate(item, sequence.length() - item.chosen + item.taken);
        }
        item.chosen = 0;
    }

    /// A session that evaluates stays expected behind the call: evaluations come in series.
    @Override
    public void evaluate(int[] tokens, LogitRows which, LogitsConsumer consumer) {
        begin();
        boolean ended = false;
        try {
            append(tokens);
            int base = sequence.length() - tokens.length;
            item.logitsFrom = switch (which) {
                case NONE -> StepItem.NO_LOGITS;
                case LAST, LAST_UNREAD -> sequence.length() - 1;
                case ALL -> base;
            };
            item.unread = which == LogitRows.LAST_UNREAD;
            while (item.pending() > 0) {
                model.scheduler().step(item);
                for (int r = 0; r < item.rows && !item.unread; r++) {
                    consumer.accept(item.firstRow + r - base, item.row(r));
                }
            }
            ended = true;
        } finally {
            if (!ended) {
                model.scheduler().leave(item);
            }
            call.unlock();
        }
    }

    @Override
    public int length() {
        return sequence.length();
    }

    @Override
    public void truncate(int length) {
        begin();
        try {
            if (length < 0 || length > sequence.length()) {
                throw new IllegalArgumentException("cannot keep " + length + " of " + sequence.length() + " tokens");
            }
            model.scheduler().truncate(item, length);
        } finally {
            call.unlock();
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        model.scheduler().leave(item);
    }

    @Override
    public void close() {
        cancel();
        call.lock();
        try {
            if (!closed) {
                closed = true;
                model.closed(this);
            }
        } finally {
            call.unlock();
        }
    }

    private void begin() {
        call.lock();
        if (closed) {
            call.unlock();
            throw new TenonException(ErrorCode.CLOSED, "The session was closed; open a new one");
        }
        cancelled = false;
        item.begin();
    }

    private void append(int[] tokens) {
        int limit = model.contextLength();
        if (sequence.length() + tokens.length > limit) {
            throw new OutOfResourcesException(
                    ErrorCode.CONTEXT_LENGTH,
                    "The prompt has " + tokens.length + " tokens and the session " + sequence.length()
                            + "; the context holds " + limit + ". Shorten the prompt, start a new session, or load the"
                            + " model with a larger context (-c).",
                    tokens.length,
                    sequence.length(),
                    limit);
        }
        for (int token : tokens) {
            if (token < 0 || token >= model.config().vocabSize()) {
                throw new TenonException(
                        ErrorCode.ARGUMENT,
                        "Token id " + token + " is out of range; the model has "
                                + model.config().vocabSize() + " tokens");
            }
        }
        for (int token : tokens) {
            sequence.append(token);
        }
    }

    /// One call of `generate`.
    private final class Generation {
        private final GenerationRequest request;
        private final GenerationListener listener;
        private final Tokenizer tokenizer = model.tokenizer();
        private final StreamDecoder decoder = tokenizer.decoder();
        private final StopMatcher stops;
        private final Sampler sampler;
        private int limit;
        private int generated;
        private long firstToken;
        private long lastToken;
        private FinishReason finish;
        private RuntimeException failed;
        /// Tokens of the prompt that had to run.
        private int prompt;
        /// Whether the listener has heard that all of them have.
        private boolean promptHeard;

        Generation(GenerationRequest request, GenerationListener listener) {
            this.request = request;
            this.listener = listener;
            this.stops = new StopMatcher(request.stop());
            this.sampler = model.sampler(request.sampling());
        }

        Usage run() {
            long start = System.nanoTime();
            int cached = sequence.computed();
            append(request.prompt());
            if (item.pending() == 0) {
                throw new TenonException(
                        ErrorCode.ARGUMENT, "There is nothing to continue: the prompt is empty. Give a prompt (-p).");
            }
            for (int i = 0; i < sequence.length(); i++) {
                sampler.accept(sequence.token(i));
            }
            // So that the reply is decoded as what follows, not as a beginning.
            for (int i = Math.max(0, sequence.length() - DECODED_BEFORE); i < sequence.length(); i++) {
                decoder.next(sequence.token(i));
            }
            prompt = item.pending();
            limit = request.maxTokens() < 0 ? Integer.MAX_VALUE : request.maxTokens();
            prefill();
            if (generated == 0) {
                firstToken = System.nanoTime();
                lastToken = firstToken;
            } else {
                advance();
            }
            while (finish == null && generated < limit) {
                int token = sampler.sample(item.row(0));
                sampler.accept(token);
                sequence.append(token);
                heard(token);
                if (finish == null && generated < limit) {
                    advance();
                }
            }
            flush();
            return new Usage(
                    prompt,
                    cached,
                    generated,
                    firstToken - start,
                    lastToken - firstToken,
                    finish == null ? FinishReason.LENGTH : finish);
        }

        /// Runs the prompt. Behind it there are logits to choose from, or the device has chosen the
        /// first token, or several.
        private void prefill() {
            int length = sequence.length();
            prepare();
            while (item.pending() > 0 && item.chosen == 0) {
                if (cancelled) {
                    finish = FinishReason.CANCELLED;
                    return;
                }
                step();
                promptRan(item.chosen == 0 ? prompt - item.pending() : prompt);
            }
            if (cancelled && item.taken == 0) {
                finish = FinishReason.CANCELLED;
                forget(length);
            } else {
                takeChosen(length);
            }
        }

        private FinishReason emit(int token) {
            if (!request.ignoreEndOfGeneration() && tokenizer.isEndOfGeneration(token)) {
                return FinishReason.STOP;
            }
            String text = stops.next(decoder.next(token));
            listener.onToken(token, text);
            if (stops.matched().isPresent()) {
                return FinishReason.STOP;
            }
            return cancelled ? FinishReason.CANCELLED : null;
        }

        /// Counts and emits a token that has become part of the sequence.
        private void heard(int token) {
            generated++;
            lastToken = System.nanoTime();
            if (generated == 1) {
                firstToken = lastToken;
            }
            finish = emit(token);
        }

        /// Runs steps until there are logits to choose from, or the generation ends. A device that
        /// can choose by itself gives tokens instead.
        private void advance() {
            while (finish == null && generated < limit) {
                if (sequence.length() >= model.contextLength()) {
                    finish = FinishReason.LENGTH;
                    return;
                }
                int length = sequence.length();
                prepare();
                while (item.pending() > 0 && item.chosen == 0) {
                    step();
                }
                if (item.chosen == 0) {
                    return;
                }
                takeChosen(length);
            }
        }

        /// Says what the next steps are for.
        private void prepare() {
            item.logitsFrom = sequence.length() - 1;
            item.mostTokens = Math.min(limit - generated, model.contextLength() - sequence.length());
            item.choice = item.mostTokens > 0 ? sampler.choice().orElse(null) : null;
            item.ends = token -> !request.ignoreEndOfGeneration() && tokenizer.isEndOfGeneration(token);
            item.taker = this::take;
        }

        /// Takes the tokens that the device chose and that have not been taken, up to the
        /// generation's end.
        ///
        /// @param length of the sequence before them
        private void takeChosen(int length) {
            int heard = item.taken;
            while (heard < item.chosen && take(sequence.token(length + heard))) {
                heard++;
            }
            forget(length + heard + 1);
            if (failed != null) {
                throw failed;
            }
        }

        /// Forgets tokens that the device chose in vain.
        ///
        /// @param length of the sequence that stays
        private void forget(int length) {
            item.chosen = 0;
            if (length < sequence.length()) {
                model.scheduler().truncate(item, length);
            }
        }

        private void promptRan(int ran) {
            if (!promptHeard) {
                promptHeard = ran == prompt;
                listener.onPrefill(ran, prompt);
            }
        }

        /// Takes a token that the device chose.
        ///
        /// @return whether more are wanted
        private boolean take(int token) {
            try {
                promptRan(prompt);
                sampler.chosen(token);
                heard(token);
            } catch (RuntimeException e) {
                failed = e;
            }
            return failed == null && finish == null && generated < limit;
        }

        private void step() {
            model.scheduler().step(item);
            if (item.moved != null) {
                String reason = item.moved;
                item.moved = null;
                listener.onMoved(reason);
            }
        }

        private void flush() {
            if (stops.matched().isPresent()) {
                return;
            }
            String rest = stops.next(decoder.finish());
            rest += stops.finish();
            if (!rest.isEmpty()) {
                listener.onToken(-1, rest);
            }
        }
    }
}

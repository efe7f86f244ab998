package dev.tenon.platform.core.generation;

import dev.tenon.api.device.StepResult;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.sampling.StopMatcher;
import dev.tenon.platform.core.steps.SequenceTask;
import dev.tenon.platform.core.steps.TokenSequence;

/// Generates text: samples a token after each step, where the device has not, and publishes token
/// and text as events. Never waits for the consumer.
public final class GenerationTask extends SequenceTask {
    /// Tokens of the prompt that the decoder gets before the reply: more than enough for the bytes
    /// of a character that the prompt leaves incomplete.
    private static final int DECODED_BEFORE = 64;

    private final GenerationRequest request;
    private final TokenSequence sequence;
    private final Tokenizer tokenizer;
    private final StreamDecoder decoder;
    private final StopMatcher stops;
    private final Sampler sampler;
    private final HostSampling host;
    private final int contextLength;
    private final int limit;
    private final EventQueue events;
    private final long start = System.nanoTime();
    /// Tokens that need not run.
    private int cached;
    /// Tokens of the prompt that have to run, and how many of them had after the last step.
    private int prompt;

    private int promptDone;
    /// How many tokens have been computed at some time, for this task or before it.
    private int seen;

    private boolean promptRan;
    private int generated;
    private int kept;
    private long firstToken;
    private long lastToken;
    private FinishReason finish;

    /// @param model the model
    /// @param sampler samples the tokens
    /// @param sequence the session's, with the prompt appended; at least one token is pending
    /// @param request the request
    /// @param events takes the events
    public GenerationTask(
            LoadedModel model, Sampler sampler, TokenSequence sequence, GenerationRequest request, EventQueue events) {
        super(sequence, request.priority(), request.group());
        this.sequence = sequence;
        this.request = request;
        this.events = events;
        int promptEnd = sequence.length();
        this.tokenizer = model.tokenizer();
        this.decoder = tokenizer.decoder();
        this.stops = new StopMatcher(request.stop());
        this.sampler = sampler;
        this.host = new HostSampling(request, sampler, sequence, model.config().vocabularySize());
        this.contextLength = model.contextLength();
        this.limit = request.maxNewTokens() < 0 ? Integer.MAX_VALUE : request.maxNewTokens();
        for (int i = 0; i < promptEnd; i++) {
            sampler.accept(sequence.token(i));
        }
        // So that the reply is decoded as the continuation of the prompt, not as the start of a text.
        for (int i = Math.max(0, promptEnd - DECODED_BEFORE); i < promptEnd; i++) {
            decoder.next(sequence.token(i));
        }
        prepare();
    }

    @Override
    protected void begins() {
        cached = sequence.computed();
        prompt = pending();
        seen = cached;
    }

    @Override
    protected boolean sharesPages() {
        return true;
    }

    @Override
    protected void reused() {
        int more = sequence.computed() - seen;
        if (!promptRan && more > 0) {
            seen += more;
            cached += more;
            prompt -= more;
        }
    }

    @Override
    protected boolean cancelled() {
        return events.closed();
    }

    @Override
    protected boolean stillPaused() {
        return events.paused();
    }

    @Override
    protected State stepped(StepResult result, int row) {
        moved();
        seen = Math.max(seen, sequence.computed());
        if (pending() > 0) {
            promptRan(prompt - pending());
            return next();
        }
        promptRan(prompt);
        if (limit == 0) {
            return State.ENDED;
        }
        int last = row + rows() - 1;
        int token = choice() == null ? -1 : result.token(last);
        if (token >= 0) {
            sampler.sampled(token);
            sequence.append(token);
            return emit(GeneratedToken.of(token));
        }
        boolean goesOn = append(host.sample(result, last));
        if (goesOn) {
            goesOn = appendForced();
        }
        return goesOn ? next() : State.ENDED;
    }

    private boolean append(GeneratedToken token) {
        sampler.accept(token.id());
        sequence.append(token.id());
        return publish(token);
    }

    /// Appends what follows in any case; the next step runs it as a piece of a prompt.
    private boolean appendForced() {
        for (int token : host.forced()) {
            if (sequence.leaving() > 0) {
                return true; // the rest is forced again when the context has room
            }
            host.force(token);
            if (!append(GeneratedToken.of(token))) {
                return false;
            }
        }
        return true;
    }

    @Override
    protected State sampled(int token) {
        moved();
        promptRan(prompt);
        sampler.sampled(token);
        return emit(GeneratedToken.of(token));
    }

    private void moved() {
        String reason = sequence.takeMoved();
        if (reason != null) {
            events.publish(new GenerationEvent.Moved(reason));
        }
    }

    /// Tells how much of the prompt has run; less than before where it runs again.
    private void promptRan(int done) {
        if (!promptRan && done > promptDone) {
            promptDone = done;
            promptRan = done == prompt;
            events.publish(new GenerationEvent.Prefill(done, prompt));
        }
    }

    /// Publishes a token that has become part of the sequence.
    private State emit(GeneratedToken token) {
        return publish(token) ? next() : State.ENDED;
    }

    /// {@return whether the generation goes on after the token}
    private boolean publish(GeneratedToken token) {
        generated++;
        lastToken = System.nanoTime();
        if (generated == 1) {
            firstToken = lastToken;
        }
        if (!request.ignoreEndOfGeneration() && tokenizer.isEndOfGeneration(token.id())) {
            finish = FinishReason.STOP;
            return false;
        }
        events.publish(new GenerationEvent.Token(token));
        text(stops.next(decoder.next(token.id())));
        if (stops.matched().isPresent()) {
            finish = FinishReason.STOP;
            return false;
        }
        if (host.ended()) {
            finish = FinishReason.STOP;
            return false;
        }
        if (generated == limit) {
            return false;
        }
        if (sequence.length() >= contextLength) {
            int keep = request.contextShift();
            if (keep < 0) {
                return false;
            }
            sequence.leave(keep, (sequence.length() - keep) / 2);
            kept = keep;
        }
        return true;
    }

    private void text(String piece) {
        if (!piece.isEmpty()) {
            events.publish(new GenerationEvent.Text(piece));
        }
    }

    private State next() {
        if (events.closed()) {
            return State.ENDED;
        }
        prepare();
        return events.pause() ? State.PAUSED : State.QUEUED;
    }

    /// Says what the next steps are for.
    private void prepare() {
        int length = sequence.length() - sequence.leaving();
        int from = limit == 0 ? NO_LOGITS : length - 1;
        int most = Math.min(limit - generated, contextLength - length);
        want(from, most > 0 && !host.needed() ? sampler.sampling().orElse(null) : null, most);
    }

    @Override
    protected void ended(RuntimeException why) {
        RuntimeException failure = why != null ? why : finishText();
        if (generated == 0) {
            firstToken = System.nanoTime();
            lastToken = firstToken;
        }
        FinishReason reason = finish != null ? finish : events.closed() ? FinishReason.CANCELLED : FinishReason.LENGTH;
        Usage usage = new Usage(prompt, cached, generated, firstToken - start, lastToken - firstToken, reason);
        events.end(failure == null ? usage : null, failure);
    }

    /// Publishes the text that was held back.
    ///
    /// @return what went wrong, or null
    private RuntimeException finishText() {
        try {
            if (!events.closed() && stops.matched().isEmpty()) {
                text(stops.next(decoder.finish()) + stops.finish());
            }
            return null;
        } catch (RuntimeException e) {
            return e;
        }
    }

    /// {@return how many tokens at the beginning are older than any that can be taken back: those
    ///     that stayed when others left; 0 if none left}
    public int kept() {
        return kept;
    }
}

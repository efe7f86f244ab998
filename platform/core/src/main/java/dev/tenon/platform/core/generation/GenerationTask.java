package dev.tenon.platform.core.generation;

import dev.tenon.api.device.StepResult;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.platform.core.steps.SequenceTask;
import dev.tenon.platform.core.steps.TokenSequence;

/// Generates text: samples a token after each step, where the device has not, and publishes token
/// and text as events. Never waits for the consumer.
public final class GenerationTask extends SequenceTask {
    private final GenerationRequest request;
    private final TokenSequence sequence;
    private final Tokenizer tokenizer;
    private final TextOutput text;
    private final Sampler sampler;
    /// Reads the tokens by the request's constraint; null if there is none.
    private final ConstraintReader reader;

    private final HostSampling host;
    private final Drafts drafts;
    private final int contextLength;
    private final int limit;
    private final EventQueue events;
    private final long start = System.nanoTime();
    private final PromptProgress prompt;
    private int generated;
    private int kept;
    private long firstToken;
    private long lastToken;
    private FinishReason finish;
    /// Whether it is not known yet if the generation goes on after its last token.
    private boolean undecided;

    /// @param model the model
    /// @param sampler samples the tokens
    /// @param sequence the session's, with the prompt appended; at least one token is pending
    /// @param request the request
    /// @param events takes the events
    /// @param drafts proposes tokens
    /// @param wake has the model's steps go on with a task that was late
    public GenerationTask(
            LoadedModel model,
            Sampler sampler,
            TokenSequence sequence,
            GenerationRequest request,
            EventQueue events,
            Drafts drafts,
            Runnable wake) {
        super(sequence, request.priority(), request.group());
        this.sequence = sequence;
        this.request = request;
        this.events = events;
        this.tokenizer = model.tokenizer();
        this.text = new TextOutput(tokenizer, request.stop(), sequence, events);
        this.sampler = sampler;
        int vocabularySize = model.config().vocabularySize();
        this.reader = ConstraintReader.of(request, tokenizer, vocabularySize, wake);
        long[] mask = reader == null ? null : reader.mask();
        this.host = new HostSampling(request, sampler, sequence, vocabularySize, mask);
        this.prompt = new PromptProgress(sequence, events);
        this.drafts = drafts;
        this.contextLength = model.contextLength();
        this.limit = request.maxNewTokens() < 0 ? Integer.MAX_VALUE : request.maxNewTokens();
        for (int i = 0; i < sequence.length(); i++) {
            if (sequence.token(i) >= 0) { // below 0 it is a row
                sampler.accept(sequence.token(i));
            }
        }
        prepare();
    }

    @Override
    protected void begins() {
        prompt.begins();
    }

    @Override
    protected boolean sharesPages() {
        return true;
    }

    @Override
    protected boolean endsMessage(int token) {
        return tokenizer.isEndOfGeneration(token);
    }

    @Override
    protected void reused() {
        prompt.reused();
    }

    @Override
    protected long[] mask() {
        return reader == null || reader.unmasked() > 0 ? null : reader.mask();
    }

    @Override
    protected boolean late() {
        return reader != null && reader.late();
    }

    @Override
    protected boolean goesOn() {
        if (reader == null || !reader.arrived()) {
            return true;
        }
        boolean decides = undecided;
        undecided = false;
        int length = sequence.length();
        if (decides && !decide() || !appendForced()) {
            return false;
        }
        if (decides || sequence.length() > length) {
            prepare();
        }
        return true;
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
        prompt.ran(pending());
        if (pending() > 0) {
            return next();
        }
        return limit > 0 && sampleRows(result, row + rows() - 1 - checked()) ? next() : State.ENDED;
    }

    /// Samples from one row, and from those of proposals as long as they are what was sampled: so each token is
    /// sampled as without them, from the row after the tokens before it.
    ///
    /// @return whether the generation goes on
    private boolean sampleRows(StepResult result, int first) {
        int right = 0;
        boolean goesOn;
        do {
            int at = sequence.length();
            goesOn = sampleRow(result, first + right);
            while (goesOn
                    && !late() // the mask after it is needed for the next row
                    && sequence.leaving() == 0
                    && right < checked()
                    && at < sequence.length()
                    && sequence.token(at) == proposals()[right]) {
                sequence.advance(1);
                right++;
                at++;
            }
        } while (goesOn && pending() == 0 && sequence.leaving() == 0);
        drafts.checked(late() ? right : checked(), right);
        return goesOn;
    }

    private boolean sampleRow(StepResult result, int row) {
        int id = choice() == null ? -1 : result.token(row);
        GeneratedToken token;
        if (id >= 0) {
            sampler.sampled(id);
            token = GeneratedToken.of(id);
        } else {
            token = host.sample(result, row);
            sampler.accept(token.id());
        }
        if (reader != null) {
            reader.accept(token.id());
        }
        sequence.append(token.id());
        return publish(token) && appendForced();
    }

    /// Appends what follows in any case; the next step runs it as a piece of a prompt.
    private boolean appendForced() {
        if (reader == null || late()) {
            return true;
        }
        while (sequence.leaving() == 0) { // the rest comes when the context has room
            int token = reader.nextForced();
            if (token < 0) {
                return true;
            }
            sampler.accept(token);
            sequence.append(token);
            if (!publish(GeneratedToken.of(token))) {
                return false;
            }
        }
        return true;
    }

    @Override
    protected State sampled(int token) {
        moved();
        prompt.ran(0);
        sampler.sampled(token);
        if (reader != null) {
            reader.accept(token);
        }
        return publish(GeneratedToken.of(token)) ? next() : State.ENDED;
    }

    private void moved() {
        String reason = sequence.takeMoved();
        if (reason != null) {
            events.publish(new GenerationEvent.Moved(reason));
        }
    }

    /// Publishes a token that has become part of the sequence.
    ///
    /// {@return whether the generation goes on after the token}
    private boolean publish(GeneratedToken token) {
        generated++;
        lastToken = System.nanoTime();
        firstToken = generated == 1 ? lastToken : firstToken;
        boolean over = !request.ignoreEndOfGeneration() && tokenizer.isEndOfGeneration(token.id());
        if (over || text.publish(token)) {
            finish = FinishReason.STOP;
            return false;
        }
        undecided = late();
        return undecided || decide();
    }

    /// {@return whether the generation goes on after its last token}
    private boolean decide() {
        if (reader != null && reader.ended()) {
            finish = FinishReason.STOP;
            return false;
        }
        boolean full = sequence.length() >= contextLength;
        // Rows cannot leave in part, and do not move.
        if (generated == limit || full && (request.contextShift() < 0 || sequence.hasRows())) {
            return false;
        }
        if (full) {
            kept = request.contextShift();
            sequence.leave(kept, (sequence.length() - kept) / 2);
        }
        return true;
    }

    private State next() {
        if (events.closed()) {
            return State.ENDED;
        }
        if (!late()) {
            prepare();
        }
        return events.pause() ? State.PAUSED : State.QUEUED;
    }

    /// Says what the next steps are for.
    private void prepare() {
        int length = sequence.length() - sequence.leaving();
        int from = limit == 0 ? NO_LOGITS : length - 1;
        int free = reader == null || reader.unmasked() == 0 ? Integer.MAX_VALUE : reader.unmasked();
        int most = Math.min(free, Math.min(limit - generated, contextLength - length));
        want(from, most > 0 && !host.needed() ? sampler.sampling().orElse(null) : null, most);
        // A proposal more than can be taken: the last row samples one, too.
        boolean more = prompt.allRan() && pending() == 1 && sequence.leaving() == 0 && !sequence.hasRows();
        propose(drafts.next(sequence, more ? most - 1 : 0));
    }

    @Override
    protected void ended(RuntimeException why) {
        if (reader != null) {
            reader.cancel();
        }
        RuntimeException failure = why != null ? why : text.finish();
        FinishReason reason = finish != null ? finish : events.closed() ? FinishReason.CANCELLED : FinishReason.LENGTH;
        long first = (generated == 0 ? System.nanoTime() : firstToken) - start;
        long rest = lastToken - firstToken;
        int drafted = drafts.drafted();
        Usage usage =
                new Usage(prompt.tokens(), prompt.cached(), generated, first, rest, reason, drafted, drafts.accepted());
        events.end(failure == null ? usage : null, failure);
    }

    /// {@return how many tokens at the beginning can never be taken back, since others left; 0 if none left}
    public int kept() {
        return kept;
    }
}

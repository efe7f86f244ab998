package dev.tenon.platform.core.engine;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.speculation.TokenProposer;
import dev.tenon.platform.core.control.MeasuredSession;
import dev.tenon.platform.core.generation.Drafts;
import dev.tenon.platform.core.generation.EventQueue;
import dev.tenon.platform.core.generation.GenerationFlow;
import dev.tenon.platform.core.generation.GenerationTask;
import dev.tenon.platform.core.steps.EvaluationTask;
import dev.tenon.platform.core.steps.SequenceTask;
import dev.tenon.platform.core.steps.TokenSequence;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Semaphore;

/// A session of a [PlacedModel]: its sequence, and one call at a time.
final class ModelSession implements Session, MeasuredSession {
    private final PlacedModel model;
    private final TokenSequence sequence;
    /// Held by a call from its start to its end. Fair, so that closing a session waits for one call,
    /// not for a series of them.
    private final Semaphore call = new Semaphore(1, true);
    /// The generation in progress, or null.
    private volatile Running running;
    /// The thread that is in a blocking call, or null.
    private volatile Thread caller;
    /// Whether the call in progress shall end; its generation may not exist yet.
    private volatile boolean cancelled;
    /// Whether new calls are refused.
    private volatile boolean closed;
    /// Whether the session's pages were released. Guarded by [#call].
    private boolean released;
    /// What proposes tokens to it; null before the first generation, and where nothing does. Guarded by [#call].
    private TokenProposer proposer;

    /// The generation in progress.
    ///
    /// @param events its events
    /// @param task makes them
    private record Running(EventQueue events, GenerationTask task) {}

    ModelSession(PlacedModel model) {
        this.model = model;
        this.sequence = new TokenSequence(model.initialScales());
    }

    TokenSequence sequence() {
        return sequence;
    }

    @Override
    public Usage generate(GenerationRequest request, GenerationListener listener) {
        begin(true);
        try {
            EventQueue events = new EventQueue(() -> {}, this::resume);
            events.consume();
            start(request, events);
            return deliver(events, listener);
        } finally {
            end();
        }
    }

    private Usage deliver(EventQueue events, GenerationListener listener) {
        boolean interrupted = false;
        Throwable thrown = null;
        try {
            for (GenerationEvent event = events.take(true); event != null; event = events.take(true)) {
                event.tell(listener);
            }
        } catch (InterruptedException e) {
            interrupted = true;
        } catch (RuntimeException | Error e) {
            thrown = e; // thrown again when no step uses the sequence any more
        } finally {
            if (!events.finished()) {
                cancel();
            }
        }
        try {
            Usage usage = settle(events.result());
            return switch (thrown) {
                case null -> usage;
                case RuntimeException e -> throw e;
                case Throwable e -> throw (Error) e;
            };
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public Generation submit(GenerationRequest request) {
        requireOpen();
        if (!call.tryAcquire()) {
            throw new TenonException(
                    ErrorCode.BUSY, "The session generates; wait for its end, cancel it, or open another session");
        }
        cancelled = false;
        GenerationFlow flow = new GenerationFlow(this::cancel, this::resume, this::settle, this::end);
        try {
            requireOpen();
            start(request, flow.events());
        } catch (RuntimeException | Error e) {
            end();
            throw e;
        }
        return flow;
    }

    private void start(GenerationRequest request, EventQueue events) {
        if (!model.isCausal()) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    model.file().path().getFileName()
                            + " is an encoder, which reads texts and cannot write any. Use 'tenon embed' or 'tenon"
                            + " rerank'.");
        }
        if (!model.isDefault(Graph.LOGITS)) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "The model was loaded for "
                            + String.join(", ", model.outputs().keySet())
                            + " and cannot generate. Load it with the output logits first.");
        }
        if (request.contextShift() > model.contextLength() - 2) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "A full context is to keep its first " + request.contextShift() + " tokens, and holds "
                            + model.contextLength() + "; keep at least 2 fewer, or load the model with a larger"
                            + " context (-c)");
        }
        int length = sequence.length();
        append(request.prompt(), request.media());
        if (sequence.allRan()) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "The prompt is empty, and the session has no tokens to continue from. Give a prompt (-p).");
        }
        try {
            if (proposer == null) {
                proposer = model.proposer(sequence).orElse(null);
            }
            GenerationTask task = new GenerationTask(
                    model,
                    model.sampler(request),
                    sequence,
                    request,
                    events,
                    new Drafts(proposer, model.loop().costs()),
                    model.loop()::wake);
            running = new Running(events, task);
            if (cancelled || closed) {
                events.close();
            }
            model.loop().submit(task);
        } catch (RuntimeException | Error e) {
            model.loop().truncate(sequence, length);
            throw e;
        }
    }

    private void resume() {
        Running now = running;
        if (now != null) {
            model.loop().resume(now.task());
        }
    }

    /// Shortens the sequence to what was delivered of a cancelled generation.
    private Usage settle(Usage usage) {
        Running now = running;
        if (!now.events().closed()) {
            return usage;
        }
        int delivered = Math.min(now.events().taken(), usage.generatedTokens());
        int unheard = usage.generatedTokens() - delivered;
        if (unheard > 0) {
            int length = Math.max(Math.max(1, now.task().kept()), sequence.length() - unheard);
            Runnable last = sequence.again(length - 1);
            model.loop().truncate(sequence, length - 1);
            last.run(); // pending, so that the next call can go on without a prompt
        }
        return new Usage(
                usage.promptTokens(),
                usage.cachedTokens(),
                delivered,
                usage.prefillNanos(),
                usage.decodeNanos(),
                FinishReason.CANCELLED,
                usage.draftedTokens(),
                usage.acceptedTokens());
    }

    @Override
    public void evaluate(int[] tokens, Rows which, RowConsumer consumer) {
        evaluate(tokens, List.of(), which, null, true, consumer);
    }

    @Override
    public void evaluate(int[] tokens, List<PromptMedia> media, Rows which, RowConsumer consumer) {
        evaluate(tokens, media, which, null, true, consumer);
    }

    @Override
    public void evaluate(int[] tokens, Rows which, String output, RowConsumer consumer) {
        evaluate(tokens, List.of(), which, Objects.requireNonNull(output, "output"), true, consumer);
    }

    @Override
    public void evaluateUnread(int[] tokens) {
        evaluate(tokens, List.of(), Rows.LAST, null, false, (index, logits) -> {});
    }

    /// Runs tokens and gives rows of an output.
    ///
    /// @param output its name; null for the default one
    /// @param read whether the rows come to the host
    void evaluate(
            int[] tokens, List<PromptMedia> media, Rows which, String output, boolean read, RowConsumer consumer) {
        int width = model.width(output);
        String named = model.isDefault(output) ? null : output;
        begin(true);
        try {
            int base = sequence.length();
            append(tokens, media);
            int from = switch (which) {
                case NONE -> SequenceTask.NO_LOGITS;
                case LAST -> sequence.length() - 1;
                case ALL -> base;
            };
            EvaluationTask task = new EvaluationTask(sequence, named, width, from, read);
            if (sequence.allRan()) {
                return;
            }
            try {
                evaluate(task, base, read, consumer);
            } finally {
                if (!task.complete()) {
                    model.loop().truncate(sequence, sequence.length()); // it does not come back for them
                }
            }
        } finally {
            end();
        }
    }

    private void evaluate(EvaluationTask task, int base, boolean read, RowConsumer consumer) {
        while (!task.complete()) {
            if (Thread.currentThread().isInterrupted()) {
                model.loop().truncate(sequence, base);
                throw interrupted();
            }
            model.loop().evaluate(task);
            for (int r = 0; read && r < task.rows(); r++) {
                consumer.accept(task.firstRow() + r - base, task.row(r));
            }
        }
    }

    @Override
    public int length() {
        return sequence.length();
    }

    @Override
    public int[] tokens() {
        begin(false);
        try {
            return sequence.tokensFrom(0);
        } finally {
            end();
        }
    }

    @Override
    public void truncate(int length) {
        begin(false);
        try {
            if (length < 0 || length > sequence.length()) {
                throw new IllegalArgumentException("cannot keep " + length + " of " + sequence.length() + " tokens");
            }
            model.loop().truncate(sequence, length);
        } finally {
            end();
        }
    }

    @Override
    public void adapters(Map<String, Float> scales) {
        float[] wanted = model.scales(scales);
        begin(false);
        try {
            model.loop().placed().useAdapters(sequence, wanted);
        } finally {
            end();
        }
    }

    @Override
    public void save(OutputStream to) throws IOException {
        begin(false);
        try {
            model.loop().placed().save(sequence, model.saved(), to);
        } finally {
            end();
        }
    }

    @Override
    public void restore(InputStream from) throws IOException {
        begin(false);
        try {
            if (sequence.length() > 0) {
                throw new TenonException(
                        ErrorCode.ARGUMENT,
                        "The session has " + sequence.length() + " tokens; a saved one is restored into an empty one."
                                + " Truncate it to 0, or open another session.");
            }
            model.loop().placed().restore(sequence, model.saved(), from);
        } finally {
            end();
        }
    }

    @Override
    public void cancel() {
        cancelled = true; // first: a generation that does not exist yet reads it when it is made
        Running now = running;
        if (now != null) {
            now.events().close();
            model.loop().wake();
        }
    }

    @Override
    public void close() {
        closed = true; // first, as above
        cancel();
        call.acquireUninterruptibly();
        try {
            if (!released) {
                released = true;
                model.closed(this);
                if (proposer != null) {
                    proposer.close();
                }
            }
        } finally {
            call.release();
        }
    }

    /// Begins a call, after the one that is in progress.
    ///
    /// @param interruptibly whether an interrupted thread stops waiting for that one
    private void begin(boolean interruptibly) {
        if (caller == Thread.currentThread()) {
            throw new TenonException(
                    ErrorCode.BUSY, "A listener cannot call its own session; use another session, or cancel()");
        }
        if (interruptibly && !call.tryAcquire()) {
            try {
                call.acquire();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw interrupted();
            }
        } else if (!interruptibly) {
            call.acquireUninterruptibly();
        }
        if (closed) {
            call.release();
            requireOpen();
        }
        cancelled = false;
        caller = Thread.currentThread();
    }

    private void end() {
        running = null;
        caller = null;
        call.release();
    }

    /// {@return what a call ends with whose thread is interrupted}
    static TenonException interrupted() {
        return new TenonException(
                ErrorCode.INTERRUPTED, "The calling thread was interrupted; nothing of the call was kept");
    }

    private void requireOpen() {
        if (closed) {
            throw new TenonException(ErrorCode.CLOSED, "The session was closed; open a new one");
        }
    }

    private void append(int[] tokens, List<PromptMedia> media) {
        if (!model.isCausal() && sequence.length() > 0) {
            throw new TenonException(
                    ErrorCode.ARGUMENT,
                    "An encoder reads a text at once and continues none: the session has " + sequence.length()
                            + " tokens already. Truncate it to 0, or use 'tenon embed'.");
        }
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
        new PromptRows(media, model.rowWidth(), model.mostTogether()).append(tokens, sequence, model.config());
    }
}

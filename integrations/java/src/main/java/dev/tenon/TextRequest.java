package dev.tenon;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.MediaPart;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.Session;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// One request for a text: first how, then one of [#text()], [#into(Class)], [#reply()],
/// [#forEach], [#stream()] and [#publisher()], once. For one thread, but for [#cancel()].
///
/// ```java
/// String story = model.completion("Once upon a time").maxNewTokens(100).temperature(0.7f).text();
/// ```
public final class TextRequest {
    private static final int TOOL_ROUNDS = 10;

    private final Model model;
    private final Job job;
    private final GenerationRequest.Builder settings = GenerationRequest.builder();
    private final SamplingParams.Builder sampling = SamplingParams.builder();
    private final List<MediaPart> media = new ArrayList<>();
    private final Map<String, @Nullable Object> variables = new HashMap<>();
    private TextFormat format = TextFormat.any();
    private int toolRounds = TOOL_ROUNDS;
    private @Nullable Map<String, Float> adapters;
    private @Nullable Duration timeout;
    private boolean begun;
    /// What generates now.
    private volatile @Nullable Session session;

    private volatile boolean cancelled;
    /// Whether it was cancelled because its time was over.
    private volatile boolean late;

    TextRequest(Model model, Job job) {
        this.model = model;
        this.job = job;
    }

    /// Adds a picture or sound of a file ([#media(MediaPart)]). Blocks.
    ///
    /// @param file PNG, JPEG, GIF, BMP, WebP or WAV
    /// @return this
    /// @throws IllegalStateException as there
    /// @throws TenonException as [MediaParts#of(Path)]
    public TextRequest media(Path file) {
        return media(MediaParts.of(file));
    }

    /// Adds a picture or sound to the message, or to the text that is continued. The text has a
    /// [place][MediaPart#PLACE] for each; those that find none stand before it, in the order in which they were
    /// added. Control tokens in a text that is continued are meant as such then. Of models that were loaded with an
    /// encoder ([ModelLoader#companion]).
    ///
    /// @param part the picture or sound
    /// @return this
    /// @throws IllegalStateException if this replies to a conversation, whose turns have their own
    public TextRequest media(MediaPart part) {
        if (job instanceof Reply) {
            throw new IllegalStateException("This replies to a conversation; give pictures and sounds with its turns");
        }
        media.add(part);
        return this;
    }

    /// Sets how many tokens the answer has at most; by default as many as the context holds.
    ///
    /// @param tokens how many
    /// @return this
    public TextRequest maxNewTokens(int tokens) {
        settings.maxNewTokens(tokens);
        return this;
    }

    /// Sets the temperature; 0.8 by default.
    ///
    /// @param value 0 takes the best token
    /// @return this
    public TextRequest temperature(float value) {
        sampling.temperature(value);
        return this;
    }

    /// Sets the start of the random sequence: the same seed gives the same text. By default a
    /// random one.
    ///
    /// @param value the seed
    /// @return this
    public TextRequest seed(long value) {
        sampling.seed(value);
        return this;
    }

    /// Changes how tokens are sampled, such as `s -> s.topP(0.9f).repeatPenalty(1.1f)`.
    ///
    /// @param change changes the builder
    /// @return this
    public TextRequest sampling(UnaryOperator<SamplingParams.Builder> change) {
        change.apply(sampling);
        return this;
    }

    /// Changes what else the engine offers: priority, logits processors, samplers, context shift.
    ///
    /// @param change changes the builder; prompt, sampling and constraint are those of this request
    /// @return this
    public TextRequest settings(UnaryOperator<GenerationRequest.Builder> change) {
        change.apply(settings);
        return this;
    }

    /// Sets texts that end the answer, which does not have them.
    ///
    /// @param texts the texts
    /// @return this
    public TextRequest stop(String... texts) {
        settings.stop(List.of(texts));
        return this;
    }

    /// Sets what the answer has to be: JSON of a schema, or a text of a grammar. Anything by
    /// default.
    ///
    /// @param what what
    /// @return this
    public TextRequest format(TextFormat what) {
        format = what;
        return this;
    }

    /// Sets how long the request may take, with the wait for its turn. No limit by default.
    ///
    /// @param limit how long
    /// @return this
    public TextRequest timeout(Duration limit) {
        timeout = limit;
        return this;
    }

    /// Sets how many replies may call tools before the answer; 10 by default.
    ///
    /// @param count how many
    /// @return this
    public TextRequest toolRounds(int count) {
        toolRounds = count;
        return this;
    }

    /// Sets which adapters are used, with which scales, in place of those that the model was loaded
    /// with.
    ///
    /// @param scales the factor on what each one adds, by its name
    /// @return this
    public TextRequest adapters(Map<String, Float> scales) {
        adapters = Map.copyOf(scales);
        return this;
    }

    /// Sets a variable of the model's template, such as `enable_thinking`.
    ///
    /// @param name its name
    /// @param value a text, number or boolean, or lists and maps of them
    /// @return this
    public TextRequest variable(String name, Object value) {
        variables.put(name, value);
        return this;
    }

    /// Generates the text. Blocks.
    ///
    /// @return the text; what there was of it if it was cancelled
    /// @throws TenonException as [#reply(ChatEvents)]
    public String text() {
        return reply().text();
    }

    /// Generates a value: the answer is constrained to JSON that is one of the type. Blocks.
    ///
    /// @param type a record, an enum, an array, or what else has one
    /// @param <T> the type
    /// @return the value
    /// @throws IllegalArgumentException if the type has no JSON Schema
    /// @throws TenonException (`JAVA-002`) if the answer ended before it was whole; as
    ///     [#reply(ChatEvents)]
    public <T> T into(Class<T> type) {
        ChatReply reply =
                format(TextFormat.schema(JsonValues.text(JsonSchema.of(type)))).reply();
        try {
            if (reply.end() == ChatEnd.STOP) {
                return JsonValues.read(reply.text(), type);
            }
        } catch (JsonProcessingException e) {
            throw incomplete(type, reply, e);
        }
        throw incomplete(type, reply, null);
    }

    private static TenonException incomplete(Class<?> type, ChatReply reply, @Nullable Exception cause) {
        return new TenonException(
                JavaErrors.INCOMPLETE,
                "The answer ended (" + reply.end() + ") before it was a whole " + type.getSimpleName() + ", after "
                        + reply.usage().generatedTokens() + " tokens. Allow more tokens or a longer context.",
                cause);
    }

    /// Generates the reply with its reasoning, end and counts. Blocks.
    ///
    /// @return the reply
    /// @throws TenonException as [#reply(ChatEvents)]
    public ChatReply reply() {
        return reply(text -> {});
    }

    /// Generates the text, and tells it as it comes. Blocks.
    ///
    /// @param text hears parts of the text, on this thread; an exception ends the generation
    ///     and is passed on
    /// @return the reply
    /// @throws TenonException as [#reply(ChatEvents)]
    public ChatReply forEach(Consumer<String> text) {
        return reply(text::accept);
    }

    /// Generates the reply, and tells all of it as it comes. Blocks. Interrupting the thread
    /// cancels it.
    ///
    /// @param events hears the reply, on this thread; its end once, calls of tools with each
    ///     reply that calls some
    /// @return the last reply
    /// @throws TenonException (`JAVA-001`) if it took longer than [#timeout], (`JAVA-003`) if
    ///     the model called tools too often, (`STATE-004`) if the thread was interrupted before it
    ///     began, (`LIMIT-001`) if the request does not fit the context; as [Session#generate]
    /// @throws dev.tenon.api.chat.ChatException if the model does not chat, the format cannot be
    ///     enforced, the model takes no pictures or sounds (`STATE-002`), or one is not read
    ///     (`MEDIA-001` to `MEDIA-003`)
    public ChatReply reply(ChatEvents events) {
        begin();
        return run(events);
    }

    /// Generates the text on another thread, which waits while it is some parts ahead. The stream
    /// is closed, which cancels the request if it goes on.
    ///
    /// @return parts of the text; fails as [#reply(ChatEvents)] does
    public Stream<String> stream() {
        begin();
        TextParts parts = new TextParts(this);
        Thread.ofVirtual().name("tenon-stream").start(() -> parts.produce(this::run));
        return parts.stream();
    }

    /// {@return the text as a publisher with one subscriber; generation begins with the
    ///     subscription, runs on threads of its own, waits while the subscriber is some parts
    ///     behind, and ends with the subscription. It fails as [#reply(ChatEvents)] does}
    public Flow.Publisher<String> publisher() {
        begin();
        return new TextPublisher(this, this::run);
    }

    /// Ends the request after the running step: what there is of the text is the answer. Safe for
    /// any thread; nothing happens when it has ended.
    public void cancel() {
        cancelled = true;
        Session running = session;
        if (running != null) {
            running.cancel();
        }
    }

    private void begin() {
        if (begun) {
            throw new IllegalStateException("This request was made before; make another one for another answer");
        }
        begun = true;
    }

    private ChatReply run(ChatEvents events) {
        Duration limit = timeout;
        CompletableFuture<Boolean> alarm = new CompletableFuture<>();
        if (limit != null) {
            alarm.completeOnTimeout(true, limit.toNanos(), TimeUnit.NANOSECONDS).thenAcceptAsync(this::onAlarm);
        }
        try {
            if (!model.places().take(limit)) {
                throw tooLate(limit, 0);
            }
            try (Session opened = model.loaded().newSession()) {
                return run(opened, events);
            } finally {
                session = null;
                model.places().release();
            }
        } finally {
            alarm.complete(false);
        }
    }

    private void onAlarm(boolean rang) {
        if (rang) {
            late = true;
            cancel();
        }
    }

    private ChatReply run(Session opened, ChatEvents events) {
        job.restore(opened);
        Map<String, Float> scales = adapters;
        if (scales != null) {
            opened.adapters(scales);
        }
        session = opened; // whoever cancels sees it, or is seen below
        GenerationRequest how = settings.sampling(sampling.build()).build();
        Job.Run run = new Job.Run(opened, how, media, format, variables, toolRounds, () -> cancelled);
        ChatReply reply = job.generate(run, events);
        Duration limit = timeout;
        if (late && limit != null && reply.end() == ChatEnd.CANCELLED) {
            throw tooLate(limit, reply.usage().generatedTokens());
        }
        return reply;
    }

    private static TenonException tooLate(Duration limit, int tokens) {
        return new TenonException(
                JavaErrors.TIMEOUT,
                "The request took longer than its " + limit.toMillis() + " ms, with " + tokens
                        + " tokens generated. Allow more time, or fewer tokens.");
    }
}

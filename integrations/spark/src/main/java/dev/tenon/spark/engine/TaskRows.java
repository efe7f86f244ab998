package dev.tenon.spark.engine;

import dev.tenon.Chat;
import dev.tenon.Model;
import dev.tenon.TextRequest;
import dev.tenon.api.chat.ChatEnd;
import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.spark.RowEngine;
import dev.tenon.spark.RowEngine.Answer;
import dev.tenon.spark.RowEngine.Question;
import dev.tenon.spark.TenonOptions;
import dev.tenon.spark.Work;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// The rows of a task, each a request on a thread of its own: the model lets as many run at once as
/// it has sequences, the first one first.
final class TaskRows implements RowEngine.Answering {
    private final Model model;
    private final boolean loaded;
    private final Work work;
    private final TenonOptions options;
    private final String schema;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("tenon-row-", 0).factory());

    TaskRows(Model model, boolean loaded, Work work, TenonOptions options) {
        this.model = model;
        this.loaded = loaded;
        this.work = work;
        this.options = options;
        this.schema = options.jsonSchema();
    }

    @Override
    public boolean hasLoaded() {
        return loaded;
    }

    @Override
    public Future<Answer> ask(Question question) {
        return threads.submit(() -> answer(question));
    }

    private Answer answer(Question question) {
        try {
            return switch (work) {
                case COMPLETE -> text(model.completion(question.text()), question);
                case CHAT -> text(message(question), question);
                case EMBED -> value(model.embed(question.text()), question.text());
                case SCORE ->
                    value(
                            model.rerank(question.query(), List.of(question.text()))
                                    .getFirst()
                                    .score(),
                            question.query() + question.text());
            };
        } catch (TenonException e) {
            if (isOfTheMachine(e)) {
                throw e;
            }
            return new Answer(null, e.code() + " " + e.text(), 0, 0, 0, null);
        }
    }

    /// {@return whether another machine may do better, so that the task has to fail}
    private static boolean isOfTheMachine(TenonException e) {
        return switch (e.code()) {
            case ErrorCode.BACKEND_FAILED,
                    ErrorCode.BACKEND_WITHDRAWN,
                    ErrorCode.MEMORY,
                    ErrorCode.CLOSED,
                    ErrorCode.INTERRUPTED -> true;
            default -> false;
        };
    }

    private Answer value(Object value, String text) {
        return new Answer(value, null, model.countTokens(text), 0, 0, null);
    }

    private TextRequest message(Question question) {
        Chat chat = model.chat();
        if (!options.system().isEmpty()) {
            chat.system(options.system());
        }
        TextRequest request = chat.message(question.text());
        options.variables().forEach((name, value) -> request.variable(name, variable(value)));
        return schema.isEmpty() ? request : request.format(TextFormat.schema(schema));
    }

    private static Object variable(String text) {
        return text.equals("true") || text.equals("false") ? Boolean.valueOf(text) : text;
    }

    private Answer text(TextRequest request, Question question) {
        request.maxNewTokens(options.maxTokens())
                .temperature(options.temperature())
                .seed(question.seed());
        options.topP().ifPresent(p -> request.sampling(sampling -> sampling.topP((float) p)));
        if (options.topK() > 0) {
            request.sampling(sampling -> sampling.topK(options.topK()));
        }
        if (options.stop().length > 0) {
            request.stop(options.stop());
        }
        if (options.timeout() > 0) {
            request.timeout(Duration.ofSeconds(options.timeout()));
        }
        ChatReply reply = request.reply();
        boolean cut = work == Work.CHAT && !schema.isEmpty() && reply.end() != ChatEnd.STOP;
        String error = cut
                ? "JAVA-002 The answer ended (" + reply.end() + ") before it was whole, after "
                        + reply.usage().generatedTokens() + " tokens. Allow more with maxTokens."
                : null;
        return new Answer(
                cut ? null : reply.text(),
                error,
                reply.usage().promptTokens(),
                reply.usage().cachedTokens(),
                reply.usage().generatedTokens(),
                reply.end().name());
    }

    @Override
    public void close() {
        threads.shutdownNow();
        threads.close();
    }
}

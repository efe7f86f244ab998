package dev.tenon.platform.server.generation;

import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.http.RequestException;
import dev.tenon.api.metrics.FinishedGeneration;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.metrics.Histogram;
import dev.tenon.platform.server.metrics.Metrics;
import dev.tenon.platform.server.models.ModelCatalog;
import dev.tenon.platform.server.models.ServedModel;
import dev.tenon.platform.server.queue.Admission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/// Generates replies: waits for a place, opens a session for each choice, and closes it. Safe for any thread.
public final class Generations {
    private static final long LOOK_MILLIS = 5;

    private final ModelCatalog catalog;
    private final Metrics metrics;
    private final Set<Thread> running = ConcurrentHashMap.newKeySet();

    /// @param catalog the models
    /// @param metrics counts
    public Generations(ModelCatalog catalog, Metrics metrics) {
        this.catalog = catalog;
        this.metrics = metrics;
    }

    /// {@return the model that a request means}
    ///
    /// @param name what it calls the model; null for the standard one
    /// @throws RequestException (404) if there is none
    public ServedModel model(String name) {
        return (name == null ? catalog.standard() : catalog.find(name))
                .orElseThrow(() -> RequestException.notFound(
                        "model_not_found",
                        name == null
                                ? "There is no model. Name one in the request."
                                : "There is no model '" + Exchange.printable(name) + "'. GET /v1/models lists them."));
    }

    /// Generates all choices, each on a thread of its own if there are several: the others begin once the prompt of the
    /// first one has run, so that it runs once.
    ///
    /// @param exchange whose request it is
    /// @param served the model's queue
    /// @param model the loaded model
    /// @param priority higher goes first
    /// @param choices what to generate
    /// @return counts and times, in the order of the choices
    /// @throws InterruptedException if the thread is interrupted; nothing runs any more
    public List<Usage> run(Exchange exchange, ServedModel served, LoadedModel model, int priority, List<Choice> choices)
            throws InterruptedException {
        if (choices.size() == 1) {
            return List.of(one(exchange, served, model, priority, choices.getFirst()));
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            ExecutorCompletionService<Usage> ended = new ExecutorCompletionService<>(threads);
            List<Future<Usage>> all = new ArrayList<>();
            try {
                for (Choice choice : choices) {
                    all.add(ended.submit(() -> {
                        try {
                            return one(exchange, served, model, priority, choice);
                        } finally {
                            choice.listener().prompted();
                        }
                    }));
                    choices.getFirst().listener().awaitPrompt();
                }
                for (int i = 0; i < choices.size(); i++) {
                    ended.take().get();
                }
                return all.stream().map(Future::resultNow).toList();
            } catch (ExecutionException e) {
                threads.shutdownNow(); // interrupts the others
                switch (e.getCause()) {
                    case RuntimeException failure -> throw failure;
                    case Error failure -> throw failure;
                    case InterruptedException left -> throw left;
                    default -> throw new IllegalStateException(e.getCause());
                }
            } catch (InterruptedException e) {
                threads.shutdownNow();
                throw e;
            }
        }
    }

    private Usage one(Exchange exchange, ServedModel served, LoadedModel model, int priority, Choice choice)
            throws InterruptedException {
        long asked = System.nanoTime();
        try (Turn turn = enter(exchange, served, priority);
                Session session = whenFree(model::newSession)) {
            long admitted = System.nanoTime();
            if (choice.adapters() != null) {
                session.adapters(choice.adapters());
            }
            Usage usage = session.generate(choice.request(), choice.listener());
            if (usage.finish() == FinishReason.CANCELLED) {
                Thread.interrupted();
                throw new InterruptedException("the generation was cancelled");
            }
            choice.ended().ended(usage);
            long first = choice.listener().firstNanos();
            FinishedGeneration ended = new FinishedGeneration(
                    served.spec().name(),
                    usage,
                    Duration.ofNanos(admitted - asked),
                    Duration.ofNanos(System.nanoTime() - asked),
                    Duration.ofNanos(first == 0 ? 0 : first - asked));
            record(ended);
            exchange.generated(ended);
            return usage;
        }
    }

    /// A request's turn. Closing it lets another one begin.
    @FunctionalInterface
    public interface Turn extends AutoCloseable {
        @Override
        void close();
    }

    /// Waits for a place in the queue of a model that is loaded, and for one of its sequences.
    ///
    /// @param exchange whose request it is
    /// @param served the model
    /// @param priority higher goes first
    /// @return the turn; the caller closes it once, on the same thread
    /// @throws dev.tenon.platform.server.queue.QueueFullException if too many wait
    /// @throws InterruptedException if the thread is interrupted
    public Turn enter(Exchange exchange, ServedModel served, int priority) throws InterruptedException {
        Thread thread = Thread.currentThread();
        running.add(thread);
        try {
            Turn turn = enter(served, exchange.principal(), priority);
            return () -> {
                turn.close();
                running.remove(thread);
            };
        } catch (InterruptedException | RuntimeException e) {
            running.remove(thread);
            throw e;
        }
    }

    private static Turn enter(ServedModel served, String group, int priority) throws InterruptedException {
        Admission.Place place = served.admission().enter(group, priority);
        try {
            Semaphore sequences = served.sequences();
            sequences.acquire();
            return () -> {
                sequences.release();
                place.close();
            };
        } catch (InterruptedException e) {
            place.close();
            throw e;
        }
    }

    /// Calls what opens sessions, again while others have them all: texts that are embedded take those that are free.
    ///
    /// @param call what opens sessions
    /// @param <T> its result
    /// @return its result
    /// @throws InterruptedException if the thread is interrupted
    public static <T> T whenFree(Supplier<T> call) throws InterruptedException {
        while (true) {
            try {
                return call.get();
            } catch (OutOfResourcesException e) {
                if (!e.code().equals(ErrorCode.KV_PAGES) || e.asked() > e.limit() || e.used() == 0) {
                    throw e;
                }
                // Not until a turn ends: other bundles' end points close sessions too, and have no turns.
                Thread.sleep(LOOK_MILLIS);
            }
        }
    }

    private void record(FinishedGeneration ended) {
        String labels = Metrics.labels("model_name", ended.model());
        Usage usage = ended.usage();
        long queued = ended.queued().toNanos();
        long nanos = ended.time().toNanos();
        long first = ended.firstToken().toNanos();
        int prompt = usage.promptTokens() + usage.cachedTokens();
        metrics.count("prompt_tokens_total", "Tokens of prompts.", labels, prompt);
        metrics.count("generation_tokens_total", "Generated tokens.", labels, usage.generatedTokens());
        metrics.count("prefix_cache_queries_total", "Tokens of prompts that were looked up.", labels, prompt);
        metrics.count("prefix_cache_hits_total", "Tokens that had been computed.", labels, usage.cachedTokens());
        metrics.count(
                "spec_decode_num_draft_tokens_total",
                "Tokens that were proposed and ran.",
                labels,
                usage.draftedTokens());
        metrics.count(
                "spec_decode_num_accepted_tokens_total",
                "Proposed tokens that became part of a reply.",
                labels,
                usage.acceptedTokens());
        String reason = usage.finish() == FinishReason.LENGTH ? "length" : "stop";
        metrics.count(
                "request_success_total",
                "Generations that ended by themselves.",
                labels + "," + Metrics.labels("finished_reason", reason),
                1);
        metrics.tokens("request_prompt_tokens", "Tokens of a prompt.", labels, prompt);
        metrics.tokens("request_generation_tokens", "Tokens of a reply.", labels, usage.generatedTokens());
        metrics.time("request_queue_time_seconds", "Time in the queue.", labels, queued);
        metrics.time("request_inference_time_seconds", "Time from queue to end.", labels, nanos - queued);
        metrics.time("e2e_request_latency_seconds", "Time from request to end.", labels, nanos);
        metrics.time("request_prefill_time_seconds", "Time to run the prompt.", labels, usage.prefillNanos());
        metrics.time("request_decode_time_seconds", "Time from first to last token.", labels, usage.decodeNanos());
        if (first != 0) {
            metrics.time("time_to_first_token_seconds", "Time from request to first token.", labels, first);
        }
        if (usage.generatedTokens() > 1) {
            metrics.tokenTimes("request_time_per_output_token_seconds", "Mean time of a token after the first.", labels)
                    .recordNanos(usage.decodeNanos() / (usage.generatedTokens() - 1));
        }
    }

    /// {@return where times between two tokens of replies are recorded}
    ///
    /// @param served the model
    public Histogram gaps(ServedModel served) {
        return metrics.tokenTimes(
                "inter_token_latency_seconds",
                "Time between two tokens of a reply.",
                Metrics.labels("model_name", served.spec().name()));
    }

    /// Interrupts all that run or wait.
    public void interruptAll() {
        running.forEach(Thread::interrupt);
    }
}

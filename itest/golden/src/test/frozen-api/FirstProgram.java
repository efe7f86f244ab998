package first.program;

import dev.tenon.api.engine.EmbeddingRequest;
import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.Generation;
import dev.tenon.api.engine.GenerationEvent;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.graph.Graph;
import dev.tenon.api.text.SamplingParams;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.function.BiFunction;

/// Generates, submits and cancels, embeds, and reads an error: what a program written against version 1.0 of
/// the api alone does. The jar beside holds its class files, made once; no build makes them again.
public final class FirstProgram implements BiFunction<Engine, Path, Map<String, Object>> {
    @Override
    public Map<String, Object> apply(Engine engine, Path file) {
        LoadRequest request = LoadRequest.builder(file)
                .backend("cpu-vector")
                .contextLength(256)
                .maxSequences(2)
                .outputs(Graph.LOGITS, Graph.HIDDEN)
                .build();
        try (LoadedModel model = engine.load(request); Session session = model.newSession()) {
            int[] prompt = model.tokenizer().encode("Once upon a time", true, false);
            SamplingParams greedy = SamplingParams.greedy();
            StringBuilder heard = new StringBuilder();
            Usage usage = session.generate(GenerationRequest.of(prompt, greedy, 8), heard::append);
            session.truncate(0);
            List<Integer> ids = new ArrayList<>();
            session.generate(
                    GenerationRequest.builder().prompt(prompt).sampling(greedy).maxNewTokens(8).logProbabilities(1).build(),
                    GenerationListener.ofTokens(token -> ids.add(token.id())));
            session.truncate(0);
            FinishReason cancelled = cancelAfterThree(session, prompt);
            float[] vector = model.embed(EmbeddingRequest.builder()
                            .text(prompt)
                            .pooling(EmbeddingRequest.Pooling.MEAN)
                            .build())
                    .getFirst();
            return Map.of(
                    "text", heard.toString(),
                    "tokens", ids.size(),
                    "generated", usage.generatedTokens(),
                    "cancelled", cancelled.toString(),
                    "width", vector.length,
                    "error", error(session));
        }
    }

    private static FinishReason cancelAfterThree(Session session, int[] prompt) {
        Generation generation = session.submit(GenerationRequest.builder()
                .prompt(prompt)
                .sampling(SamplingParams.greedy())
                .ignoreEndOfGeneration(true)
                .build());
        generation.subscribe(new Flow.Subscriber<>() {
            private int tokens;

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(GenerationEvent event) {
                if (event instanceof GenerationEvent.Token(GeneratedToken token) && ++tokens == 3) {
                    generation.cancel();
                }
            }

            @Override
            public void onError(Throwable failure) {
                // result() fails with it
            }

            @Override
            public void onComplete() {
                // result() completes
            }
        });
        return generation.result().toCompletableFuture().join().finish();
    }

    private static String error(Session session) {
        try {
            session.evaluate(new int[] {1}, Session.Rows.LAST, "no such output", (index, row) -> {});
            return "none";
        } catch (TenonException e) {
            return e.code().equals(ErrorCode.ARGUMENT) ? e.code() : "another";
        }
    }
}

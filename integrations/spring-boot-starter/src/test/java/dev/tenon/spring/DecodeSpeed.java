package dev.tenon.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.tenon.Model;
import dev.tenon.Tenon;
import dev.tenon.TextRequest;
import dev.tenon.api.chat.ChatEvents;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.Session;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.langchain4j.TenonStreamingChatModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.prompt.Prompt;

/// What each way to a model costs: first token and decode speed of the same answers, in turns in one process. No test
/// of the build, which its name keeps it out of; on a machine that does nothing else:
///
/// ```
/// ./mvnw -q -pl integrations/spring-boot-starter -am package -Dtest=DecodeSpeed
/// -Dsurefire.failIfNoSpecifiedTests=false
/// ```
///
/// `-Dspeed.model=FILE`, `-Dspeed.rounds=9` and `-Dspeed.tokens=200` change what is measured.
class DecodeSpeed {
    private static final int ROUNDS = Integer.getInteger("speed.rounds", 9);
    private static final int TOKENS = Integer.getInteger("speed.tokens", 200);
    /// Rounds until the code that each part runs through is compiled.
    private static final int WARM_UP = 20;

    /// Answers, and tells when a part comes.
    ///
    /// @return how many tokens it has
    private interface Way {
        int answer(String message, Runnable part) throws Exception;
    }

    /// @param first milliseconds to the first part
    /// @param decode tokens a second after it
    private record Speed(double first, double decode) {}

    private static GenerationRequest.Builder all(GenerationRequest.Builder settings) {
        return settings.maxNewTokens(TOKENS).ignoreEndOfGeneration(true);
    }

    private static int engine(Model model, String message, Runnable part) {
        GenerationRequest how = all(GenerationRequest.builder())
                .sampling(SamplingParams.builder().temperature(0).build())
                .build();
        try (Session session = model.loaded().newSession()) {
            ChatEvents events = text -> part.run();
            return model.chatModel()
                    .reply(session, ChatRequest.of(message), how, events)
                    .generatedTokens();
        }
    }

    private static int frontDoor(Model model, String message, Runnable part) {
        TextRequest request = model.message(message).temperature(0).settings(DecodeSpeed::all);
        return request.forEach(text -> part.run()).usage().generatedTokens();
    }

    private static int langChain(TenonStreamingChatModel model, String message, Runnable part) throws Exception {
        CompletableFuture<ChatResponse> whole = new CompletableFuture<>();
        model.chat(message, new StreamingChatResponseHandler() {
            @Override
            public void onPartialResponse(String text) {
                part.run();
            }

            @Override
            public void onCompleteResponse(ChatResponse response) {
                whole.complete(response);
            }

            @Override
            public void onError(Throwable error) {
                whole.completeExceptionally(error);
            }
        });
        return whole.get().tokenUsage().outputTokenCount();
    }

    private static int spring(TenonChatModel model, String message, Runnable part) {
        return model.stream(new Prompt(message))
                .doOnNext(response -> part.run())
                .blockLast()
                .getMetadata()
                .getUsage()
                .getCompletionTokens();
    }

    private static Speed measure(Way way, String message) throws Exception {
        long[] first = new long[1];
        long begin = System.nanoTime();
        int tokens = way.answer(message, () -> first[0] = first[0] == 0 ? System.nanoTime() : first[0]);
        long end = System.nanoTime();
        assertThat(tokens).isEqualTo(TOKENS);
        return new Speed((first[0] - begin) / 1e6, (TOKENS - 1) * 1e9 / (end - first[0]));
    }

    private static double median(double... values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    @Test
    void compares() throws Exception {
        try (Model model = Tenon.model(System.getProperty("speed.model", Story.FILE))
                .contextLength(1024)
                .setting("prefix.cache", "off")
                .load()) {
            TenonStreamingChatModel langChain = TenonStreamingChatModel.builder()
                    .model(model)
                    .defaultRequestParameters(
                            ChatRequestParameters.builder().temperature(0.0).build())
                    .request(request -> request.settings(DecodeSpeed::all))
                    .build();
            TenonChatModel spring = TenonChatModel.builder(model)
                    .options(TenonChatOptions.builder().temperature(0.0).build())
                    .customizers(List.of(request -> request.settings(DecodeSpeed::all)))
                    .build();
            Map<String, Way> ways = new LinkedHashMap<>();
            ways.put("engine", (message, part) -> engine(model, message, part));
            ways.put("front door", (message, part) -> frontDoor(model, message, part));
            ways.put("LangChain4j", (message, part) -> langChain(langChain, message, part));
            ways.put("Spring AI", (message, part) -> spring(spring, message, part));
            print(ways, rounds(ways));
        }
    }

    /// {@return the speeds of each way, a round after the other; each round begins with another way}
    private static Map<String, List<Speed>> rounds(Map<String, Way> ways) throws Exception {
        Map<String, List<Speed>> speeds = new LinkedHashMap<>();
        List<String> names = new ArrayList<>(ways.keySet());
        for (int round = 0; round < WARM_UP + ROUNDS; round++) {
            String message = "Tell me story number " + round + ".";
            for (int i = 0; i < names.size(); i++) {
                String name = names.get((i + round) % names.size());
                Speed speed = measure(ways.get(name), message);
                if (round >= WARM_UP) {
                    speeds.computeIfAbsent(name, key -> new ArrayList<>()).add(speed);
                }
            }
        }
        return speeds;
    }

    /// Prints medians, and those of the ratios to the engine's of the same round.
    private static void print(Map<String, Way> ways, Map<String, List<Speed>> speeds) {
        List<Speed> engine = speeds.get("engine");
        for (String name : ways.keySet()) {
            List<Speed> own = speeds.get(name);
            double[] ratios = new double[ROUNDS];
            double[] later = new double[ROUNDS];
            for (int i = 0; i < ROUNDS; i++) {
                ratios[i] = own.get(i).decode() / engine.get(i).decode();
                later[i] = own.get(i).first() - engine.get(i).first();
            }
            System.out.printf(
                    "%-12s first part %6.1f ms (%+.1f)  decode %7.1f tokens/s (%.3f)%n",
                    name,
                    median(own.stream().mapToDouble(Speed::first).toArray()),
                    median(later),
                    median(own.stream().mapToDouble(Speed::decode).toArray()),
                    median(ratios));
        }
    }
}

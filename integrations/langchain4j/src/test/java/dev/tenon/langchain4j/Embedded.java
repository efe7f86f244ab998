package dev.tenon.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.tenon.Model;
import dev.tenon.Tenon;
import dev.tenon.itest.testkit.models.ScriptedSampler;
import java.nio.file.Path;

/// The embedded model, loaded once for all tests, and models by it whose answers are scripted.
final class Embedded {
    static final Path FILE = Path.of("../../platform/launcher/src/main/dist/models/story-qwen3-q4_k_m.gguf");
    static final Path GOLDEN = Path.of("../../itest/golden/src/test/resources/golden/models-more");

    /// Stays open until the JVM ends.
    static final Model MODEL = Tenon.model(FILE.toString()).contextLength(4096).load();

    static final String NAME = "story-qwen3-q4_k_m";

    private static final ScriptedSampler RULES =
            new ScriptedSampler(MODEL.loaded().tokenizer(), "<|im_end|>", new Rules("/rules.txt"));

    private Embedded() {}

    static TenonChatModel.Builder chat() {
        return TenonChatModel.builder().model(MODEL).request(request -> request.settings(s -> s.sampler(RULES)));
    }

    static TenonStreamingChatModel.Builder streaming() {
        return TenonStreamingChatModel.builder()
                .model(MODEL)
                .request(request -> request.settings(s -> s.sampler(RULES)));
    }

    static ChatRequestParameters parameters(String name, Double temperature, Double topP, Integer tokens) {
        return ChatRequestParameters.builder()
                .modelName(name)
                .temperature(temperature)
                .topP(topP)
                .maxOutputTokens(tokens)
                .build();
    }

    /// {@return a model that refuses all}
    static Model closed() {
        Model model = Tenon.model(FILE.toString()).contextLength(256).load();
        model.close();
        return model;
    }

    static ChatModel chatModel() {
        return chat().build();
    }

    static StreamingChatModel streamingModel() {
        return streaming().build();
    }
}

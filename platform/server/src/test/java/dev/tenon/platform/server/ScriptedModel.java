package dev.tenon.platform.server;

import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.gguf.GgufFile;
import dev.tenon.api.gguf.GgufValue;
import dev.tenon.api.text.Sampler;
import dev.tenon.api.text.SamplerProvider;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.api.text.Tokenizer;
import dev.tenon.itest.testkit.models.ScriptedSampler;
import dev.tenon.itest.testkit.models.TinyGguf;
import dev.tenon.platform.core.StandaloneEngine;
import dev.tenon.platform.core.gguf.GgufReader;
import dev.tenon.platform.core.gguf.TensorTypes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// A server whose model has one small layer, the tokens of the model of the distribution and room for long prompts. It
/// writes replies that are given.
final class ScriptedModel implements SamplerProvider, AutoCloseable {
    /// What a page of computed tokens has.
    private static final int PAGE = 64;

    private static final int CONTEXT = 131_072;
    private static final int WIDTH = 32;

    final TenonServer server;
    private final StandaloneEngine engine =
            StandaloneEngine.create(Map.of("prefer.sampler", ScriptedModel.class.getName()));
    private final List<String> texts = Collections.synchronizedList(new ArrayList<>());
    private final List<Generation> generations = Collections.synchronizedList(new ArrayList<>());
    private volatile ScriptedSampler script;

    /// @param folder where the model is written
    /// @param template its chat template
    /// @param replies gives the reply to the n-th prompt, from 0
    ScriptedModel(Path folder, String template, IntFunction<String> replies) throws IOException {
        Path file = write(folder.resolve("scripted.gguf"), template);
        engine.installProviders(this);
        server = TenonServer.builder(engine)
                .port(0)
                .model("scripted", LoadRequest.builder(file).threads(2).build())
                .context(CONTEXT)
                .parallel(2)
                .start();
        Tokenizer tokenizer = engine.models().getFirst().tokenizer();
        script = new ScriptedSampler(tokenizer, "<|im_end|>", text -> {
            texts.add(text);
            return Optional.of(replies.apply(texts.size() - 1));
        });
    }

    @Override
    public Sampler create(SamplingParams params, int vocabularySize) {
        return new Generation(script.create(params, vocabularySize));
    }

    /// {@return the n-th prompt as text, from 0}
    String text(int generation) {
        return texts.get(generation);
    }

    /// {@return the n-th prompt as tokens, from 0}
    List<Integer> prompt(int generation) {
        return generations.get(generation).prompt();
    }

    /// {@return how many tokens of the prompt of a generation are in full pages of an earlier one, the last token left
    /// out, which runs in any case}
    int cached(int generation) {
        List<Integer> prompt = prompt(generation);
        return generations.subList(0, generation).stream()
                .mapToInt(earlier -> common(prompt.subList(0, prompt.size() - 1), earlier.computed()) / PAGE * PAGE)
                .max()
                .orElse(0);
    }

    /// {@return how many tokens of a generation, with its reply, are in full pages}
    int inPages(int generation) {
        return generations.get(generation).computed().size() / PAGE * PAGE;
    }

    private static int common(List<Integer> a, List<Integer> b) {
        int least = Math.min(a.size(), b.size());
        return IntStream.range(0, least)
                .filter(i -> !a.get(i).equals(b.get(i)))
                .findFirst()
                .orElse(least);
    }

    /// Notes the tokens of a generation.
    private final class Generation implements Sampler {
        private final Sampler sampler;
        private final List<Integer> tokens = new ArrayList<>();
        private int prompt = -1;

        Generation(Sampler sampler) {
            this.sampler = sampler;
        }

        List<Integer> prompt() {
            return tokens.subList(0, prompt);
        }

        /// {@return what was run: all but the token that ended the reply}
        List<Integer> computed() {
            return tokens.subList(0, tokens.size() - 1);
        }

        @Override
        public int sample(float[] logits) {
            if (prompt < 0) {
                prompt = tokens.size();
                generations.add(this);
            }
            return sampler.sample(logits);
        }

        @Override
        public void accept(int token) {
            tokens.add(token);
            sampler.accept(token);
        }
    }

    private static Path write(Path target, String template) throws IOException {
        TinyGguf written = new TinyGguf();
        int vocabulary;
        try (GgufFile story = GgufReader.open(ServerFixture.MODEL, TensorTypes.standard())) {
            Map<String, GgufValue> values = new TreeMap<>(story.metadata().values());
            values.keySet().removeIf(key -> !key.startsWith("tokenizer."));
            written.putAll(values);
            vocabulary = story.metadata().strings("tokenizer.ggml.tokens").orElseThrow().length;
        }
        written.put("tokenizer.chat_template", GgufValue.of(template))
                .put("general.architecture", GgufValue.of("llama"))
                .put("llama.block_count", GgufValue.ofUint32(1))
                .put("llama.context_length", GgufValue.ofUint32(CONTEXT))
                .put("llama.embedding_length", GgufValue.ofUint32(WIDTH))
                .put("llama.feed_forward_length", GgufValue.ofUint32(WIDTH))
                .put("llama.attention.head_count", GgufValue.ofUint32(1))
                .put("llama.attention.layer_norm_rms_epsilon", GgufValue.of(1e-5f));
        Random random = new Random(1);
        tensor(written, random, "token_embd.weight", WIDTH, vocabulary);
        for (String matrix : List.of("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")) {
            tensor(written, random, "blk.0." + matrix + ".weight", WIDTH, WIDTH);
        }
        for (String norm : List.of("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight")) {
            tensor(written, random, norm, WIDTH);
        }
        return written.write(target);
    }

    private static void tensor(TinyGguf file, Random random, String name, int... shape) {
        float[] values = new float[IntStream.of(shape).reduce(1, Math::multiplyExact)];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian() / 8;
        }
        file.tensor(name, 0, IntStream.of(shape).mapToObj(Long::valueOf).toList(), TinyGguf.f32(values));
    }

    @Override
    public void close() {
        server.close();
        engine.close();
    }
}

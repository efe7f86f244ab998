package dev.tenon.platform.core.text.words;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/// The pre-tokenizers by the names that `tokenizer.ggml.pre` gives them. One is made only when a file asks
/// for it.
///
/// Rules come from the `tokenizer.json` of the models, names from the GGUF files in use.
public final class PreTokenizers {
    /// How the words of a model are made and merged.
    ///
    /// @param splitter cuts text into words
    /// @param wholeWords whether a word that is a token is taken as it is, without regard to merges
    /// @param addBos whether BOS is added when the file does not say
    public record Rules(PreTokenizer splitter, boolean wholeWords, boolean addBos) {}

    private static final Map<String, Supplier<Rules>> BY_NAME = new LinkedHashMap<>();

    static {
        put(() -> rules(RegexSplitter.byDefault()), "default");
        put(
                () -> new Rules(new WordScanner.Cl100k(3, false), true, true),
                "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2");
        put(() -> rules(new WordScanner.Cl100k(3, false)), "smaug-bpe dbrx glm4 chatglm-bpe");
        put(
                () -> rules(new WordScanner.Cl100k(1, false)),
                "qwen2 deepseek-r1-qwen megrez kormo stablelm2 hunyuan grok-2 bailingmoe bailingmoe2 llada-moe");
        put(
                () -> rules(new WordScanner.Gpt2()),
                "gpt-2 phi-2 mpt olmo jais exaone4 gigachat jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code"
                        + " roberta-bpe a.x-4.0 mellum trillion granite-docling modern-bert");
        put(
                () -> rules(new WordScanner.SingleNumbers().then(new WordScanner.Gpt2())),
                "smollm starcoder refact command-r codeshell exaone minerva-7b");
        put(() -> new Rules(new WordScanner.O200k(1, false, false), true, true), "tekken");
        put(() -> rules(new WordScanner.O200k(3, true, false)), "gpt-4o llama4 minimax-m2");
        put(() -> rules(new WordScanner.O200k(3, true, true)), "kimi-k2");
        put(() -> rules(new WordScanner.Cl100k(1, true)), "qwen35");
        put(() -> rules(new WordScanner.Cl100k(1, false, "")), "seed-coder");
        put(() -> rules(RegexSplitter.deepSeekLlm()), "deepseek-llm");
        put(() -> rules(RegexSplitter.deepSeekCoder()), "deepseek-coder");
        put(() -> rules(RegexSplitter.deepSeekV3()), "deepseek-v3 hunyuan-dense");
        put(() -> rules(RegexSplitter.falcon()), "falcon");
    }

    private PreTokenizers() {}

    /// Finds the rules of a name.
    ///
    /// @param name value of `tokenizer.ggml.pre`
    /// @param source what error messages call the file
    /// @return the rules
    /// @throws UnsupportedModelException (`MODEL-008`) if the name is unknown
    public static Rules of(String name, String source) {
        Supplier<Rules> rules = BY_NAME.get(name);
        if (rules == null) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_TOKENIZER,
                    "Metadata key tokenizer.ggml.pre in " + source + " names the pre-tokenizer \"" + name
                            + "\", which is not known; known are " + String.join(", ", known())
                            + ". Use a newer version, or set the key to a known one that cuts words alike.");
        }
        return rules.get();
    }

    /// {@return the known names}
    static Set<String> known() {
        return BY_NAME.keySet();
    }

    private static void put(Supplier<Rules> rules, String names) {
        for (String name : names.split(" ")) {
            BY_NAME.put(name, rules);
        }
    }

    private static Rules rules(PreTokenizer splitter) {
        return new Rules(splitter, false, false);
    }
}

package dev.tenon.platform.core.text.words;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;

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

    private static final String KNOWN =
            "default, llama-bpe, llama3, llama-v3, falcon3, falcon-h1, pixtral, midm-2.0, lfm2, smaug-bpe, dbrx, glm4, "
                    + "chatglm-bpe, qwen2, deepseek-r1-qwen, megrez, kormo, stablelm2, hunyuan, grok-2, gpt-2, phi-2, "
                    + "mpt, olmo, jais, exaone4, gigachat, jina-es, jina-de, jina-v1-en, jina-v2-es, jina-v2-de, "
                    + "jina-v2-code, roberta-bpe, a.x-4.0, mellum, trillion, granite-docling, smollm, starcoder, "
                    + "refact, command-r, codeshell, exaone, minerva-7b, tekken, gpt-4o, llama4, deepseek-llm, "
                    + "deepseek-coder, deepseek-v3, hunyuan-dense, falcon, modern-bert, qwen35, minimax-m2, kimi-k2";

    private PreTokenizers() {}

    /// Finds the rules of a name.
    ///
    /// @param name value of `tokenizer.ggml.pre`
    /// @param source what error messages call the file
    /// @return the rules
    /// @throws UnsupportedModelException (`MODEL-008`) if the name is unknown
    public static Rules of(String name, String source) {
        return switch (name) {
            case "llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2" ->
                new Rules(new WordScanner.Cl100k(3, false), true, true);
            case "smaug-bpe", "dbrx", "glm4", "chatglm-bpe" -> rules(new WordScanner.Cl100k(3, false));
            case "qwen2", "deepseek-r1-qwen", "megrez", "kormo", "stablelm2", "hunyuan", "grok-2" ->
                rules(new WordScanner.Cl100k(1, false));
            case "gpt-2",
                    "phi-2",
                    "mpt",
                    "olmo",
                    "jais",
                    "exaone4",
                    "gigachat",
                    "jina-es",
                    "jina-de",
                    "jina-v1-en",
                    "jina-v2-es",
                    "jina-v2-de",
                    "jina-v2-code",
                    "roberta-bpe",
                    "a.x-4.0",
                    "mellum",
                    "trillion",
                    "granite-docling",
                    "modern-bert" -> rules(new WordScanner.Gpt2());
            case "smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b" ->
                rules(new WordScanner.SingleNumbers().then(new WordScanner.Gpt2()));
            case "tekken" -> new Rules(new WordScanner.O200k(1, false, false), true, true);
            case "gpt-4o", "llama4", "minimax-m2" -> rules(new WordScanner.O200k(3, true, false));
            case "kimi-k2" -> rules(new WordScanner.O200k(3, true, true));
            case "qwen35" -> rules(new WordScanner.Cl100k(1, true));
            case "deepseek-llm" -> rules(RegexSplitter.deepSeekLlm());
            case "deepseek-coder" -> rules(RegexSplitter.deepSeekCoder());
            case "deepseek-v3", "hunyuan-dense" -> rules(RegexSplitter.deepSeekV3());
            case "falcon" -> rules(RegexSplitter.falcon());
            case "default" -> rules(RegexSplitter.byDefault());
            default ->
                throw new UnsupportedModelException(
                        ErrorCode.MODEL_TOKENIZER,
                        "Metadata key tokenizer.ggml.pre in " + source + " names the pre-tokenizer \"" + name
                                + "\", which is not known; known are " + KNOWN
                                + ". Use a newer version, or set the key to a known one that cuts words alike.");
        };
    }

    /// {@return the known names}
    static String[] known() {
        return KNOWN.split(", ");
    }

    private static Rules rules(PreTokenizer splitter) {
        return new Rules(splitter, false, false);
    }
}

package dev.tenon.platform.core.text.words;

import static dev.tenon.platform.core.text.words.PreTokenizers.Trait.ADD_BOS;
import static dev.tenon.platform.core.text.words.PreTokenizers.Trait.CHARACTERS;
import static dev.tenon.platform.core.text.words.PreTokenizers.Trait.WHOLE_WORDS;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.UnsupportedModelException;
import dev.tenon.platform.core.text.words.WordScanner.Cl100k;
import dev.tenon.platform.core.text.words.WordScanner.Gpt2;
import dev.tenon.platform.core.text.words.WordScanner.Numbers;
import dev.tenon.platform.core.text.words.WordScanner.O200k;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
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
    /// @param characters whether characters are merged rather than bytes
    public record Rules(PreTokenizer splitter, boolean wholeWords, boolean addBos, boolean characters) {}

    /// Rules with the names that stand for them.
    ///
    /// @param words what they are, for pages
    /// @param names values of `tokenizer.ggml.pre`
    /// @param splitter makes the splitter
    /// @param traits what else holds
    public record Row(String words, List<String> names, Supplier<PreTokenizer> splitter, Set<Trait> traits) {
        private Rules rules() {
            return new Rules(
                    splitter.get(),
                    traits.contains(WHOLE_WORDS),
                    traits.contains(ADD_BOS),
                    traits.contains(CHARACTERS));
        }
    }

    /// What [Rules] say besides the splitter.
    public enum Trait {
        /// [Rules#wholeWords].
        WHOLE_WORDS,
        /// [Rules#addBos].
        ADD_BOS,
        /// [Rules#characters].
        CHARACTERS
    }

    private static final List<Row> ROWS = new ArrayList<>();
    private static final TreeMap<String, Row> BY_NAME = new TreeMap<>();

    static {
        row("signs, GPT-2, numbers by three", RegexSplitter::byDefault, "default");
        row(
                "Llama 3, whole words",
                () -> new Cl100k(3, false),
                "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
                WHOLE_WORDS,
                ADD_BOS);
        row("Llama 3", () -> new Cl100k(3, false), "smaug-bpe dbrx glm4 chatglm-bpe");
        row(
                "Llama 3, spaces by powers of two",
                () -> new Cl100k(3, false).then(new WordScanner.SpacesByPowers()),
                "jais-2");
        row(
                "numbers by three, Llama 3, whole words",
                () -> new Numbers(3).then(new Cl100k(3, false)),
                "minicpm5",
                WHOLE_WORDS);
        row(
                "Qwen 2",
                () -> new Cl100k(1, false),
                "qwen2 deepseek-r1-qwen megrez kormo f2llmv2 stablelm2 hunyuan solar-open grok-2 bailingmoe"
                        + " bailingmoe2 llada-moe");
        row("lines, Qwen 2", () -> RegexSplitter.lines().then(new Cl100k(1, false)), "laguna");
        row("Qwen 2 without contractions", RegexSplitter::withoutContractions, "ufakzeka");
        row("Qwen 3.5", () -> new Cl100k(1, true), "qwen35");
        row("Seed", () -> new Cl100k(1, false, ""), "seed-coder");
        row("EXAONE MoE: letters across blanks", RegexSplitter::exaoneMoe, "exaone-moe");
        row(
                "GPT-2",
                Gpt2::new,
                "gpt-2 phi-2 mpt olmo jais exaone4 gigachat jina-es jina-de jina-v1-en jina-v2-es jina-v2-de"
                        + " jina-v2-code roberta-bpe a.x-4.0 mellum trillion granite-docling modern-bert");
        row(
                "single numbers, GPT-2",
                () -> new Numbers(1).then(new Gpt2()),
                "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2");
        row("Chameleon: images and signs apart, GPT-2", RegexSplitter::chameleon, "chameleon", ADD_BOS);
        row("Tekken, whole words", () -> new O200k(1, false, false), "tekken", WHOLE_WORDS, ADD_BOS);
        row("GPT-4o", () -> new O200k(3, true, false), "gpt-4o llama4 minimax-m2 kanana2 talkie");
        row("GPT-4o, whole words", () -> new O200k(3, true, false), "granite-embed-multi-97m", WHOLE_WORDS);
        row(
                "digits by three from the right, GPT-4o",
                () -> new DigitGroups(DigitGroups.Rule.WORDS).then(new O200k(3, true, false)),
                "tiny_aya cohere2moe");
        row("Youtu: East Asian scripts apart, whole words", RegexSplitter::youtu, "youtu", WHOLE_WORDS);
        row("Kimi K2", () -> new O200k(3, true, true), "kimi-k2");
        row("DeepSeek LLM", RegexSplitter::deepSeekLlm, "deepseek-llm");
        row("DeepSeek Coder", RegexSplitter::deepSeekCoder, "deepseek-coder");
        row("DeepSeek V3", RegexSplitter::deepSeekV3, "deepseek-v3 hunyuan-dense hy_v4 joyai-llm");
        row("Spark 2.5", RegexSplitter::spark, "spark2_5");
        row("AFMoE", RegexSplitter::afmoe, "afmoe");
        row("Falcon", RegexSplitter::falcon, "falcon");
        row("BLOOM", RegexSplitter::bloom, "bloom poro-chat gpt3-finnish");
        row("BLOOM, single numbers", () -> RegexSplitter.bloom().then(new Numbers(1)), "viking");
        row(
                "numbers, digits by three from the right",
                () -> new Numbers(Integer.MAX_VALUE).then(new DigitGroups(DigitGroups.Rule.WHOLE_GROUPS)),
                "superbpe");
        row("lines, characters merged", RegexSplitter::lines, "gemma4 granite-embed-multi-311m", ADD_BOS, CHARACTERS);
        row("lines, characters merged, no BOS", RegexSplitter::lines, "sarvam-moe", CHARACTERS);
    }

    private PreTokenizers() {}

    /// Finds the rules of a name.
    ///
    /// @param name value of `tokenizer.ggml.pre`
    /// @param source what error messages call the file
    /// @return the rules
    /// @throws UnsupportedModelException (`MODEL-008`) if the name is unknown
    public static Rules of(String name, String source) {
        Row row = BY_NAME.get(name);
        if (row == null) {
            throw new UnsupportedModelException(
                    ErrorCode.MODEL_TOKENIZER,
                    "Metadata key tokenizer.ggml.pre in " + source + " names the pre-tokenizer \"" + name
                            + "\", which is not known; known are " + String.join(", ", known())
                            + ". Use a newer version, or set the key to a known one that cuts words alike.");
        }
        return row.rules();
    }

    /// {@return all rules with their names}
    public static List<Row> rows() {
        return List.copyOf(ROWS);
    }

    /// {@return the known names}
    static Set<String> known() {
        return BY_NAME.keySet();
    }

    private static void row(String words, Supplier<PreTokenizer> splitter, String names, Trait... traits) {
        Row row = new Row(words, List.of(names.split(" ")), splitter, Set.of(traits));
        ROWS.add(row);
        for (String name : row.names()) {
            BY_NAME.put(name, row);
        }
    }
}

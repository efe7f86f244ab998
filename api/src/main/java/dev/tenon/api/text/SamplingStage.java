package dev.tenon.api.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// A step between logits and the draw, in llama.cpp's order. Names are its names: `top_k`, `typ_p`.
public enum SamplingStage {
    /// Repetition, presence and frequency penalty.
    PENALTIES('e'),
    /// [Dry].
    DRY('d'),
    /// Drops tokens more than some standard deviations below the best.
    TOP_N_SIGMA('s'),
    /// Keeps the best tokens, by number.
    TOP_K('k'),
    /// Keeps locally typical tokens.
    TYP_P('y'),
    /// Keeps the best tokens, by probability.
    TOP_P('p'),
    /// Drops tokens below a share of the best one's probability.
    MIN_P('m'),
    /// [Xtc].
    XTC('x'),
    /// The temperature, fixed or [dynamic][DynamicTemperature].
    TEMPERATURE('t');

    private final char letter;

    SamplingStage(char letter) {
        this.letter = letter;
    }

    /// {@return the name by which requests call it, such as `top_k`}
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// {@return the steps that texts name}
    ///
    /// @param names names such as `top_k`, each a text or several separated by semicolons; a text that is no name
    ///     has a letter for each step, such as `edskypmxt` for all of them
    /// @throws IllegalArgumentException if there is no such step, or one is named twice
    public static List<SamplingStage> of(List<String> names) {
        List<SamplingStage> all = new ArrayList<>();
        for (String text : names) {
            List<SamplingStage> known = named(text);
            all.addAll(known.isEmpty() ? lettered(text) : known);
        }
        if (Set.copyOf(all).size() < all.size()) {
            throw new IllegalArgumentException(String.join(";", names) + " names a step twice");
        }
        return all;
    }

    private static List<SamplingStage> named(String text) {
        List<SamplingStage> all = new ArrayList<>();
        for (String name : text.split(";")) {
            for (SamplingStage stage : values()) {
                if (stage.id().equals(name.strip())) {
                    all.add(stage);
                }
            }
        }
        return all.size() == text.split(";").length ? all : List.of();
    }

    private static List<SamplingStage> lettered(String text) {
        List<SamplingStage> all = new ArrayList<>();
        for (char letter : text.toCharArray()) {
            for (SamplingStage stage : values()) {
                if (stage.letter == letter) {
                    all.add(stage);
                }
            }
        }
        if (all.size() < text.length()) {
            throw new IllegalArgumentException("'" + text + "' names no steps; expected names such as top_k of "
                    + String.join(
                            ";",
                            List.of(values()).stream().map(SamplingStage::id).toList()));
        }
        return all;
    }
}

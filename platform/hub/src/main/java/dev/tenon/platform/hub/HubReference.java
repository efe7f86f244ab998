package dev.tenon.platform.hub;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.gguf.CompanionFile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// A model on a hub: `owner/repo[:quant]`, also with `hf:` before it.
///
/// @param owner user or organisation
/// @param repo repository
/// @param quant wanted quantisation, such as `Q4_K_M`, or an empty string when none was given
public record HubReference(String owner, String repo, String quant) {
    /// The default quantisation.
    static final String DEFAULT_QUANT = "Q4_K_M";

    private static final Pattern FORM = Pattern.compile("(?:hf:)?([\\w.-]+)/([\\w.-]+?)(?:\\.git)?(?::([\\w.-]+))?");
    /// A file beside a model that is GGUF, too: what was measured for quantising.
    private static final Pattern BESIDE = word("imatrix");
    /// Smaller models that propose tokens, and parts of models; the model itself where the repository has that name.
    private static final Pattern HELPER = word("draft|drafter|mtp|projector");
    private static final Pattern SPLIT = Pattern.compile("(.*)-(\\d{5})-of-(\\d{5})\\.gguf");

    /// {@return whether a text can only be a reference, right or wrong}
    ///
    /// @param text what the user gave
    static boolean isReference(String text) {
        return text.startsWith("hf:");
    }

    /// {@return whether a text has the form of a reference, which a path may have, too}
    ///
    /// @param text what the user gave
    static boolean looksLike(String text) {
        return FORM.matcher(text).matches() && !text.matches("(?i).*\\.gguf|\\.\\.?/.*");
    }

    /// Reads a reference.
    ///
    /// @param text such as `hf:org/repo:Q8_0`
    /// @return the reference
    /// @throws TenonException (`CLI-001`) if it has another form
    public static HubReference parse(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches() || dots(form.group(1)) || dots(form.group(2))) {
            throw new TenonException(
                    ErrorCode.USAGE, "'" + text + "' is not a model on the hub; expected owner/repo[:quant].");
        }
        return new HubReference(form.group(1), form.group(2), form.group(3) == null ? "" : form.group(3));
    }

    private static boolean dots(String name) {
        return name.equals(".") || name.equals("..");
    }

    private static Pattern word(String words) {
        return Pattern.compile("(?i)(^|[-._])(" + words + ")(?=[-._]|$)");
    }

    /// Finds the models of the wanted quantisation. Those whose names end with it go before others that have it
    /// elsewhere. Without a wanted one those of Q4_K_M are taken if there are any, else all.
    ///
    /// @param names file names of the repository
    /// @return the files of each model, by name: the one file, or all parts of a split one in order
    public List<List<String>> choose(List<String> names) {
        List<String> models = names.stream()
                .filter(HubReference::isUsable)
                .filter(n -> !CompanionFile.isNamed(n) && !isBeside(n.substring(n.lastIndexOf('/') + 1)))
                .sorted()
                .toList();
        List<String> found = with(quant.isEmpty() ? DEFAULT_QUANT : quant, models);
        if (found.isEmpty() && quant.isEmpty()) {
            found = models;
        }
        Map<String, List<String>> byModel = new LinkedHashMap<>();
        Map<String, String> counts = new HashMap<>();
        for (String name : found) {
            Matcher split = SPLIT.matcher(name);
            String model = split.matches() ? split.group(1) : name;
            String count = split.matches() ? split.group(3) : "";
            // Of one model in other numbers of parts, too, those of the first file.
            if (counts.computeIfAbsent(model, m -> count).equals(count)) {
                byModel.computeIfAbsent(model, m -> new ArrayList<>()).add(name);
            }
        }
        return List.copyOf(byModel.values());
    }

    /// Finds the companion of a model that sees or hears: of those in the model's folder, or else in the
    /// next one above, one whose name shares the most words with the model's; of these, as llama.cpp does,
    /// the one with the most similar number of bits.
    ///
    /// @param model a file of [#choose]
    /// @param names file names of the repository
    /// @return the companion's name; empty where the repository has none
    static Optional<String> companion(String model, List<String> names) {
        return names.stream()
                .filter(HubReference::isUsable)
                .filter(CompanionFile::isNamed)
                .filter(n -> model.startsWith(folder(n)))
                .sorted()
                .min(Comparator.comparingInt((String n) -> -folder(n).length())
                        .thenComparing(CompanionFile.byName(model))
                        .thenComparingInt(n -> Math.abs(bits(n) - bits(model)))
                        .thenComparing(CompanionFile.byPrecision()));
    }

    private static boolean isUsable(String name) {
        return name.toLowerCase(Locale.ROOT).endsWith(".gguf")
                && !name.startsWith("/")
                && !name.contains("..")
                && !name.contains("\\");
    }

    private static String folder(String name) {
        return name.substring(0, name.lastIndexOf('/') + 1);
    }

    /// {@return bits of a weight: the first number in the last part of a name, such as 4 of `Q4_K_M`; 0 without one}
    private static int bits(String file) {
        Matcher last = Pattern.compile(".*[-.]\\D*(\\d{1,3})[^-.]*").matcher(name(file));
        return last.matches() ? Integer.parseInt(last.group(1)) : 0;
    }

    private boolean isBeside(String file) {
        return BESIDE.matcher(file).find()
                || HELPER.matcher(file).find() && !HELPER.matcher(repo).find();
    }

    /// {@return what names a file after a colon: its name without folder, number of the part and `.gguf`}
    ///
    /// @param file a file of a model
    static String name(String file) {
        return file.replaceFirst(".*/", "").replaceFirst("(?i)(-\\d{5}-of-\\d{5})?\\.gguf$", "");
    }

    /// {@return the names of all parts of a split file, or the one name of another one}
    ///
    /// @param name the name of one part
    public static List<String> parts(String name) {
        Matcher split = SPLIT.matcher(name);
        if (!split.matches()) {
            return List.of(name);
        }
        return IntStream.rangeClosed(1, Integer.parseInt(split.group(3)))
                .mapToObj(
                        part -> String.format(Locale.ROOT, "%s-%05d-of-%s.gguf", split.group(1), part, split.group(3)))
                .toList();
    }

    private static List<String> with(String quant, List<String> names) {
        String tag = "(?i)(^|.*[-._/])" + Pattern.quote(quant.replaceFirst("(?i)\\.gguf$", ""));
        List<String> end = matching(tag + "(-\\d{5}-of-\\d{5})?\\.gguf", names);
        return end.isEmpty() ? matching(tag + "[-./].*", names) : end;
    }

    private static List<String> matching(String form, List<String> names) {
        Pattern pattern = Pattern.compile(form);
        return names.stream().filter(n -> pattern.matcher(n).matches()).toList();
    }

    @Override
    public String toString() {
        return "hf:" + owner + "/" + repo + (quant.isEmpty() ? "" : ":" + quant);
    }
}

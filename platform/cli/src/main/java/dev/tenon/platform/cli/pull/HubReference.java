package dev.tenon.platform.cli.pull;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// A model on a hub: `owner/repo[:quant]`, also with `hf:` before it.
///
/// @param owner user or organisation
/// @param repo repository
/// @param quant wanted quantisation, such as `Q4_K_M`, or an empty string when none was given
record HubReference(String owner, String repo, String quant) {
    /// The default quantisation.
    static final String DEFAULT_QUANT = "Q4_K_M";

    private static final Pattern FORM = Pattern.compile("(?:hf:)?([\\w.-]+)/([\\w.-]+?)(?:\\.git)?(?::([\\w.-]+))?");
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
    static HubReference parse(String text) {
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

    /// Chooses the files of the wanted quantisation: the one file, or all parts of a split one in
    /// order.
    ///
    /// Without a wanted quantisation Q4_K_M is taken if it is there, else the first GGUF file by
    /// name.
    ///
    /// @param names file names of the repository
    /// @return the files, or an empty list
    List<String> choose(List<String> names) {
        List<String> models = names.stream()
                .filter(n -> n.toLowerCase(Locale.ROOT).endsWith(".gguf"))
                .filter(n -> !n.toLowerCase(Locale.ROOT).contains("mmproj"))
                .filter(n -> !n.startsWith("/") && !n.contains("..") && !n.contains("\\"))
                .sorted()
                .toList();
        List<String> found = with(quant.isEmpty() ? DEFAULT_QUANT : quant, models);
        if (found.isEmpty() && quant.isEmpty()) {
            found = models;
        }
        if (found.isEmpty()) {
            return found;
        }
        String first = found.getFirst();
        Matcher split = SPLIT.matcher(first);
        if (!split.matches()) {
            return List.of(first);
        }
        String prefix = split.group(1) + "-";
        String suffix = "-of-" + split.group(3) + ".gguf";
        return found.stream()
                .filter(n -> n.startsWith(prefix) && n.endsWith(suffix))
                .toList();
    }

    /// {@return the names of all parts of a split file, or the one name of another one}
    ///
    /// @param name the name of one part
    static List<String> parts(String name) {
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
        Pattern tag = Pattern.compile("(?i)(^|[-._/])" + Pattern.quote(quant) + "(?=[-./]|$)");
        return names.stream().filter(n -> tag.matcher(n).find()).toList();
    }

    @Override
    public String toString() {
        return "hf:" + owner + "/" + repo + (quant.isEmpty() ? "" : ":" + quant);
    }
}

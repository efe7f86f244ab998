package dev.tenon.platform.contracts.project;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.CRC32;

/// The names in a project, derived from the one that its author gives.
///
/// @param artifact the project's, such as `my-format`
/// @param group Maven's group, with which the package begins
/// @param packageName `com.example.myformat`
/// @param className `MyFormat`
/// @param id by which models, settings or commands name what the bundle offers
/// @param number of the format in files; for the other kinds of no use
public record ProjectNames(
        String artifact, String group, String packageName, String className, String id, String number) {
    /// Made-up numbers begin here, beyond all of ggml's.
    private static final int FIRST_NUMBER = 100_000;

    private static final int NUMBERS = 900_000;
    private static final List<String> KEYWORDS = List.of(
            ("abstract assert boolean break byte case catch char class const continue default do double else enum"
                            + " extends false final finally float for goto if implements import instanceof int"
                            + " interface long native new null package private protected public return short static"
                            + " strictfp super switch synchronized this throw throws transient true try void volatile"
                            + " while")
                    .split(" "));

    /// Derives the names.
    ///
    /// @param kind what is made
    /// @param name words of lower-case letters and digits, joined by `-`
    /// @param group Maven's group
    /// @param id null: the name in capitals for a format, its letters and digits for an architecture, the
    ///     name itself for the other kinds
    /// @param number null: one that follows from the id
    /// @return the names
    /// @throws TenonException (`CLI-001`) if no names can be made of that
    public static ProjectNames of(ProjectKind kind, String name, String group, String id, Integer number) {
        if (!name.matches("[a-z][a-z0-9]*(-[a-z0-9]+)*")) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    "A project cannot be called '" + name
                            + "': give words of lower-case letters and digits, joined by '-', such as my-"
                            + kind.word());
        }
        if (!group.matches("[a-z_]\\w*(\\.[a-z_]\\w*)*")) {
            throw new TenonException(
                    ErrorCode.USAGE, "No package can begin with '" + group + "': give a name such as com.example");
        }
        String letters = name.replace("-", "");
        String className = Arrays.stream(name.split("-"))
                .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                .collect(Collectors.joining());
        String known = id != null
                ? id
                : switch (kind) {
                    case FORMAT -> name.replace('-', '_').toUpperCase(Locale.ROOT);
                    case MODEL -> letters;
                    case ENCODER, BACKEND, TOKENIZER, SAMPLER, COMMAND, ENDPOINT -> name;
                };
        return new ProjectNames(
                name,
                group,
                group + "." + letters + (KEYWORDS.contains(letters) ? "_" : ""),
                className,
                known,
                String.valueOf(number != null ? number : numberOf(known)));
    }

    private static long numberOf(String id) {
        CRC32 sum = new CRC32();
        sum.update(id.getBytes(StandardCharsets.UTF_8));
        return FIRST_NUMBER + sum.getValue() % NUMBERS;
    }

    /// {@return the names as properties of the archetypes}
    ///
    /// @param tenonVersion of the api that the project is compiled against
    public Map<String, String> properties(String tenonVersion) {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("groupId", group);
        properties.put("artifactId", artifact);
        properties.put("package", packageName);
        properties.put("className", className);
        properties.put("id", id);
        properties.put("number", number);
        properties.put("tenonVersion", tenonVersion);
        return properties;
    }
}

package dev.tenon.platform.contracts.project;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.Arrays;
import java.util.Locale;

/// What a bundle can offer, and there is an archetype for.
public enum ProjectKind {
    FORMAT,
    MODEL,
    BACKEND,
    COMMAND,
    ENDPOINT;

    /// {@return the name of its archetype's folder, which commands use too}
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// {@return the kind of a name}
    ///
    /// @param word see [#word()]
    /// @throws TenonException (`CLI-001`) if there is none
    public static ProjectKind of(String word) {
        return Arrays.stream(values())
                .filter(kind -> kind.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new TenonException(
                        ErrorCode.USAGE,
                        "There is no project of the kind '" + word
                                + "', only format, model, backend, command and endpoint: tenon"
                                + " new format my-format"));
    }
}

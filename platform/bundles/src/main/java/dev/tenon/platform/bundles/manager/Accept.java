package dev.tenon.platform.bundles.manager;

import java.util.EnumSet;
import java.util.Set;

/// What is refused unless whoever changes a bundle says that it is meant.
public enum Accept {
    /// Loaded models compute other logits, by more than rounding, or formats decode blocks to other values.
    CHANGED_RESULTS("--accept-changed-results"),
    /// The version is lower than that of the bundle that it replaces, which was installed too.
    DOWNGRADE("--downgrade");

    private final String option;

    Accept(String option) {
        this.option = option;
    }

    /// {@return the option of commands that says so}
    public String option() {
        return option;
    }

    /// {@return what the words of a command accept}
    ///
    /// @param words a command and its options
    public static Set<Accept> of(Iterable<String> words) {
        Set<Accept> accepted = EnumSet.noneOf(Accept.class);
        for (String word : words) {
            for (Accept each : values()) {
                if (each.option.equals(word)) {
                    accepted.add(each);
                }
            }
        }
        return accepted;
    }
}

package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assumptions.abort;

import java.util.Map;
import java.util.function.Consumer;

/// The argument with which a sampler, a logits processor, a constraint or a proposer of tokens is tested.
///
/// @param id the provider's
/// @param given arguments by id
record RuleArgument(String id, Map<String, String> given) {
    /// {@return the one that was given, or else the empty one; aborts the test if that is refused}
    ///
    /// @param create makes one of an argument
    String taken(Consumer<String> create) {
        if (given.containsKey(id)) {
            return given.get(id);
        }
        try {
            create.accept("");
            return "";
        } catch (IllegalArgumentException e) {
            return abort("it needs an argument (" + e.getMessage() + "): give one by --argument " + id + "=ARG");
        }
    }
}

package dev.tenon.platform.grammar.expr;

/// Bounds of what a grammar may cost; beyond them it fails with `GRAMMAR-003`. Immutable.
///
/// @param sourceLength most characters of a schema, grammar or regular expression
/// @param nesting most brackets within each other
/// @param expressions most nodes of the compiled grammar
/// @param statesInAMask most states that one mask, or one accepted token, may add
/// @param compileWork most units of [Work] that compiling it may take
/// @param maskWork most units that one mask, or one accepted token, may take
/// @param textWork most units that all of one text's may take
/// @param quickWork most units of a mask, or token, that other sequences may wait for
public record GrammarLimits(
        int sourceLength,
        int nesting,
        int expressions,
        int statesInAMask,
        long compileWork,
        long maskWork,
        long textWork,
        long quickWork) {
    /// What is meant for grammars of strangers.
    public static final GrammarLimits DEFAULT =
            new GrammarLimits(1_000_000, 100, 200_000, 50_000, 20_000_000, 4_000_000, 40_000_000, 10_000);

    /// Most that repetitions within each other may count to.
    private static final long REPEATS = 100_000;

    /// Checks the length of a source.
    ///
    /// @param what what it is
    /// @param source its text
    /// @throws GrammarException (`GRAMMAR-003`) if it is too long
    public void checkLength(String what, String source) {
        if (source.length() > sourceLength) {
            throw GrammarException.limit("The " + what + " has " + source.length() + " characters; at most "
                    + sourceLength + " are allowed.");
        }
    }

    /// Checks a depth of nesting.
    ///
    /// @param what what nests
    /// @param depth how deep
    /// @throws GrammarException (`GRAMMAR-003`) if it is too deep
    public void checkNesting(String what, int depth) {
        if (depth > nesting) {
            throw GrammarException.limit("The " + what + " nests deeper than " + nesting + " levels.");
        }
    }

    /// Checks what repetitions within each other count to.
    ///
    /// @param count the product of their bounds
    /// @throws GrammarException (`GRAMMAR-003`) if that is too much
    public void checkRepeats(long count) {
        if (count > REPEATS) {
            throw GrammarException.limit("Repetitions within each other count to " + count + "; at most " + REPEATS
                    + " are allowed. Lower their bounds, or leave them out.");
        }
    }

    /// Checks how many expressions something needs at once.
    ///
    /// @param what what needs them
    /// @param count how many
    /// @throws GrammarException (`GRAMMAR-003`) if there may not be so many
    public void checkTable(String what, long count) {
        if (count > expressions) {
            throw GrammarException.limit(
                    "The " + what + " need " + count + " expressions; at most " + expressions + " are allowed.");
        }
    }
}

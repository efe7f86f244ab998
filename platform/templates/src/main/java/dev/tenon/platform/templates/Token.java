package dev.tenon.platform.templates;

/// A piece of a template.
///
/// @param kind what it is
/// @param text its text; of a string what it stands for
/// @param position where it begins in the template
record Token(Kind kind, String text, int position) {
    /// What a token is; TAG and EXPRESSION are their beginnings.
    enum Kind {
        TEXT,
        EXPRESSION,
        EXPRESSION_END,
        TAG,
        TAG_END,
        NAME,
        STRING,
        INTEGER,
        FLOAT,
        OPERATOR,
        END
    }

    /// {@return whether it is this name or operator}
    boolean is(String other) {
        return (kind == Kind.NAME || kind == Kind.OPERATOR) && text.equals(other);
    }
}

package dev.tenon.platform.templates;

/// A piece of a template.
///
/// @param kind what it is
/// @param text its text; of a string what it stands for
/// @param position where it begins in the template
record Token(Kind kind, String text, int position) {
    /// What a token is.
    enum Kind {
        TEXT,
        EXPRESSION_BEGIN,
        EXPRESSION_END,
        TAG_BEGIN,
        TAG_END,
        NAME,
        STRING,
        INTEGER,
        FLOAT,
        OPERATOR,
        END
    }
}

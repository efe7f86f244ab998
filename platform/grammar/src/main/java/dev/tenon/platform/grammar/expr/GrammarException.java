package dev.tenon.platform.grammar.expr;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;

/// A grammar, schema or regular expression is not understood, cannot be enforced, or exceeds a
/// limit.
public final class GrammarException extends TenonException {
    private static final long serialVersionUID = 1L;

    private final String text;
    private final String keyword;
    private final String pointer;

    private GrammarException(String code, String text, String keyword, String pointer) {
        super(code, text);
        this.text = text;
        this.keyword = keyword;
        this.pointer = pointer;
    }

    /// {@return the error of a text that does not parse (`GRAMMAR-001`)}
    ///
    /// @param text what, where, found and expected
    public static GrammarException syntax(String text) {
        return new GrammarException(ErrorCode.GRAMMAR_SYNTAX, text, "", "");
    }

    /// {@return the error of something that cannot be enforced (`GRAMMAR-002`)}
    ///
    /// @param text what, where, what to do
    public static GrammarException unsupported(String text) {
        return unsupported(text, "", "");
    }

    /// {@return the error of a keyword of a JSON Schema that cannot be enforced (`GRAMMAR-002`)}
    ///
    /// @param text why, what to do
    /// @param keyword the keyword
    /// @param pointer JSON pointer of the schema that has it; empty for the root
    public static GrammarException unsupported(String text, String keyword, String pointer) {
        String where = keyword.isEmpty() ? "" : "Keyword '" + keyword + "' at " + shown(pointer) + ": ";
        return new GrammarException(ErrorCode.GRAMMAR_UNSUPPORTED, where + text, keyword, pointer);
    }

    /// {@return this error, of a keyword of a JSON Schema}
    ///
    /// @param part the keyword
    /// @param place JSON pointer of the schema that has it; empty for the root
    public GrammarException of(String part, String place) {
        return new GrammarException(code(), "Keyword '" + part + "' at " + shown(place) + ": " + text, part, place);
    }

    /// {@return the error of a value of a JSON Schema that is not one (`GRAMMAR-001`)}
    ///
    /// @param text found and expected
    /// @param keyword the keyword
    /// @param pointer JSON pointer of the schema that has it; empty for the root
    public static GrammarException badValue(String text, String keyword, String pointer) {
        return new GrammarException(
                ErrorCode.GRAMMAR_SYNTAX,
                "Keyword '" + keyword + "' at " + shown(pointer) + ": " + text,
                keyword,
                pointer);
    }

    /// {@return the error of a limit that is exceeded (`GRAMMAR-003`)}
    ///
    /// @param text what, found and allowed
    public static GrammarException limit(String text) {
        return new GrammarException(ErrorCode.GRAMMAR_LIMIT, text, "", "");
    }

    private static String shown(String pointer) {
        return pointer.isEmpty() ? "the root" : pointer;
    }

    /// {@return the keyword of the JSON Schema; empty if it is none}
    public String keyword() {
        return keyword;
    }

    /// {@return JSON pointer of the schema that has the keyword; empty for the root, or if it is no
    ///     schema}
    public String pointer() {
        return pointer;
    }
}

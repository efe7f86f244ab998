package dev.tenon.platform.grammar.schema;

import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Which keywords of a schema demand something of a value. All others are notes, as JSON Schema has it: of OpenAPI,
/// of editors, of programs.
final class Keywords {
    /// Those that are read of each schema by itself.
    static final Set<String> ASSERTIONS = Set.of(
            "type",
            "const",
            "enum",
            "minimum",
            "exclusiveMinimum",
            "maximum",
            "exclusiveMaximum",
            "multipleOf",
            "pattern",
            "format",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
            "minProperties",
            "maxProperties",
            "required",
            "properties",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "items",
            "prefixItems",
            "additionalItems");
    /// Those that [Flattening] turns into schemas with the ones above.
    private static final Set<String> COMPOSED = Set.of(
            "$ref",
            "$id",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "dependencies",
            "dependentRequired",
            "dependentSchemas");
    /// Those that are not enforced, also of older drafts and of the validator Ajv.
    private static final Set<String> REFUSED = Set.of(
            "$dynamicRef",
            "$recursiveRef",
            "unevaluatedItems",
            "unevaluatedProperties",
            "extends",
            "disallow",
            "divisibleBy",
            "formatMinimum",
            "formatMaximum",
            "formatExclusiveMinimum",
            "formatExclusiveMaximum",
            "regexp",
            "typeof",
            "instanceof",
            "range",
            "exclusiveRange",
            "uniqueItemProperties",
            "allRequired",
            "anyRequired",
            "oneRequired",
            "patternRequired",
            "prohibited",
            "deepProperties",
            "deepRequired",
            "dynamicDefaults",
            "select",
            "selectCases",
            "selectDefault");

    /// All of them in small letters: `maxlength` is a mistake rather than a note.
    private static final Set<String> SMALL = Stream.of(ASSERTIONS, COMPOSED, REFUSED)
            .flatMap(Set::stream)
            .map(each -> each.toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet());

    private Keywords() {}

    /// {@return whether a keyword demands nothing of a value}
    static boolean isNote(String keyword) {
        return !SMALL.contains(keyword.toLowerCase(Locale.ROOT));
    }
}

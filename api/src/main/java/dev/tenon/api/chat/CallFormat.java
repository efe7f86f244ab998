package dev.tenon.api.chat;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// How a model writes calls of tools: the texts around names and arguments, and the marks by which
/// calls are found in a reply. Immutable. Where no model is named, examples are those of Hermes and
/// Qwen, which write
///
/// ```
/// <tool_call>
/// {"name": "time", "arguments": {"zone": "UTC"}}
/// </tool_call>
/// ```
///
/// @param shape what a call looks like, such as `new JsonObject("name", "arguments")`; never null
/// @param wording the texts around calls, with which calls are written; never null
/// @param between what stands between two calls, such as a line end; empty where a reply has one
///     call, which the text `""` is not
/// @param marks what stands around calls beside blanks, commas, semicolons and square brackets:
///     first what begins calls inside an answer, here `<tool_call>`, then all others, here
///     `</tool_call>`; at least one, each with a character that is no blank; copied
/// @param bare whether a reply may be calls without a mark; false here, true for Llama 3, which
///     writes `{"name": "time", "parameters": {}}` and nothing else
public record CallFormat(Shape shape, Wording wording, Optional<String> between, List<String> marks, boolean bare) {
    /// Checks and copies.
    ///
    /// @throws IllegalArgumentException if there is no mark, or a blank one
    public CallFormat {
        Objects.requireNonNull(shape, "shape");
        Objects.requireNonNull(wording, "wording");
        Objects.requireNonNull(between, "between");
        marks = List.copyOf(marks);
        if (marks.isEmpty()) {
            throw new IllegalArgumentException("There is no mark; expected at least the one that begins calls.");
        }
        marks.forEach(mark -> text(mark, "a mark"));
    }

    private static void text(String text, String what) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("'" + text + "' cannot be " + what + ": it is blank.");
        }
    }

    /// The texts around calls: `before`, then for each call `prefix`, its name, `middle`, its
    /// arguments and `suffix`, then `after`. In a JSON object the name stands in quotes, which are
    /// not part of these texts. Examples are those of Mistral before version 11, which writes
    /// `[TOOL_CALLS][{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}]`.
    ///
    /// @param before before the first call, such as `[TOOL_CALLS][`; may be empty
    /// @param prefix before the name, such as `{"name": `; may be empty
    /// @param middle between name and arguments, such as `, "arguments": `; may be empty
    /// @param suffix after the arguments, such as `}`; may be empty
    /// @param after after the last call, such as `]`; may be empty
    public record Wording(String before, String prefix, String middle, String suffix, String after) {
        /// Checks that nothing is null.
        public Wording {
            Objects.requireNonNull(before, "before");
            Objects.requireNonNull(prefix, "prefix");
            Objects.requireNonNull(middle, "middle");
            Objects.requireNonNull(suffix, "suffix");
            Objects.requireNonNull(after, "after");
        }
    }

    /// What a call looks like. Each shape has a parser in the platform, so bundles add none.
    public sealed interface Shape {}

    /// A JSON object with name and arguments.
    ///
    /// @param name key of the name, such as `name`; Command has `tool_name`
    /// @param arguments key of the arguments, such as `arguments`; Llama 3 has `parameters`
    public record JsonObject(String name, String arguments) implements Shape {
        /// Checks.
        ///
        /// @throws IllegalArgumentException if a key is blank
        public JsonObject {
            text(name, "the key of the name");
            text(arguments, "the key of the arguments");
        }
    }

    /// A name, then a JSON object.
    ///
    /// @param number what stands between the name and the number of the call, counted in a
    ///     conversation from 0: `:` of Kimi K2, whose calls begin with `functions.time:0`; empty
    ///     if calls have no number
    /// @param id what stands between the name and the id of the call, where a model writes one:
    ///     `[CALL_ID]` of Mistral; empty if it writes none
    public record NameThenJson(Optional<String> number, Optional<String> id) implements Shape {
        /// Checks.
        ///
        /// @throws IllegalArgumentException if a text is blank
        public NameThenJson {
            number.ifPresent(text -> text(text, "what stands before a number"));
            id.ifPresent(text -> text(text, "what stands before an id"));
        }
    }

    /// A name, then tags for each parameter. Examples are those of GLM, which writes
    /// `<arg_key>zone</arg_key>`, a line end and `<arg_value>UTC</arg_value>`. Strings stand as
    /// they are, all else as
    /// JSON.
    ///
    /// @param keyOpen before a key, such as `<arg_key>`
    /// @param keyEnd after it, such as `</arg_key>`
    /// @param otherKeyEnd after the key of a value that is no string: as `keyEnd`, but for DeepSeek
    ///     V3.2, which writes `" string="true">` and `" string="false">`
    /// @param valueOpen before a value, such as `<arg_value>`; empty if the key's end is, as in
    ///     `<parameter=zone>UTC` of Qwen3-Coder
    /// @param valueEnd after it, such as `</arg_value>`
    /// @param wrapped whether a value has lines of its own: false here, true for Qwen3-Coder
    public record NameThenTags(
            String keyOpen, String keyEnd, String otherKeyEnd, String valueOpen, String valueEnd, boolean wrapped)
            implements Shape {
        /// Creates tags that do not tell strings from other values.
        ///
        /// @param keyOpen as above
        /// @param keyEnd as above
        /// @param valueOpen as above
        /// @param valueEnd as above
        /// @param wrapped as above
        /// @throws IllegalArgumentException if a text is blank that may not be
        public NameThenTags(String keyOpen, String keyEnd, String valueOpen, String valueEnd, boolean wrapped) {
            this(keyOpen, keyEnd, keyEnd, valueOpen, valueEnd, wrapped);
        }

        /// Checks.
        ///
        /// @throws IllegalArgumentException if a text is blank that may not be
        public NameThenTags {
            text(keyOpen, "what stands before a key");
            text(keyEnd, "what stands after a key");
            text(otherKeyEnd, "what stands after the key of a value that is no string");
            Objects.requireNonNull(valueOpen, "valueOpen");
            text(valueEnd, "what stands after a value");
        }
    }

    /// A name, then names and values in a notation.
    ///
    /// @param notation such as [Notation#PYTHON] of LFM2; never null
    public record NameThenLiterals(Notation notation) implements Shape {
        /// Checks that nothing is null.
        public NameThenLiterals {
            Objects.requireNonNull(notation, "notation");
        }
    }

    /// Messages to tools in the channels of Harmony, as gpt-oss writes them. Reasoning is a
    /// channel, too: what is said of it elsewhere is ignored.
    public record Channels() implements Shape {}

    /// Notations of arguments that are no JSON. Each has a parser in the platform, so bundles add
    /// none.
    public enum Notation {
        /// Calls of Python with keywords: `time(zone="UTC", exact=True)`.
        PYTHON,
        /// Members with quotes of their own: `time{zone:<|"|>UTC<|"|>,exact:true}` of Gemma 4.
        GEMMA
    }
}

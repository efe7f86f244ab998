package dev.tenon.platform.chat;

import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.CallFormat.Channels;
import dev.tenon.api.chat.CallFormat.JsonObject;
import dev.tenon.api.chat.CallFormat.NameThenJson;
import dev.tenon.api.chat.CallFormat.NameThenLiterals;
import dev.tenon.api.chat.CallFormat.NameThenTags;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What follows from a format of calls for those who read and write them.
///
/// @param format the format
/// @param lead what the texts before a name end in, after marks: `<function=` of Qwen3-Coder; empty
///     if that is nothing
/// @param close what ends a call with tags; empty if a mark does
/// @param header what a call begins with, from its name if that stands before the arguments: the
///     group `name`, else none; in [NameThenJson] also `id`, `number` and `own`
record CallSyntax(CallFormat format, String lead, String close, Pattern header) {
    private static final String NAME = "(?<name>[A-Za-z_][\\w.-]*)";
    private static final String OBJECT = "(?=\\{)";

    static CallSyntax of(CallFormat format) {
        String marks = format.marks().stream().map(Pattern::quote).collect(Collectors.joining("|", "(\\s|", ")+"));
        String lead = format.wording().prefix().replaceFirst("^" + marks, "");
        String suffix = format.wording().suffix().strip();
        String closing = suffix.replaceFirst(marks + "$", "");
        String close = closing.isEmpty() ? suffix : closing;
        String middle = format.wording().middle().strip();
        String header = switch (format.shape()) {
            case JsonObject _ -> OBJECT;
            case NameThenJson json -> beforeJson(json, lead, middle, format.marks());
            case NameThenTags tags -> beforeTags(tags, lead, middle, close);
            case NameThenLiterals literals -> Literals.of(literals.notation()).header(lead) + "|" + OBJECT;
            case Channels _ -> OBJECT; // read by another parser
        };
        return new CallSyntax(format, lead, close, Pattern.compile(header));
    }

    /// A name with what may stand around it: what leads to it, a number or an id, and what
    /// separates it from JSON: also a mark of the lead, as relatives of a model have it there.
    private static String beforeJson(NameThenJson shape, String lead, String middle, List<String> marks) {
        String number = Pattern.quote(shape.number().orElse(":")); // models count unasked, too
        String own = shape.id()
                .map(id -> "(?:" + Pattern.quote(id) + "\\s*(?<own>[\\w-]+)\\s*)?")
                .orElse("");
        return "(?<id>(?:" + Pattern.quote(lead) + ")?" + NAME + "(?:" + number + "(?<number>\\d+))?)\\s*" + own
                + Stream.concat(Stream.of(middle), marks.stream().filter(lead::contains))
                        .filter(text -> !text.isEmpty())
                        .map(text -> Pattern.quote(text) + "\\s*|")
                        .collect(Collectors.joining("", "(?:", OBJECT + ")"));
    }

    private static String beforeTags(NameThenTags tags, String lead, String middle, String close) {
        String ends = Stream.of(tags.keyOpen(), close)
                .filter(text -> !text.isEmpty())
                .map(Pattern::quote)
                .collect(Collectors.joining("|"));
        String name = middle.isEmpty()
                ? NAME + "\\s*(?=" + ends + ")"
                : "\"?(?<name>[^<>\"\\s]+?)[\"\\s]*" + Pattern.quote(middle.replaceFirst("^\"+", ""));
        return Pattern.quote(lead) + name;
    }

    /// {@return the marks that begin calls inside an answer; the tag of a call does where its mark
    /// was left out}
    List<String> openers() {
        String first = format.marks().getFirst();
        return lead.isEmpty() || !(format.shape() instanceof NameThenTags) ? List.of(first) : List.of(first, lead);
    }

    /// {@return a name as it stands in a call}
    static String written(CallFormat format, String name) {
        return format.shape() instanceof JsonObject ? '"' + name + '"' : name;
    }

    /// {@return what stands between a name and the number of its call; empty if calls have none}
    static Optional<String> number(CallFormat format) {
        return format.shape() instanceof NameThenJson json ? json.number() : Optional.empty();
    }
}

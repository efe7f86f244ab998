package dev.tenon.platform.contracts.itest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.CallFormat;
import dev.tenon.api.chat.CallFormat.JsonObject;
import dev.tenon.api.chat.CallFormat.NameThenJson;
import dev.tenon.api.chat.CallFormat.NameThenLiterals;
import dev.tenon.api.chat.CallFormat.NameThenTags;
import dev.tenon.api.chat.CallFormat.Notation;
import dev.tenon.api.chat.CallFormat.Wording;
import dev.tenon.api.chat.ReplyFormat;
import dev.tenon.api.chat.ReplyFormat.Reasoning;
import dev.tenon.api.chat.ReplyFormatProvider;
import dev.tenon.platform.contracts.itest.ContractRun.Case;
import dev.tenon.platform.contracts.itest.ContractRun.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Each broken provider fails the test of the contract that is there for it.
class ReplyFormatContractTests {
    private static final CallFormat ACTION = action(new JsonObject("tool", "input"), "<|act|>", "<|/act|>", "<|and|>");
    private static final String TEMPLATE = "{{ tools }} <|act|>";

    private enum Fault {
        NONE(""),
        HAS_A_STRANGE_ID("theIdIsLowerCaseLettersDigitsAndDashes"),
        KNOWS_ALL_TEMPLATES("aTemplateOfOtherModelsHasNoFormat"),
        TRUSTS_TEMPLATES("aTemplateOfOtherModelsHasNoFormat"),
        KNOWS_NONE("aTemplateAlwaysHasTheSameFormat"),
        RETURNS_NULL("aTemplateAlwaysHasTheSameFormat"),
        COUNTS("aTemplateAlwaysHasTheSameFormat"),
        SERVES_ONE_THREAD("aTemplateAlwaysHasTheSameFormat"),
        NAMES_OTHER_KEYS("aCallIsReadBack"),
        FORGETS_A_CLOSING_MARK("textAroundCallsIsAnswer"),
        FORGETS_THE_OPENING_MARK("aCallWithoutArgumentsIsReadBack"),
        FORGETS_WHAT_STANDS_BETWEEN("severalCallsAreReadBack"),
        ENDS_KEYS_EARLY("nestedValuesAreReadBack"),
        ENDS_STRINGS_EARLY("stringsOfAnyLettersAreReadBack"),
        ENDS_STRINGS_BETWEEN_MARKS("stringsThatContainTheMarksAreReadBack"),
        ENDS_REASONING_EARLY("reasoningIsTakenApart");

        private final String found;

        Fault(String found) {
            this.found = found;
        }
    }

    private static CallFormat action(CallFormat.Shape shape, String... marks) {
        Wording wording = new Wording("", "<|act|>{\"tool\": ", ", \"input\": ", "}<|/act|>", "");
        return new CallFormat(shape, wording, Optional.of("<|and|>"), List.of(marks), false);
    }

    private static CallFormat tags(String keyEnd, String valueEnd) {
        return new CallFormat(
                new NameThenTags("[[", keyEnd, "", valueEnd, false),
                new Wording("<do>\n", "run ", ":\n", "end\n", "</do>"),
                Optional.of(""),
                List.of("<do>", "</do>"),
                false);
    }

    /// Knows one template.
    private record Provider(Fault fault, CallFormat calls, Thread thread, int[] count) implements ReplyFormatProvider {
        Provider(Fault fault, CallFormat calls) {
            this(fault, calls, Thread.currentThread(), new int[1]);
        }

        @Override
        public String id() {
            return fault == Fault.HAS_A_STRANGE_ID ? "My Format" : "actions";
        }

        @Override
        public Optional<ReplyFormat> format(String template) {
            if (fault == Fault.RETURNS_NULL && template.equals(TEMPLATE)) {
                return null;
            }
            if (fault == Fault.SERVES_ONE_THREAD && Thread.currentThread() != thread) {
                throw new IllegalStateException("another thread");
            }
            boolean known = fault == Fault.TRUSTS_TEMPLATES
                    ? template.substring(template.indexOf("<|act|>")).length() == 7
                    : fault == Fault.KNOWS_ALL_TEMPLATES || template.contains("<|act|>") && fault != Fault.KNOWS_NONE;
            String close = fault == Fault.ENDS_REASONING_EARLY ? "m" : "[/muse]";
            String open = fault == Fault.COUNTS ? "[muse" + count[0]++ + "]" : "[muse]";
            return known ? Optional.of(new ReplyFormat(calls, new Reasoning(open, close))) : Optional.empty();
        }
    }

    private static CallFormat broken(Fault fault) {
        return switch (fault) {
            case NAMES_OTHER_KEYS ->
                action(new JsonObject("instrument", "parameters"), "<|act|>", "<|/act|>", "<|and|>");
            case FORGETS_A_CLOSING_MARK -> action(ACTION.shape(), "<|act|>", "<|and|>");
            case FORGETS_THE_OPENING_MARK -> action(ACTION.shape(), "<|/act|>", "<|act|>", "<|and|>");
            case FORGETS_WHAT_STANDS_BETWEEN -> action(ACTION.shape(), "<|act|>", "<|/act|>");
            case ENDS_KEYS_EARLY -> tags("s", "]]");
            case ENDS_STRINGS_EARLY -> tags("=", "}");
            case ENDS_STRINGS_BETWEEN_MARKS -> tags("=", "> <");
            default -> ACTION;
        };
    }

    private static List<Case> cases(ReplyFormatProvider provider, Map<String, String> arguments) {
        ReplyFormatContract.select(new ReplyFormatContract.Selection(provider, arguments));
        return ContractRun.of("a format", ReplyFormatContract.class, test -> {}).cases();
    }

    private static Set<String> methods(List<Case> cases, Outcome outcome) {
        return cases.stream()
                .filter(each -> each.outcome() == outcome)
                .map(Case::method)
                .collect(Collectors.toSet());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aFaultIsFound(Fault fault) {
        Provider provider = new Provider(fault, broken(fault));
        List<Case> cases = cases(provider, Map.of(provider.id(), TEMPLATE));
        assertTrue(methods(cases, Outcome.FAILED).contains(fault.found), () -> fault + ": " + cases);
    }

    static Stream<CallFormat> sound() {
        return Stream.of(
                ACTION,
                tags("=", "]]"),
                new CallFormat(
                        new NameThenJson(Optional.of("#"), Optional.empty()),
                        new Wording("<calls>", "<call>fn/", " with ", "</call>", "</calls>"),
                        Optional.of("<next>"),
                        List.of("<calls>", "<call>", "<next>", "</call>", "</calls>"),
                        false),
                new CallFormat(
                        new NameThenLiterals(Notation.PYTHON),
                        new Wording("<py>\n", "await ", "(", ")", "\n</py>"),
                        Optional.of("\n"),
                        List.of("<py>", "</py>"),
                        false),
                new CallFormat(
                        new NameThenLiterals(Notation.GEMMA),
                        new Wording("", "<c>", "{", "}</c>", ""),
                        Optional.of(""),
                        List.of("<c>", "</c>", "<|\"|>"),
                        false));
    }

    @ParameterizedTest
    @MethodSource("sound")
    void aSoundOnePasses(CallFormat format) {
        List<Case> cases = cases(new Provider(Fault.NONE, format), Map.of("actions", TEMPLATE));
        assertEquals(15, cases.size());
        assertTrue(cases.stream().allMatch(each -> each.outcome() == Outcome.PASSED), cases::toString);
    }

    @Test
    void aTemplateMayBeAFile(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("t.jinja"), TEMPLATE);
        List<Case> cases = cases(new Provider(Fault.NONE, ACTION), Map.of("actions", file.toString()));
        assertTrue(cases.stream().allMatch(each -> each.outcome() == Outcome.PASSED), cases::toString);
    }

    @Test
    void withoutATemplateCasesAreSkippedAndSayHowToGiveIt() {
        List<Case> cases = cases(new Provider(Fault.NONE, ACTION), Map.of());
        assertEquals(Set.of(), methods(cases, Outcome.FAILED));
        List<Case> skipped =
                cases.stream().filter(each -> each.outcome() == Outcome.SKIPPED).toList();
        assertEquals(9, skipped.size());
        for (Case each : skipped) {
            assertTrue(each.reason().contains("--argument actions=FILE-OR-TEXT"), each::reason);
        }
    }
}

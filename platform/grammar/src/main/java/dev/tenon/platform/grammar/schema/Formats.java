package dev.tenon.platform.grammar.schema;

import java.util.Map;
import java.util.Set;

/// The formats of strings that are enforced, as regular expressions.
final class Formats {
    private static final String DATE =
            "(\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)"
                    + "|02-(0[1-9]|1\\d|2[0-8]))"
                    + "|(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)";
    /// Offsets as far as Java's own class has them.
    private static final String TIME = "([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-](0\\d|1[0-7]):[0-5]\\d)";
    private static final String DAYTIME = "T(\\d{1,9}H(\\d{1,9}M(\\d{1,9}S)?)?|\\d{1,9}M(\\d{1,9}S)?|\\d{1,9}S)";
    private static final String LABEL = "[A-Za-z0-9]{1,31}(-[A-Za-z0-9]{1,31})?";
    private static final String HOST = LABEL + "(\\." + LABEL + "){0,3}";
    private static final String ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}";
    private static final String BYTE = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
    private static final String IPV4 = BYTE + "(\\." + BYTE + "){3}";
    private static final String URI_CHARACTER = "([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})";

    private static final Map<String, String> PATTERNS = Map.of(
            "date",
            DATE,
            "time",
            TIME,
            "date-time",
            DATE + "T" + TIME,
            "duration",
            "P(\\d{1,9}W|(\\d{1,9}Y(\\d{1,9}M(\\d{1,9}D)?)?|\\d{1,9}M(\\d{1,9}D)?|\\d{1,9}D)(" + DAYTIME + ")?|"
                    + DAYTIME + ")",
            "hostname",
            HOST,
            "email",
            ATOM + "(\\." + ATOM + "){0,2}@" + HOST,
            "ipv4",
            IPV4,
            "ipv6",
            ipv6(),
            "uuid",
            "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
            "uri",
            "[A-Za-z][A-Za-z0-9+.-]*:(//" + HOST + "(:\\d{1,5})?(/" + URI_CHARACTER + "*)*|" + URI_CHARACTER
                    + "+(/" + URI_CHARACTER + "*)*)(\\?(" + URI_CHARACTER + "|[/?])*)?(#(" + URI_CHARACTER
                    + "|[/?])*)?");

    /// Those that say how a program reads a string, and demand nothing of it.
    private static final Set<String> NOTES = Set.of("byte", "binary", "password");

    private Formats() {}

    /// {@return whether a format demands nothing}
    static boolean isNote(String format) {
        return NOTES.contains(format);
    }

    private static String ipv6() {
        String group = "[0-9A-Fa-f]{1,4}";
        StringBuilder ways = new StringBuilder("(" + group + ":){7}" + group);
        for (int before = 0; before <= 7; before++) { // "::" in place of one or more groups
            int after = 7 - before;
            ways.append("|").append(before == 0 ? ":" : "(" + group + ":){" + before + "}");
            ways.append(after == 0 ? ":" : "(:" + group + "){1," + after + "}");
        }
        return ways.append("|::").toString();
    }

    /// {@return the texts of a format, as an anchored regular expression; null if it is not
    ///     enforced}
    static String pattern(String format) {
        String pattern = PATTERNS.get(format);
        return pattern == null ? null : "^(" + pattern + ")$";
    }

    /// {@return the formats that are enforced, for messages}
    static String names() {
        return String.join(", ", PATTERNS.keySet().stream().sorted().toList());
    }
}

package dev.tenon.platform.templates.values;

import java.time.Clock;
import java.time.ZonedDateTime;
import java.util.Locale;

/// The time written as C's `strftime` writes it in the C locale; it has no zone, as Python's `datetime.now()`.
final class Strftime {
    private Strftime() {}

    /// {@return the time in fields such as `%Y`; `%-d` is written without padding}
    static String format(Budget budget, String format, Clock clock) {
        ZonedDateTime now = ZonedDateTime.now(clock);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%' || i + 1 == format.length()) {
                out.append(c);
                continue;
            }
            boolean plain = format.startsWith("-", i + 1) && i + 2 < format.length();
            i += plain ? 2 : 1;
            String text = field(now, format.charAt(i));
            Budget.check(out.append(plain ? text.replaceFirst("^[0 ]+(?=.)", "") : text));
        }
        return budget.made(out.toString());
    }

    private static String field(ZonedDateTime now, char kind) {
        return switch (kind) {
            case 'c' ->
                field(now, 'a')
                        + ' '
                        + field(now, 'b')
                        + ' '
                        + field(now, 'e')
                        + ' '
                        + field(now, 'T')
                        + ' '
                        + now.getYear();
            case 'e', 'k', 'l' -> "%2s".formatted(String.format(Locale.ENGLISH, "%t" + kind, now));
            case 'f' -> "%06d".formatted(now.getNano() / 1000);
            case 'n', 't', '%' -> kind == 'n' ? "\n" : kind == 't' ? "\t" : "%";
            case 'u', 'w' -> String.valueOf(now.getDayOfWeek().getValue() % (kind == 'w' ? 7 : 8));
            case 'p' -> String.format(Locale.ENGLISH, "%Tp", now);
            case 'x', 'X' -> field(now, kind == 'x' ? 'D' : 'T');
            case 'z', 'Z' -> "";
            default -> {
                if ("aAbBCdDFhHIjmMRsSTyY".indexOf(kind) < 0) {
                    throw new TemplateFailure("strftime_now does not know '%" + kind + "'");
                }
                yield String.format(Locale.ENGLISH, "%t" + kind, now);
            }
        };
    }
}

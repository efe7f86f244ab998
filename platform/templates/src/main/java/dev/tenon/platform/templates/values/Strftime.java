package dev.tenon.platform.templates.values;

import java.time.Clock;
import java.time.LocalDateTime;
import java.time.ZonedDateTime;

/// The time written as C's `strftime` writes it in the C locale; it has no zone, as Python's `datetime.now()`.
final class Strftime {
    private static final String[] MONTHS = {
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December"
    };
    private static final String[] DAYS = {
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    };

    private Strftime() {}

    /// {@return the time}
    static String format(Budget budget, String format, Clock clock) {
        ZonedDateTime now = ZonedDateTime.now(clock);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%' || i + 1 == format.length()) {
                out.append(c);
                continue;
            }
            char kind = format.charAt(++i);
            boolean plain = kind == '-' && i + 1 < format.length();
            String text = field(now, plain ? format.charAt(++i) : kind);
            int from = 0;
            while (plain && from < text.length() - 1 && "0 ".indexOf(text.charAt(from)) >= 0) {
                from++;
            }
            out.append(text, from, text.length());
            Budget.check(out);
        }
        return budget.made(out.toString());
    }

    private static String field(ZonedDateTime zoned, char kind) {
        LocalDateTime t = zoned.toLocalDateTime();
        String month = MONTHS[t.getMonthValue() - 1];
        int weekday = t.getDayOfWeek().getValue();
        String day = DAYS[weekday - 1];
        int hour12 = (t.getHour() + 11) % 12 + 1;
        return switch (kind) {
            case 'Y' -> String.valueOf(t.getYear());
            case 'y' -> two(t.getYear() % 100);
            case 'm' -> two(t.getMonthValue());
            case 'd' -> two(t.getDayOfMonth());
            case 'e' -> (t.getDayOfMonth() < 10 ? " " : "") + t.getDayOfMonth();
            case 'H' -> two(t.getHour());
            case 'I' -> two(hour12);
            case 'M' -> two(t.getMinute());
            case 'S' -> two(t.getSecond());
            case 'f' -> digits(t.getNano() / 1000, 6);
            case 'b', 'h' -> month.substring(0, 3);
            case 'B' -> month;
            case 'a' -> day.substring(0, 3);
            case 'A' -> day;
            case 'p' -> t.getHour() < 12 ? "AM" : "PM";
            case 'j' -> digits(t.getDayOfYear(), 3);
            case 'u' -> String.valueOf(weekday);
            case 'w' -> String.valueOf(weekday % 7);
            case 'z', 'Z' -> "";
            case 'F' -> t.toLocalDate().toString();
            case 'D', 'x' -> field(zoned, 'm') + "/" + field(zoned, 'd') + "/" + field(zoned, 'y');
            case 'R' -> field(zoned, 'H') + ":" + field(zoned, 'M');
            case 'T', 'X' -> field(zoned, 'R') + ":" + field(zoned, 'S');
            case 'c' ->
                field(zoned, 'a') + " " + field(zoned, 'b') + " " + field(zoned, 'e') + " " + field(zoned, 'T') + " "
                        + field(zoned, 'Y');
            case 's' -> String.valueOf(zoned.toEpochSecond());
            case 'n' -> "\n";
            case 't' -> "\t";
            case '%' -> "%";
            default -> throw new TemplateFailure("strftime_now does not know '%" + kind + "'");
        };
    }

    private static String two(int value) {
        return digits(value, 2);
    }

    private static String digits(int value, int n) {
        String text = String.valueOf(value);
        return "0".repeat(Math.max(0, n - text.length())) + text;
    }
}

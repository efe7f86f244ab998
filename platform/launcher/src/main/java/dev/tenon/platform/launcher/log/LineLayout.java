package dev.tenon.platform.launcher.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import java.util.Locale;
import java.util.regex.Pattern;

/// One line an event: level, the logger's simple name, the message; a stack trace follows on its own lines.
///
/// Logback's own pattern layout would do, but building it takes some 60 lambdas at each start.
public final class LineLayout extends LayoutBase<ILoggingEvent> {
    private static final Pattern ACTIVE = Pattern.compile("[\\p{Cc}\\u2028-\\u202e\\u2066-\\u2069&&[^\\n\\t]]");

    @Override
    public String doLayout(ILoggingEvent event) {
        String logger = event.getLoggerName();
        StringBuilder line = new StringBuilder(128);
        line.append(event.getLevel())
                .append(' ')
                .append(logger, logger.lastIndexOf('.') + 1, logger.length())
                .append(" - ")
                .append(harmless(event.getFormattedMessage()))
                .append(System.lineSeparator());
        IThrowableProxy thrown = event.getThrowableProxy();
        if (thrown != null) {
            line.append(ThrowableProxyUtil.asString(thrown)).append(System.lineSeparator());
        }
        return line.toString();
    }

    /// As `OneLine` of the api, which is a bundle: a terminal would obey escape sequences in names that are quoted.
    private static String harmless(String message) {
        return ACTIVE.matcher(message)
                .replaceAll(found -> String.format(
                        Locale.ROOT, "\\\\u%04x", (int) found.group().charAt(0)));
    }
}

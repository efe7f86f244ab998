package dev.tenon.platform.launcher.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;

/// One line an event: level, the logger's simple name, the message; a stack trace follows on its own lines.
///
/// Logback's own pattern layout would do, but building it takes some 60 lambdas at each start.
public final class LineLayout extends LayoutBase<ILoggingEvent> {
    @Override
    public String doLayout(ILoggingEvent event) {
        String logger = event.getLoggerName();
        StringBuilder line = new StringBuilder(128);
        line.append(event.getLevel())
                .append(' ')
                .append(logger, logger.lastIndexOf('.') + 1, logger.length())
                .append(" - ")
                .append(event.getFormattedMessage())
                .append(System.lineSeparator());
        IThrowableProxy thrown = event.getThrowableProxy();
        if (thrown != null) {
            line.append(ThrowableProxyUtil.asString(thrown)).append(System.lineSeparator());
        }
        return line.toString();
    }
}

package dev.tenon.platform.launcher;

import org.osgi.framework.Bundle;
import org.osgi.framework.ServiceReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends the messages of the Felix framework to SLF4J instead of standard output.
///
/// Loaded only when Felix is the framework.
final class FelixLog extends org.apache.felix.framework.Logger {
    private static final String NAME = "org.apache.felix.framework";

    @Override
    protected void doLog(Bundle bundle, ServiceReference reference, int level, String message, Throwable error) {
        doLog(level, bundle == null ? message : NotedProblems.name(bundle) + ": " + message, error);
    }

    @Override
    protected void doLog(int level, String message, Throwable error) {
        Logger log = LoggerFactory.getLogger(NAME);
        switch (level) {
            // A bundle that does not start is reported by its starter, with the reason.
            case LOG_ERROR, LOG_WARNING -> log.info(message, error);
            default -> log.debug(message, error);
        }
    }
}

package dev.tenon.platform.launcher.log;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/// Gives SLF4J a logback that [LogSetup] has configured, without logback's search for a
/// configuration.
///
/// The search looks for services, reads annotations and parses XML: it costs more than the
/// framework's start. With `-Dlogback.configurationFile=FILE` this class is not used.
public final class LogProvider implements SLF4JServiceProvider {
    private final LoggerContext context = new LoggerContext();
    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final LogbackMDCAdapter mdc = new LogbackMDCAdapter();

    /// Made by SLF4J.
    public LogProvider() {}

    /// Chooses this provider, unless the user has chosen another one or a configuration file for
    /// logback.
    public static void select() {
        if (System.getProperty("logback.configurationFile") == null && System.getProperty("slf4j.provider") == null) {
            System.setProperty("slf4j.provider", LogProvider.class.getName());
            // Otherwise SLF4J prints the requested provider on standard error.
            System.setProperty("slf4j.internal.verbosity", System.getProperty("slf4j.internal.verbosity", "WARN"));
        }
    }

    @Override
    public void initialize() {
        context.setName("default");
        context.setMDCAdapter(mdc);
        LogSetup.configure(context);
        context.start();
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return context;
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return mdc;
    }

    @Override
    public String getRequestedApiVersion() {
        return "2.0.99";
    }
}

package dev.tenon.platform.launcher.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import dev.tenon.platform.boot.BundleChanges;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

/// Sets logging up without an XML file: warnings and worse go to standard error, one line each.
///
/// Levels, later ones override earlier ones: `WARN`, and `INFO` for bundles that come, change and
/// go while a command runs ([BundleChanges]); `etc/log.properties` (logger name = level, `root` for
/// the rest); the environment variable `TENON_LOG`; the system property `tenon.log`. The
/// last two hold a level for everything (`debug`), or a list such as
/// `info,dev.tenon.platform=debug`.
public final class LogSetup {
    private static final String ROOT = "root";

    private LogSetup() {}

    static void configure(LoggerContext context) {
        LineLayout layout = new LineLayout();
        layout.setContext(context);
        layout.start();
        LayoutWrappingEncoder<ILoggingEvent> encoder = new LayoutWrappingEncoder<>();
        encoder.setContext(context);
        encoder.setLayout(layout);
        encoder.setCharset(StandardCharsets.UTF_8);
        encoder.start();
        ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
        console.setContext(context);
        console.setName("stderr");
        console.setTarget("System.err");
        console.setEncoder(encoder);
        console.start();
        Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.WARN);
        root.addAppender(console);
        Map<String, String> levels = levels(
                fromFile(System.getProperty("tenon.home")),
                parse(System.getenv("TENON_LOG")),
                parse(System.getProperty("tenon.log")));
        for (Map.Entry<String, String> entry : levels.entrySet()) {
            Level wanted = Level.toLevel(entry.getValue(), null);
            if (wanted == null) {
                System.err.println("tenon: \"" + entry.getValue()
                        + "\" is not a log level; expected error, warn, info, debug or trace.");
            } else {
                (entry.getKey().equals(ROOT) ? root : context.getLogger(entry.getKey())).setLevel(wanted);
            }
        }
    }

    /// {@return the levels of all sources}
    ///
    /// @param file what the file says
    /// @param asked what the environment and the command line say; their level for everything is
    ///     also that of bundles that come and go
    @SafeVarargs
    public static Map<String, String> levels(Map<String, String> file, Map<String, String>... asked) {
        Map<String, String> levels = new LinkedHashMap<>();
        levels.put(BundleChanges.LOGGER, "info");
        levels.putAll(file);
        for (Map<String, String> each : asked) {
            if (each.containsKey(ROOT)) {
                levels.remove(BundleChanges.LOGGER);
            }
            levels.putAll(each);
        }
        return levels;
    }

    /// Reads `info,some.logger=debug` into logger names and levels; `root` is the name of a level
    /// on its own.
    public static Map<String, String> parse(String text) {
        Map<String, String> levels = new LinkedHashMap<>();
        if (text != null) {
            for (String part : text.split(",")) {
                int equals = part.indexOf('=');
                String level = part.substring(equals + 1).strip();
                if (!level.isEmpty()) {
                    levels.put(equals < 0 ? ROOT : part.substring(0, equals).strip(), level);
                }
            }
        }
        return levels;
    }

    private static Map<String, String> fromFile(String home) {
        Map<String, String> levels = new LinkedHashMap<>();
        if (home == null) {
            return levels;
        }
        Path file = Path.of(home, "etc", "log.properties");
        if (!Files.isRegularFile(file)) {
            return levels;
        }
        Properties read = new Properties();
        try (Reader in = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            read.load(in);
            for (String name : read.stringPropertyNames()) {
                levels.put(name, read.getProperty(name).strip());
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println("tenon: " + file + " cannot be read: " + e.getMessage());
        }
        return levels;
    }
}

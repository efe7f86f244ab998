package dev.tenon.platform.launcher.home;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Hashtable;
import java.util.Properties;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// One `etc/*.cfg` file: which configuration it sets, and its values.
///
/// The name of the file is the PID; in `factory-name.cfg` the part before the first dash is a
/// factory PID and the rest the name of one instance. The content is Java properties in UTF-8, and
/// `${name}` stands for the framework or system property of that name (`${env:NAME}` for an
/// environment variable; nothing when unset). These are the rules by which FileInstall reads the
/// same file when it changes later.
///
/// @param pid the PID, or the factory PID when `name` is not null; never null
/// @param name the instance's name, or null
/// @param key the absolute `file:` URI, by which FileInstall recognises the file's configuration; never
///     null
/// @param values the settings, all strings; never null
public record CfgFile(String pid, String name, String key, Hashtable<String, Object> values) {
    /// The property that carries `key` in the configuration.
    public static final String KEY = "felix.fileinstall.filename";

    private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^${}]+)}");

    /// Reads a file.
    ///
    /// @param file a file whose name ends in `.cfg`
    /// @param variables gives the value of a property, or null
    /// @throws IOException when it cannot be read or is not UTF-8
    public static CfgFile read(Path file, UnaryOperator<String> variables) throws IOException {
        Properties read = new Properties();
        try (Reader in = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            read.load(in);
        } catch (IllegalArgumentException e) {
            throw new IOException("bad \\u escape: " + e.getMessage(), e);
        }
        Hashtable<String, Object> values = new Hashtable<>();
        for (String property : read.stringPropertyNames()) {
            values.put(property, substitute(read.getProperty(property), variables));
        }
        String base = file.getFileName().toString();
        base = base.substring(0, base.length() - ".cfg".length());
        int dash = base.indexOf('-');
        String pid = dash > 0 ? base.substring(0, dash) : base;
        String name = dash > 0 ? base.substring(dash + 1) : null;
        return new CfgFile(pid, name, file.toAbsolutePath().toFile().toURI().toString(), values);
    }

    private static String substitute(String value, UnaryOperator<String> variables) {
        if (value.indexOf("${") < 0) {
            return value;
        }
        Matcher matcher = VARIABLE.matcher(value);
        return matcher.replaceAll(match -> {
            String variable = match.group(1);
            String replacement = variable.startsWith("env:")
                    ? System.getenv(variable.substring("env:".length()))
                    : variables.apply(variable);
            return Matcher.quoteReplacement(replacement == null ? "" : replacement);
        });
    }
}

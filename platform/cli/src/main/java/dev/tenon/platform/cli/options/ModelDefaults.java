package dev.tenon.platform.cli.options;

import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.core.control.SamplingNumber;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;

/// Defaults that come with a model: the file `NAME.properties` beside `NAME.gguf`.
///
/// Keys: `prompt`, `predict`, `chat` (`false` for a model that continues texts, although it has a chat template), and
/// `sampling.` with the names of the sampling options, such as `sampling.temperature` or `sampling.top-k`.
public final class ModelDefaults {
    private final Path file;
    private final Properties values;

    private ModelDefaults(Path file, Properties values) {
        this.file = file;
        this.values = values;
    }

    /// Reads the defaults of a model; there are none when the file is missing.
    ///
    /// @param model the model's file
    /// @return its defaults
    /// @throws TenonException (`IO-001`) if the file cannot be read
    public static ModelDefaults of(Path model) {
        Path fileName = model.getFileName();
        Properties values = new Properties();
        if (fileName == null) {
            return new ModelDefaults(model, values);
        }
        Path file = model.resolveSibling(fileName.toString().replaceFirst("(?i)\\.gguf$", "") + ".properties");
        if (Files.isRegularFile(file)) {
            try (Reader reader = Files.newBufferedReader(file)) {
                values.load(reader);
            } catch (IOException | IllegalArgumentException e) {
                throw new TenonException(
                        ErrorCode.IO, file + " cannot be read: " + e.getMessage() + ". Correct or delete the file.", e);
            }
        }
        return new ModelDefaults(file, values);
    }

    /// {@return the text of a key}
    ///
    /// @param key such as `prompt`
    public Optional<String> text(String key) {
        return Optional.ofNullable(values.getProperty(key));
    }

    /// {@return whether a question goes through the model's chat template, if there is one}
    public boolean answers() {
        return text("chat").map(String::strip).filter("false"::equalsIgnoreCase).isEmpty();
    }

    /// {@return the whole number of a key, or another one}
    ///
    /// @param key such as `predict`
    /// @param otherwise what to take when the key is not there
    /// @throws TenonException (`CFG-001`) if it is not a number
    public int integer(String key, int otherwise) {
        String value = values.getProperty(key);
        try {
            return value == null ? otherwise : Integer.parseInt(value.strip());
        } catch (NumberFormatException e) {
            throw notNumber(key, value, e);
        }
    }

    /// {@return the number of a key, or another one}
    ///
    /// @param key such as `sampling.temperature`
    /// @param otherwise what to take when the key is not there
    /// @throws TenonException (`CFG-001`) if it is not a number
    public float number(String key, float otherwise) {
        String value = values.getProperty(key);
        try {
            return value == null ? otherwise : Float.parseFloat(value.strip());
        } catch (NumberFormatException e) {
            throw notNumber(key, value, e);
        }
    }

    /// {@return a number of sampling, or another one}
    ///
    /// @param number which
    /// @param otherwise has the other one
    /// @throws TenonException (`CFG-001`) if it is not a number
    public double sampling(SamplingNumber number, SamplingParams otherwise) {
        String name = number == SamplingNumber.TEMPERATURE ? number.field() : number.option();
        return number("sampling." + name, (float) number.of(otherwise));
    }

    private TenonException notNumber(String key, String value, NumberFormatException cause) {
        return new TenonException(
                ErrorCode.CONFIG, key + " in " + file + " is '" + value + "'; expected a number.", cause);
    }
}

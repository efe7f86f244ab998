package dev.tenon.spark;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.apache.spark.sql.types.StructType;

/// Options by their names, checked. Immutable. `docs/spark.md` lists them; besides, `setting.NAME`
/// is a setting of the backend or the engine, and `variable.NAME` one of the model's template.
public final class TenonOptions implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final String SETTING = "setting.";
    private static final String VARIABLE = "variable.";

    private final TreeMap<String, String> values = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private final StructType schema;

    /// @param given values by name, of upper or lower case
    /// @throws IllegalArgumentException if one is unknown, no model is named, or a value is none of
    ///     its option
    TenonOptions(Map<String, String> given) {
        values.putAll(given);
        for (String name : values.keySet()) {
            boolean known = Arrays.stream(TenonOption.values())
                    .anyMatch(each -> each.key().equalsIgnoreCase(name));
            String lower = name.toLowerCase(Locale.ROOT);
            if (!known && !lower.startsWith(SETTING) && !lower.startsWith(VARIABLE)) {
                throw new IllegalArgumentException("There is no option " + name + "; there are "
                        + Arrays.stream(TenonOption.values())
                                .map(TenonOption::key)
                                .toList() + ", " + SETTING
                        + "NAME and " + VARIABLE + "NAME");
            }
        }
        if (text(TenonOption.MODEL).isEmpty()) {
            throw new IllegalArgumentException(
                    "The option model is missing: name a file, an address, or a model of" + " the hub");
        }
        for (TenonOption each : new TenonOption[] {TenonOption.SEQUENCES, TenonOption.MAX_TOKENS}) {
            if (number(each) < 1) {
                throw wrong(each, "a number from 1");
            }
        }
        for (TenonOption each : new TenonOption[] {
            TenonOption.THREADS, TenonOption.CONTEXT_LENGTH, TenonOption.TOP_K, TenonOption.TIMEOUT
        }) {
            number(each);
        }
        decimal(TenonOption.TEMPERATURE);
        decimal(TenonOption.TOP_P);
        seed();
        String fields = text(TenonOption.SCHEMA);
        schema = fields.isEmpty() ? null : StructType.fromDDL(fields);
        jsonSchema(); // checks the types
    }

    /// {@return the value of an option, or its default, which may be empty}
    String text(TenonOption option) {
        return values.getOrDefault(option.key(), option.value());
    }

    /// {@return the value of an option that is a number; 0 where there is none}
    int number(TenonOption option) {
        String text = text(option);
        if (text.matches("\\d{1,9}")) {
            return Integer.parseInt(text);
        }
        if (text.isEmpty()) {
            return 0;
        }
        throw wrong(option, "a number from 0");
    }

    private OptionalDouble decimal(TenonOption option) {
        String text = text(option);
        if (text.matches("\\d{1,9}(\\.\\d{1,9})?")) {
            return OptionalDouble.of(Double.parseDouble(text));
        }
        if (text.isEmpty()) {
            return OptionalDouble.empty();
        }
        throw wrong(option, "a number such as 0.8");
    }

    private IllegalArgumentException wrong(TenonOption option, String expected) {
        return new IllegalArgumentException(
                "The option " + option.key() + " is '" + text(option) + "'; expected " + expected);
    }

    /// {@return the seed}
    long seed() {
        String text = text(TenonOption.SEED);
        if (text.matches("-?\\d{1,18}")) {
            return Long.parseLong(text);
        }
        throw wrong(TenonOption.SEED, "a whole number");
    }

    /// {@return the schema of answers, if they have one}
    Optional<StructType> schema() {
        return Optional.ofNullable(schema);
    }

    /// {@return the JSON Schema of answers; empty if they may be any text}
    public String jsonSchema() {
        return schema().map(JsonRows::schema).orElse("");
    }

    /// {@return what a chat is told first; empty for nothing}
    public String system() {
        return text(TenonOption.SYSTEM);
    }

    /// {@return most tokens of an answer}
    public int maxTokens() {
        return number(TenonOption.MAX_TOKENS);
    }

    /// {@return the temperature}
    public float temperature() {
        return (float) decimal(TenonOption.TEMPERATURE).orElseThrow();
    }

    /// {@return the least probability of the tokens to choose from, if it is set}
    public OptionalDouble topP() {
        return decimal(TenonOption.TOP_P);
    }

    /// {@return how many tokens there are to choose from; 0 for the default}
    public int topK() {
        return number(TenonOption.TOP_K);
    }

    /// {@return texts that end an answer; perhaps none; the caller's}
    public String[] stop() {
        String text = text(TenonOption.STOP);
        return text.isEmpty() ? new String[0] : text.split("\\|");
    }

    /// {@return seconds that a row may take; 0 without a limit}
    public int timeout() {
        return number(TenonOption.TIMEOUT);
    }

    /// {@return settings of the backend or the engine by name; the caller's}
    Map<String, String> settings() {
        return below(SETTING);
    }

    /// {@return variables of the template by name; the caller's}
    public Map<String, String> variables() {
        return below(VARIABLE);
    }

    private Map<String, String> below(String prefix) {
        Map<String, String> found = new TreeMap<>();
        values.forEach((name, value) -> {
            if (name.regionMatches(true, 0, prefix, 0, prefix.length())) {
                found.put(name.substring(prefix.length()), value);
            }
        });
        return found;
    }

    /// {@return all that was given}
    @Override
    public String toString() {
        return values.toString();
    }
}

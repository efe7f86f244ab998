package dev.tenon.api.config;

import java.util.List;
import java.util.Optional;

/// What values a setting takes. Immutable.
public sealed interface SettingType {
    /// {@return what is allowed, as it stands after "expected" in a message}
    String allowed();

    /// {@return a value in the one spelling that its reader sees; empty if it is none of this type}
    ///
    /// @param text what a user wrote, without blanks around it
    Optional<String> normalize(String text);

    /// `on` or `off`; a user may write `true` and `false`, too.
    record Flag() implements SettingType {
        @Override
        public String allowed() {
            return "on or off";
        }

        @Override
        public Optional<String> normalize(String text) {
            if (text.equalsIgnoreCase("on") || text.equalsIgnoreCase("true")) {
                return Optional.of("on");
            }
            return text.equalsIgnoreCase("off") || text.equalsIgnoreCase("false")
                    ? Optional.of("off")
                    : Optional.empty();
        }
    }

    /// A whole number.
    ///
    /// @param least smallest allowed value
    /// @param most largest allowed value
    record Whole(long least, long most) implements SettingType {
        @Override
        public String allowed() {
            return "a whole number from " + least + (most >= Integer.MAX_VALUE ? "" : " to " + most);
        }

        @Override
        public Optional<String> normalize(String text) {
            try {
                long value = Long.parseLong(text);
                return value < least || value > most ? Optional.empty() : Optional.of(Long.toString(value));
            } catch (NumberFormatException e) {
                return Optional.empty();
            }
        }
    }

    /// One of several words, in any case.
    ///
    /// @param values the words; at least one, unmodifiable
    record Choice(List<String> values) implements SettingType {
        /// Copies the list.
        public Choice {
            values = List.copyOf(values);
        }

        @Override
        public String allowed() {
            int last = values.size() - 1;
            return last == 0
                    ? values.getFirst()
                    : String.join(", ", values.subList(0, last)) + " or " + values.get(last);
        }

        @Override
        public Optional<String> normalize(String text) {
            return values.stream().filter(text::equalsIgnoreCase).findFirst();
        }
    }

    /// Any text; empty where nothing is set.
    record Text() implements SettingType {
        @Override
        public String allowed() {
            return "a text";
        }

        @Override
        public Optional<String> normalize(String text) {
            return Optional.of(text);
        }
    }

    /// A file or folder; empty where nothing is set.
    record FilePath() implements SettingType {
        @Override
        public String allowed() {
            return "a path";
        }

        @Override
        public Optional<String> normalize(String text) {
            return text.indexOf('\0') < 0 ? Optional.of(text) : Optional.empty();
        }
    }
}

package dev.tenon;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import java.io.IOException;
import java.lang.reflect.Type;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;

/// Values of Java types as JSON, which [JsonSchema] describes.
final class JsonValues {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .addModule(new Jdk8Module())
            .addModule(new JavaTimeModule())
            .addModule(new SimpleModule("tenon").addDeserializer(LocalDateTime.class, new LocalDateTimes()))
            .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
            .build();

    private JsonValues() {}

    /// Takes the local part: JSON Schema has no format without an offset.
    private static final class LocalDateTimes extends StdDeserializer<LocalDateTime> {
        private static final long serialVersionUID = 1L;

        LocalDateTimes() {
            super(LocalDateTime.class);
        }

        @Override
        public LocalDateTime deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            return context.readValue(parser, OffsetDateTime.class).toLocalDateTime();
        }
    }

    /// {@return the value of a type that a text has}
    ///
    /// @param json the text
    /// @param type the type
    /// @throws JsonProcessingException if it has none
    static <T> T read(String json, Class<T> type) throws JsonProcessingException {
        return MAPPER.readValue(json, type);
    }

    /// {@return the value of a type that a tree has}
    ///
    /// @param node the tree
    /// @param type the type
    /// @throws IllegalArgumentException if it has none
    static Object value(JsonNode node, Type type) {
        return MAPPER.convertValue(node, MAPPER.constructType(type));
    }

    /// {@return the tree of a text}
    ///
    /// @param json the text
    /// @throws JsonProcessingException if it is no JSON
    static JsonNode tree(String json) throws JsonProcessingException {
        return MAPPER.readTree(json);
    }

    /// {@return the JSON of a value}
    ///
    /// @param value the value
    /// @throws IllegalArgumentException if there is none
    static String text(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("A " + value.getClass().getName() + " is no JSON: " + e.getMessage(), e);
        }
    }
}

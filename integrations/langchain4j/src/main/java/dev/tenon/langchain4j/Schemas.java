package dev.tenon.langchain4j;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.json.JsonAnyOfSchema;
import dev.langchain4j.model.chat.request.json.JsonArraySchema;
import dev.langchain4j.model.chat.request.json.JsonBooleanSchema;
import dev.langchain4j.model.chat.request.json.JsonEnumSchema;
import dev.langchain4j.model.chat.request.json.JsonIntegerSchema;
import dev.langchain4j.model.chat.request.json.JsonNullSchema;
import dev.langchain4j.model.chat.request.json.JsonNumberSchema;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.langchain4j.model.chat.request.json.JsonReferenceSchema;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;
import dev.langchain4j.model.chat.request.json.JsonStringSchema;
import dev.tenon.api.chat.TextFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Their elements of schemas as JSON Schema.
final class Schemas {
    private static final JsonMapper JSON = new JsonMapper();
    private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

    private Schemas() {}

    /// {@return what an answer has to be}
    ///
    /// @param format what they ask for; null for any text
    static TextFormat format(@Nullable ResponseFormat format) {
        if (format == null || format.type() != ResponseFormatType.JSON) {
            return TextFormat.any();
        }
        if (format.jsonSchema() == null) {
            return TextFormat.schema(text(Map.of("type", "object")));
        }
        return TextFormat.schema(text(of(format.jsonSchema().rootElement())));
    }

    private static String text(Map<String, Object> schema) {
        try {
            return JSON.writeValueAsString(schema);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e); // maps, lists and texts have a JSON text
        }
    }

    /// {@return JSON Schema as maps, lists and texts. An object that names its properties has no others, unless it
    ///     says that it may: a model whose answer is constrained would add some}
    ///
    /// @param element the element
    static Map<String, Object> of(JsonSchemaElement element) {
        if (element instanceof JsonRawSchema raw) {
            return parsed(raw.schema());
        }
        Map<String, Object> schema = new LinkedHashMap<>();
        switch (element) {
            case JsonObjectSchema object -> addObject(schema, object);
            case JsonArraySchema array -> {
                schema.put("type", "array");
                if (array.items() != null) {
                    schema.put("items", of(array.items()));
                }
            }
            case JsonEnumSchema values -> schema.put("enum", values.enumValues());
            case JsonAnyOfSchema any ->
                schema.put("anyOf", any.anyOf().stream().map(Schemas::of).toList());
            case JsonReferenceSchema reference -> schema.put("$ref", "#/$defs/" + reference.reference());
            case JsonStringSchema _ -> schema.put("type", "string");
            case JsonIntegerSchema _ -> schema.put("type", "integer");
            case JsonNumberSchema _ -> schema.put("type", "number");
            case JsonBooleanSchema _ -> schema.put("type", "boolean");
            case JsonNullSchema _ -> schema.put("type", "null");
            default ->
                throw new UnsupportedFeatureException("The schema has a "
                        + element.getClass().getName() + ", which is not supported. Use a JsonRawSchema.");
        }
        if (element.description() != null) {
            schema.put("description", element.description());
        }
        return schema;
    }

    private static void addObject(Map<String, Object> schema, JsonObjectSchema object) {
        schema.put("type", "object");
        schema.put("properties", all(object.properties()));
        if (!object.required().isEmpty()) {
            schema.put("required", object.required());
        }
        if (object.additionalProperties() != null) {
            schema.put("additionalProperties", object.additionalProperties());
        } else if (!object.properties().isEmpty()) {
            schema.put("additionalProperties", false);
        }
        if (!object.definitions().isEmpty()) {
            schema.put("$defs", all(object.definitions()));
        }
    }

    private static Map<String, Object> all(Map<String, JsonSchemaElement> elements) {
        Map<String, Object> schemas = new LinkedHashMap<>();
        elements.forEach((name, element) -> schemas.put(name, of(element)));
        return schemas;
    }

    private static Map<String, Object> parsed(String schema) {
        try {
            return JSON.readValue(schema, OBJECT);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("The raw schema is no JSON object: " + e.getOriginalMessage(), e);
        }
    }
}

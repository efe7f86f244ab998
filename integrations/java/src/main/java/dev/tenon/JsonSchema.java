package dev.tenon;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/// JSON Schema of Java types: exactly the JSON that [JsonValues] reads as a value of the type.
/// Records become objects all of whose properties are there; one that refers to itself becomes a
/// definition.
final class JsonSchema {
    private static final Map<Class<?>, Map<String, Object>> SIMPLE = Map.ofEntries(
            Map.entry(String.class, Map.of("type", "string")),
            Map.entry(Character.class, Map.of("type", "string", "minLength", 1, "maxLength", 1)),
            Map.entry(Boolean.class, Map.of("type", "boolean")),
            Map.entry(Byte.class, integer(Byte.MIN_VALUE, Byte.MAX_VALUE)),
            Map.entry(Short.class, integer(Short.MIN_VALUE, Short.MAX_VALUE)),
            Map.entry(Integer.class, integer(Integer.MIN_VALUE, Integer.MAX_VALUE)),
            Map.entry(Long.class, integer(Long.MIN_VALUE, Long.MAX_VALUE)),
            Map.entry(BigInteger.class, Map.of("type", "integer")),
            Map.entry(Float.class, Map.of("type", "number")),
            Map.entry(Double.class, Map.of("type", "number")),
            Map.entry(BigDecimal.class, Map.of("type", "number")),
            Map.entry(UUID.class, text("uuid")),
            Map.entry(LocalDate.class, text("date")),
            Map.entry(LocalTime.class, Map.of("type", "string", "pattern", "^([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?$")),
            Map.entry(LocalDateTime.class, text("date-time")),
            Map.entry(Instant.class, text("date-time")),
            Map.entry(OffsetDateTime.class, text("date-time")),
            Map.entry(ZonedDateTime.class, text("date-time")));

    private static final Map<Class<?>, Class<?>> BOXES = Map.of(
            boolean.class, Boolean.class,
            char.class, Character.class,
            byte.class, Byte.class,
            short.class, Short.class,
            int.class, Integer.class,
            long.class, Long.class,
            float.class, Float.class,
            double.class, Double.class);

    /// Records that are being described, and those that refer to themselves.
    private final Set<Class<?>> begun = new HashSet<>();
    /// Records that refer to themselves, by name.
    private final Map<String, Object> definitions = new LinkedHashMap<>();

    private JsonSchema() {}

    private static Map<String, Object> integer(long least, long most) {
        return Map.of("type", "integer", "minimum", least, "maximum", most);
    }

    private static Map<String, Object> text(String format) {
        return Map.of("type", "string", "format", format);
    }

    /// {@return the schema of a type}
    ///
    /// @param type the type
    /// @throws IllegalArgumentException if it, or a type in it, has none
    static Map<String, Object> of(Type type) {
        JsonSchema schema = new JsonSchema();
        return schema.whole(schema.schema(type));
    }

    /// {@return the schema of an object with a method's arguments}
    ///
    /// @param method the method
    /// @throws IllegalArgumentException if a parameter has no name, or its type has no schema
    static Map<String, Object> ofArguments(Method method) {
        JsonSchema schema = new JsonSchema();
        Map<String, Object> properties = new LinkedHashMap<>();
        for (Parameter parameter : method.getParameters()) {
            properties.put(name(parameter), schema.described(parameter.getParameterizedType(), parameter));
        }
        return schema.whole(object(properties));
    }

    /// {@return what a model calls a parameter}
    ///
    /// @param parameter the parameter
    /// @throws IllegalArgumentException if it has no name
    static String name(Parameter parameter) {
        Description description = parameter.getAnnotation(Description.class);
        if (description != null && !description.name().isEmpty()) {
            return description.name();
        }
        if (!parameter.isNamePresent()) {
            throw new IllegalArgumentException("A parameter of " + parameter.getDeclaringExecutable()
                    + " has no name at run time. Compile with -parameters, or say @Description(name = …)");
        }
        return parameter.getName();
    }

    private Map<String, Object> whole(Map<String, Object> schema) {
        if (definitions.isEmpty()) {
            return schema;
        }
        Map<String, Object> whole = new LinkedHashMap<>(schema);
        whole.put("$defs", definitions);
        return whole;
    }

    private static Map<String, Object> object(Map<String, Object> properties) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("type", "object");
        object.put("properties", properties);
        object.put("required", List.copyOf(properties.keySet()));
        object.put("additionalProperties", false);
        return object;
    }

    private Map<String, Object> described(Type type, AnnotatedElement where) {
        Map<String, Object> schema = schema(type);
        Description description = where.getAnnotation(Description.class);
        if (description == null || description.value().isEmpty()) {
            return schema;
        }
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("description", description.value());
        described.putAll(schema);
        return described;
    }

    private Map<String, Object> schema(Type type) {
        if (type instanceof ParameterizedType generic && generic.getRawType() instanceof Class<?> raw) {
            return schema(raw, generic.getActualTypeArguments());
        }
        if (type instanceof Class<?> raw) {
            return schema(raw, new Type[0]);
        }
        if (type instanceof WildcardType some && some.getLowerBounds().length == 0) {
            return schema(some.getUpperBounds()[0]); // Kotlin's List<Shape> of a parameter
        }
        throw none(type, "the type is not known at run time");
    }

    private Map<String, Object> schema(Class<?> type, Type[] arguments) {
        Map<String, Object> simple = SIMPLE.get(BOXES.getOrDefault(type, type));
        if (simple != null) {
            return simple;
        }
        if (type.isEnum()) {
            return Map.of(
                    "enum",
                    Stream.of(type.getEnumConstants())
                            .map(constant -> ((Enum<?>) constant).name())
                            .toList());
        }
        if (type.isArray()) {
            return Map.of("type", "array", "items", schema(type.getComponentType()));
        }
        if (Iterable.class.isAssignableFrom(type) && arguments.length == 1) {
            return Map.of("type", "array", "items", schema(arguments[0]));
        }
        if (type == Optional.class && arguments.length == 1) {
            return Map.of("anyOf", List.of(schema(arguments[0]), Map.of("type", "null")));
        }
        if (type == Map.class && arguments.length == 2 && arguments[0] == String.class) {
            return Map.of("type", "object", "additionalProperties", schema(arguments[1]));
        }
        if (type.isRecord() && type.getTypeParameters().length == 0) {
            return ofRecord(type);
        }
        throw none(
                type,
                "expected a record, an enum, a text, a number, a boolean, a date, a UUID, or arrays, lists, sets,"
                        + " optionals or maps from texts of them");
    }

    private Map<String, Object> ofRecord(Class<?> type) {
        String name = type.getTypeName();
        if (!begun.add(type)) {
            definitions.putIfAbsent(name, Map.of()); // until it is described whole
            return reference(name);
        }
        Map<String, Object> properties = new LinkedHashMap<>();
        RecordComponent[] components = type.getRecordComponents();
        Parameter[] parameters = parameters(type, components);
        for (int i = 0; i < components.length; i++) {
            RecordComponent component = components[i];
            // Kotlin annotates the parameter of the constructor only.
            AnnotatedElement where = component.isAnnotationPresent(Description.class) ? component : parameters[i];
            properties.put(component.getName(), described(component.getGenericType(), where));
        }
        Map<String, Object> object = new LinkedHashMap<>();
        Description description = type.getAnnotation(Description.class);
        if (description != null) {
            object.put("description", description.value());
        }
        object.putAll(object(properties));
        if (definitions.containsKey(name)) {
            definitions.put(name, object);
            return reference(name);
        }
        begun.remove(type);
        return object;
    }

    private static Parameter[] parameters(Class<?> type, RecordComponent[] components) {
        Class<?>[] types = Stream.of(components).map(RecordComponent::getType).toArray(Class[]::new);
        try {
            return type.getDeclaredConstructor(types).getParameters();
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e); // every record has it
        }
    }

    private static Map<String, Object> reference(String name) {
        return Map.of("$ref", "#/$defs/" + name);
    }

    private static IllegalArgumentException none(Type type, String why) {
        return new IllegalArgumentException("There is no JSON Schema of " + type.getTypeName() + ": " + why);
    }
}

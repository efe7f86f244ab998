package dev.tenon.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/// Types of Spark as JSON Schema, and JSON of it as rows.
final class JsonRows {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    /// Whole numbers, with their least and greatest.
    private static final Map<DataType, long[]> WHOLE = Map.of(
            DataTypes.ByteType, new long[] {Byte.MIN_VALUE, Byte.MAX_VALUE},
            DataTypes.ShortType, new long[] {Short.MIN_VALUE, Short.MAX_VALUE},
            DataTypes.IntegerType, new long[] {Integer.MIN_VALUE, Integer.MAX_VALUE},
            DataTypes.LongType, new long[] {Long.MIN_VALUE, Long.MAX_VALUE});

    private JsonRows() {}

    /// {@return the JSON Schema of a struct, all of whose fields are there}
    ///
    /// @throws IllegalArgumentException if a type in it has none
    static String schema(StructType struct) {
        return of(struct).toString();
    }

    private static ObjectNode of(DataType type) {
        ObjectNode node = MAPPER.createObjectNode();
        if (type instanceof StructType struct) {
            node.put("type", "object");
            ObjectNode properties = node.putObject("properties");
            for (StructField field : struct.fields()) {
                ObjectNode value = of(field.dataType());
                field.getComment().foreach(comment -> value.put("description", comment));
                properties.set(field.name(), value);
                node.withArray("required").add(field.name());
            }
            return node.put("additionalProperties", false);
        }
        if (type instanceof ArrayType array) {
            node.put("type", "array").set("items", of(array.elementType()));
            return node;
        }
        if (type instanceof MapType map && map.keyType().equals(DataTypes.StringType)) {
            node.put("type", "object").set("additionalProperties", of(map.valueType()));
            return node;
        }
        long[] bounds = WHOLE.get(type);
        if (bounds != null) {
            return node.put("type", "integer").put("minimum", bounds[0]).put("maximum", bounds[1]);
        }
        String name = Map.of(
                        DataTypes.StringType, "string",
                        DataTypes.BooleanType, "boolean",
                        DataTypes.FloatType, "number",
                        DataTypes.DoubleType, "number")
                .get(type);
        if (name == null) {
            throw new IllegalArgumentException("An answer cannot have the type " + type.sql() + "; expected STRING,"
                    + " BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, or ARRAY, MAP<STRING, …> and STRUCT of"
                    + " them");
        }
        return node.put("type", name);
    }

    /// {@return the row that a text is}
    ///
    /// @param json JSON of the struct's schema
    /// @param struct the struct
    /// @throws JsonProcessingException if it is no JSON
    static Row read(String json, StructType struct) throws JsonProcessingException {
        return (Row) value(MAPPER.readTree(json), struct);
    }

    private static Object value(JsonNode node, DataType type) {
        if (type instanceof StructType struct) {
            return RowFactory.create(IntStream.range(0, struct.length())
                    .mapToObj(i -> struct.fields()[i])
                    .map(field -> value(node.get(field.name()), field.dataType()))
                    .toArray());
        }
        if (type instanceof ArrayType array) {
            return StreamSupport.stream(node.spliterator(), false)
                    .map(each -> value(each, array.elementType()))
                    .toArray();
        }
        if (type instanceof MapType map) {
            Map<String, Object> values = new HashMap<>();
            node.properties().forEach(each -> values.put(each.getKey(), value(each.getValue(), map.valueType())));
            return values;
        }
        return switch (type.typeName()) {
            case "string" -> node.textValue();
            case "boolean" -> node.booleanValue();
            case "byte" -> (byte) node.intValue();
            case "short" -> node.shortValue();
            case "integer" -> node.intValue();
            case "long" -> node.longValue();
            case "float" -> node.floatValue();
            default -> node.doubleValue();
        };
    }
}

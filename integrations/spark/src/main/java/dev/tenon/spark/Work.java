package dev.tenon.spark;

import java.util.Locale;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/// What is made of a row.
public enum Work {
    /// Its text goes on, without the model's template: a text.
    COMPLETE("Continues a text."),
    /// Its message is answered by the model's template: a text, or a struct with a schema.
    CHAT("Answers a message."),
    /// Its text becomes a vector: an array of floats, of length 1.
    EMBED("Makes a vector of a text."),
    /// Its text is scored by how well it answers a query, with a reranker: a float, the higher the
    /// better.
    SCORE("Scores a document by how well it answers a query: (query, document).");

    private final String meaning;

    Work(String meaning) {
        this.meaning = meaning;
    }

    /// {@return what SQL calls it}
    String sqlName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// {@return what it does, in a sentence}
    String meaning() {
        return meaning;
    }

    /// {@return the type of the value}
    ///
    /// @param options whose schema counts
    DataType type(TenonOptions options) {
        return switch (this) {
            case COMPLETE -> DataTypes.StringType;
            case CHAT -> options.schema().<DataType>map(schema -> schema).orElse(DataTypes.StringType);
            case EMBED -> DataTypes.createArrayType(DataTypes.FloatType, false);
            case SCORE -> DataTypes.FloatType;
        };
    }
}

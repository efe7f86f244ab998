package dev.tenon.spark;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/// Adds columns with what a model makes of a column. The rows of a partition are answered together.
/// Lazy, as transformations of datasets are. For one thread.
///
/// ```java
/// Dataset<Row> stories = TenonTransform.complete().option("model", "story.gguf").apply(prompts);
/// ```
public final class TenonTransform {
    private final Work work;
    private final Map<String, String> options = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    private TenonTransform(Work work) {
        this.work = work;
    }

    /// {@return a transform that continues texts, without the model's template}
    public static TenonTransform complete() {
        return new TenonTransform(Work.COMPLETE);
    }

    /// {@return a transform that answers messages, by the model's template}
    public static TenonTransform chat() {
        return new TenonTransform(Work.CHAT);
    }

    /// {@return a transform that makes vectors of texts}
    public static TenonTransform embed() {
        return new TenonTransform(Work.EMBED);
    }

    /// {@return a transform that scores documents by how well they answer a query, with a reranker}
    public static TenonTransform score() {
        return new TenonTransform(Work.SCORE);
    }

    /// Sets an option, as `docs/spark.md` lists them.
    ///
    /// @param name its name, in upper or lower case
    /// @param value its value; its text counts
    /// @return this
    public TenonTransform option(String name, Object value) {
        options.put(name, value.toString());
        return this;
    }

    /// Sets several options.
    ///
    /// @param values values by name
    /// @return this
    public TenonTransform options(Map<String, String> values) {
        options.putAll(values);
        return this;
    }

    /// Adds the columns. No model is loaded before there is a task with a row.
    ///
    /// @param rows the rows
    /// @return the rows with the columns of `outputCol`, `errorCol` and, if it is set, `usageCol`;
    ///     where `inputCol` is null those are, too
    /// @throws IllegalArgumentException if an option is wrong, or a column is missing, there already,
    ///     or no text
    public Dataset<Row> apply(Dataset<Row> rows) {
        TenonOptions checked = new TenonOptions(options);
        StructType before = rows.schema();
        StructType after = add(before, checked, TenonOption.OUTPUT, work.type(checked));
        after = add(after, checked, TenonOption.ERROR, DataTypes.StringType);
        if (!checked.text(TenonOption.USAGE).isEmpty()) {
            after = add(
                    after,
                    checked,
                    TenonOption.USAGE,
                    StructType.fromDDL("inputTokens INT, cachedTokens INT, outputTokens INT, end STRING"));
        }
        boolean hasKey = !checked.text(TenonOption.KEY).isEmpty();
        PartitionRows answers = new PartitionRows(
                work,
                checked,
                TenonMetrics.of(rows.sparkSession()),
                text(before, checked, TenonOption.INPUT),
                work == Work.SCORE ? text(before, checked, TenonOption.QUERY) : -1,
                hasKey ? index(before, checked, TenonOption.KEY) : -1);
        return rows.mapPartitions(answers, Encoders.row(after));
    }

    private static StructType add(
            StructType to, TenonOptions options, TenonOption option, org.apache.spark.sql.types.DataType type) {
        String name = options.text(option);
        for (String column : to.fieldNames()) {
            if (column.equalsIgnoreCase(name)) {
                throw new IllegalArgumentException(
                        "There is a column " + column + " already. Set " + option.key() + " to another name");
            }
        }
        return to.add(name, type);
    }

    private static int text(StructType columns, TenonOptions options, TenonOption option) {
        int index = index(columns, options, option);
        if (!columns.fields()[index].dataType().equals(DataTypes.StringType)) {
            throw new IllegalArgumentException("The column " + options.text(option) + " is "
                    + columns.fields()[index].dataType().sql() + "; " + option.key() + " needs STRING");
        }
        return index;
    }

    private static int index(StructType columns, TenonOptions options, TenonOption option) {
        String name = options.text(option);
        for (int i = 0; i < columns.length(); i++) {
            if (columns.fieldNames()[i].equalsIgnoreCase(name)) {
                return i;
            }
        }
        throw new IllegalArgumentException("There is no column " + name + "; there are "
                + String.join(", ", columns.fieldNames()) + ". Set " + option.key());
    }
}

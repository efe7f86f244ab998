package dev.tenon.spark;

import dev.tenon.spark.RowEngine.Answer;
import java.util.Arrays;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Function1;

/// A function of SQL. It takes one row after the other, so that a task is one sequence.
final class TenonFunction implements UnboundFunction, ScalarFunction<Object> {
    private static final long serialVersionUID = 1L;

    private final String name;
    private final Work work;
    private final boolean tells;
    private final TenonOptions options;
    private final TenonMetrics metrics;

    private transient TaskAnswers answers;
    private transient TaskContext answersOf;
    private transient Function1<Object, Object> converter;

    /// @param name what it is called in messages
    /// @param work what it does
    /// @param tells whether its value is a struct with value and error, and not null at an error
    /// @param options how
    /// @param metrics counts
    TenonFunction(String name, Work work, boolean tells, TenonOptions options, TenonMetrics metrics) {
        this.name = name;
        this.work = work;
        this.tells = tells;
        this.options = options;
        this.metrics = metrics;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return work.meaning();
    }

    @Override
    public BoundFunction bind(StructType given) {
        if (given.length() != inputTypes().length) {
            throw new UnsupportedOperationException(
                    name + " takes " + inputTypes().length + " texts, found " + given.length() + " arguments");
        }
        return this;
    }

    @Override
    public DataType[] inputTypes() {
        DataType[] types = new DataType[work == Work.SCORE ? 2 : 1];
        Arrays.fill(types, DataTypes.StringType);
        return types;
    }

    @Override
    public DataType resultType() {
        DataType type = work.type(options);
        return tells ? new StructType().add("value", type).add("error", DataTypes.StringType) : type;
    }

    /// It is, but the optimizer would run it at the driver for constants, and twice for a filter.
    @Override
    public boolean isDeterministic() {
        return false;
    }

    @Override
    public String canonicalName() {
        return name + options;
    }

    @Override
    public Object produceResult(InternalRow input) {
        if (input.anyNull()) {
            return null;
        }
        TaskContext task = TaskContext.get();
        if (answers == null || answersOf != task) {
            answers = new TaskAnswers(task, work, options, metrics);
            answersOf = task;
            converter = CatalystTypeConverters.createToCatalystConverter(resultType());
        }
        int text = work == Work.SCORE ? 1 : 0;
        String query = work == Work.SCORE ? input.getString(0) : null;
        Answer answer = answers.await(answers.ask(input.getString(text), query, null));
        if (task == null) {
            answers.close();
            answers = null;
        }
        PartitionRows.Value value = PartitionRows.Value.of(answer, work, options);
        return converter.apply(tells ? RowFactory.create(value.value(), value.error()) : value.value());
    }
}

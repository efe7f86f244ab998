package dev.tenon.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.tenon.spark.RowEngine.Answer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.Future;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;

/// Answers the rows of a partition together, and gives them in their order.
///
/// @param work what is made of them
/// @param options how
/// @param metrics counts
/// @param input which column has the text
/// @param query which one has the query; -1 for none
/// @param key which one tells rows apart; -1 for none
record PartitionRows(Work work, TenonOptions options, TenonMetrics metrics, int input, int query, int key)
        implements MapPartitionsFunction<Row, Row> {
    /// How many rows are asked for ahead, for each that runs: a long answer at the front does not keep others waiting.
    private static final int AHEAD = 16;

    /// A row, and its answer; null where it has nothing to answer.
    private record Asked(Row row, Future<Answer> answer) {}

    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        return new Answered(rows);
    }

    private final class Answered implements Iterator<Row> {
        private final Iterator<Row> rows;
        private final Deque<Asked> asked = new ArrayDeque<>();
        private final int ahead = AHEAD * options.number(TenonOption.SEQUENCES);
        /// Made with the first row: a partition without rows needs no model.
        private TaskAnswers answers;

        Answered(Iterator<Row> rows) {
            this.rows = rows;
        }

        @Override
        public boolean hasNext() {
            while (asked.size() < ahead && rows.hasNext()) {
                Row row = rows.next();
                String query = query() < 0 ? null : row.getString(query());
                boolean has = !row.isNullAt(input()) && (query() < 0 || query != null);
                asked.add(new Asked(row, has ? ask(row, query) : null));
            }
            return !asked.isEmpty();
        }

        private Future<Answer> ask(Row row, String query) {
            if (answers == null) {
                answers = new TaskAnswers(TaskContext.get(), work, options, metrics);
            }
            return answers.ask(row.getString(input()), query, key() < 0 ? null : row.get(key()));
        }

        @Override
        public Row next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            Asked first = asked.poll();
            Answer answer = first.answer() == null ? null : answers.await(first.answer());
            boolean used = !options.text(TenonOption.USAGE).isEmpty();
            int before = first.row().size();
            Object[] values = Arrays.copyOf(columns(first.row()), before + (used ? 3 : 2));
            if (answer != null) {
                Value value = Value.of(answer, work, options);
                values[before] = value.value();
                values[before + 1] = value.error();
                if (used) {
                    values[before + 2] = RowFactory.create(
                            answer.inputTokens(), answer.cachedTokens(), answer.outputTokens(), answer.end());
                }
            }
            return RowFactory.create(values);
        }

        private static Object[] columns(Row row) {
            Object[] columns = new Object[row.size()];
            Arrays.setAll(columns, row::get);
            return columns;
        }
    }

    /// What columns get of an answer: one of them is null.
    ///
    /// @param value as rows of datasets have it
    /// @param error why there is none
    record Value(Object value, String error) {
        /// {@return the value of an answer, of the type that [Work#type] says}
        static Value of(Answer answer, Work work, TenonOptions options) {
            if (answer.error() == null && work.type(options) instanceof StructType struct) {
                try {
                    return new Value(JsonRows.read((String) answer.value(), struct), null);
                } catch (JsonProcessingException e) {
                    return new Value(null, "The answer is no JSON: " + e.getOriginalMessage());
                }
            }
            return new Value(answer.value(), answer.error());
        }
    }
}

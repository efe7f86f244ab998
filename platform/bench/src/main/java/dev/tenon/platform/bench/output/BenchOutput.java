package dev.tenon.platform.bench.output;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.tenon.platform.bench.measure.BenchProfile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.stream.Collectors;

/// Prints results as they come.
public interface BenchOutput {
    /// Prints what comes before the first result.
    ///
    /// @param out where to
    void begin(PrintWriter out);

    /// Prints a result.
    ///
    /// @param out where to
    /// @param result the result
    void result(PrintWriter out, BenchResult result);

    /// Prints what comes after the last result.
    ///
    /// @param out where to
    void end(PrintWriter out);

    /// Comma-separated values with a head line; every value in quotes, as llama-bench writes it.
    ///
    /// @param version version of the program
    record Csv(String version, boolean[] headWritten) implements BenchOutput {
        public Csv(String version) {
            this(version, new boolean[1]);
        }

        @Override
        public void begin(PrintWriter out) {}

        @Override
        public void result(PrintWriter out, BenchResult result) {
            Map<String, Object> fields = BenchFields.of(result, version);
            if (!headWritten[0]) {
                headWritten[0] = true;
                out.println(String.join(",", fields.keySet()));
            }
            out.println(fields.values().stream()
                    .map(v -> "\"" + text(v).replace("\"", "\"\"") + "\"")
                    .collect(Collectors.joining(",")));
        }

        @Override
        public void end(PrintWriter out) {}
    }

    /// {@return a field's value as text: empty for null, 1 and 0 for booleans}
    private static String text(Object value) {
        return switch (value) {
            case null -> "";
            case Boolean bool -> bool ? "1" : "0";
            default -> value.toString();
        };
    }

    /// SQL as llama-bench writes it: a table `llama_bench`, and an INSERT for each result. What was not
    /// measured is NULL.
    ///
    /// @param version version of the program
    /// @param headWritten whether the table's definition is out
    record Sql(String version, boolean[] headWritten) implements BenchOutput {
        public Sql(String version) {
            this(version, new boolean[1]);
        }

        @Override
        public void begin(PrintWriter out) {}

        @Override
        public void result(PrintWriter out, BenchResult result) {
            Map<String, Object> fields = BenchFields.of(result, version);
            if (!headWritten[0]) {
                headWritten[0] = true;
                out.println("CREATE TABLE IF NOT EXISTS llama_bench (");
                out.println(fields.entrySet().stream()
                        .map(field -> "  " + field.getKey() + " " + type(field.getKey(), field.getValue()))
                        .collect(Collectors.joining(",\n")));
                out.println(");");
                out.println();
            }
            out.println("INSERT INTO llama_bench (" + String.join(", ", fields.keySet()) + ") VALUES ("
                    + fields.values().stream()
                            .map(v -> v == null ? "NULL" : "'" + text(v).replace("'", "''") + "'")
                            .collect(Collectors.joining(", "))
                    + ");");
        }

        /// {@return a column's type; measurements that are missing in the first result are known by name}
        private static String type(String name, Object value) {
            return switch (value) {
                case null ->
                    switch (name) {
                        case "llama_bench_build" -> "TEXT";
                        case "llama_bench_flash_attn" -> "INTEGER";
                        default -> "REAL";
                    };
                case Double _ -> "REAL";
                case Number _, Boolean _ -> "INTEGER";
                default -> "TEXT";
            };
        }

        @Override
        public void end(PrintWriter out) {}
    }

    /// JSON: an array of objects, or one object a line.
    ///
    /// @param version version of the program
    /// @param lines one object a line, without the array around
    /// @param count number of objects written so far
    record JsonOutput(String version, boolean lines, int[] count) implements BenchOutput {
        public JsonOutput(String version, boolean lines) {
            this(version, lines, new int[1]);
        }

        @Override
        public void begin(PrintWriter out) {
            if (!lines) {
                out.println("[");
            }
        }

        @Override
        public void result(PrintWriter out, BenchResult result) {
            StringWriter text = new StringWriter();
            try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
                if (!lines) {
                    json.useDefaultPrettyPrinter();
                }
                json.writeStartObject();
                for (Map.Entry<String, Object> field :
                        BenchFields.of(result, version).entrySet()) {
                    json.writeFieldName(field.getKey());
                    switch (field.getValue()) {
                        case null -> json.writeNull();
                        case Boolean value -> json.writeBoolean(value);
                        case Double value -> json.writeNumber(value);
                        case Number value -> json.writeNumber(value.longValue());
                        case Object value -> json.writeString(value.toString());
                    }
                }
                json.writeFieldName("samples_ns");
                json.writeArray(result.times().repetitions(), 0, result.times().repetitions().length);
                double[] speeds = result.samplesPerSecond();
                json.writeFieldName("samples_ts");
                json.writeArray(speeds, 0, speeds.length);
                if (result.comparison() != null) {
                    double[] theirs = result.comparison().samplesPerSecond();
                    json.writeFieldName("llama_bench_samples_ts");
                    json.writeArray(theirs, 0, theirs.length);
                }
                if (result.profile() != null) {
                    profile(json, result.profile());
                }
                json.writeEndObject();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            if (!lines && count[0]++ > 0) {
                out.println(",");
            }
            if (lines) {
                out.println(text);
            } else {
                out.print(text);
            }
        }

        private static void profile(JsonGenerator json, BenchProfile profile) throws IOException {
            json.writeArrayFieldStart("profile");
            for (BenchProfile.Row row : profile.rows()) {
                json.writeStartObject();
                json.writeStringField("op", row.op());
                json.writeStringField("role", row.role());
                json.writeStringField("kernel", row.kernel());
                json.writeNumberField("count", row.count());
                json.writeNumberField("ns", row.nanos());
                json.writeNumberField("bytes", row.bytes());
                json.writeNumberField("share", profile.share(row));
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeNumberField("profile_between_kernels_ns", profile.betweenKernelsNanos());
            json.writeNumberField("profile_outside_plan_ns", profile.outsideNanos());
        }

        @Override
        public void end(PrintWriter out) {
            if (!lines) {
                out.println();
                out.println("]");
            }
        }
    }
}

package dev.tenon.platform.bench.output;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.bench.measure.BenchTest;
import dev.tenon.platform.cli.WorkFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// Runs the program llama-bench for one repetition of a test, and reads what it prints.
///
/// @param program the program, or its name on the search path
/// @param limitSeconds how long a run may take
public record LlamaBench(String program, long limitSeconds) {
    private static final int SHOWN = 400;
    private static final int SIGNAL = 128;

    /// What a run gave.
    ///
    /// @param tokensPerSecond its speed
    /// @param build commit and number of its build
    record Sample(double tokensPerSecond, String build) {}

    /// Checks that the program exists before anything is measured.
    ///
    /// @throws TenonException (`IO-001`) if there is none; a name without a folder is left to the
    ///     search path
    public void check() {
        Path file = Path.of(program);
        if (file.getNameCount() == 1 && !file.isAbsolute()) {
            return;
        }
        if (!Files.exists(file)) {
            throw notRun("there is no such file", null);
        }
        if (Files.isDirectory(file)) {
            throw notRun("it is a folder", null);
        }
        if (!Files.isExecutable(file)) {
            throw notRun("it may not be executed", null);
        }
    }

    private TenonException notRun(String why, Throwable cause) {
        return new TenonException(
                ErrorCode.IO,
                "--llama-bench: " + program + " cannot be run: " + why
                        + ". Give the path of llama.cpp's program llama-bench",
                cause);
    }

    /// Runs a test once, after llama-bench's own warm-up.
    ///
    /// @param config model, threads, batch and cache as for our own run
    /// @param test what to run; one sequence
    /// @param cpu whether our own run is on the CPU
    /// @param flashAttention its setting
    /// @return the speed
    /// @throws TenonException (`IO-001`) if it does not start, (`CLI-001`) if it fails or prints
    ///     something else than its documented JSON
    public Sample run(BenchConfig config, BenchTest test, boolean cpu, boolean flashAttention) {
        List<String> command = command(config, test, cpu, flashAttention);
        Path out = null;
        Path err = null;
        try {
            out = Files.createTempFile(WorkFolder.path(), "tenon-llama-bench", ".json");
            err = Files.createTempFile(WorkFolder.path(), "tenon-llama-bench", ".log");
            int status = await(command, out, err);
            if (status != 0) {
                throw failed(ending(status) + ": " + end(err), command);
            }
            return parse(out, test, command);
        } catch (IOException e) {
            String why = (e.getCause() == null ? e : e.getCause()).getMessage();
            throw notRun(why == null ? e.toString() : why.strip(), e);
        } finally {
            delete(out);
            delete(err);
        }
    }

    /// {@return how it ended; a signal is 128 and its number, as in the shell and the JVM}
    private static String ending(int status) {
        return status > SIGNAL && status < 2 * SIGNAL
                ? "was killed by signal " + (status - SIGNAL)
                : "ended with status " + status;
    }

    /// {@return the command line}
    public List<String> command(BenchConfig config, BenchTest test, boolean cpu, boolean flashAttention) {
        List<String> c = new ArrayList<>(List.of(program, "-m", config.model().toString()));
        if (test.nPrompt() > 0 && test.nGen() > 0) {
            c.addAll(List.of("-p", "0", "-n", "0", "-pg", test.nPrompt() + "," + test.nGen()));
        } else {
            c.addAll(List.of("-p", Integer.toString(test.nPrompt()), "-n", Integer.toString(test.nGen())));
        }
        if (test.nDepth() > 0) {
            c.addAll(List.of("-d", Integer.toString(test.nDepth())));
        }
        c.addAll(List.of("-t", Integer.toString(BenchFields.threads(config)), "-r", "1"));
        c.addAll(List.of("-b", Integer.toString(config.nBatch()), "-ub", Integer.toString(config.nUbatch())));
        if (config.typeK() != KvType.F16) {
            c.addAll(List.of("-ctk", config.typeK().name().toLowerCase(Locale.ROOT)));
        }
        if (config.typeV() != KvType.F16) {
            c.addAll(List.of("-ctv", config.typeV().name().toLowerCase(Locale.ROOT)));
        }
        if (cpu) {
            c.addAll(List.of("-ngl", "0"));
        }
        c.addAll(List.of("-fa", flashAttention ? "1" : "0", "-o", "json"));
        return c;
    }

    private int await(List<String> command, Path out, Path err) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.PIPE)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            process.getOutputStream().close();
            if (!process.waitFor(limitSeconds, TimeUnit.SECONDS)) {
                throw failed("took longer than " + limitSeconds + " s and was ended", command);
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("was interrupted", command);
        } finally {
            process.destroyForcibly();
        }
    }

    private Sample parse(Path out, BenchTest test, List<String> command) throws IOException {
        try (JsonParser json = new JsonFactory().createParser(out.toFile())) {
            if (json.nextToken() == JsonToken.START_ARRAY) {
                while (json.nextToken() == JsonToken.START_OBJECT) {
                    Entry entry = Entry.read(json);
                    if (entry.nPrompt == test.nPrompt()
                            && entry.nGen == test.nGen()
                            && entry.nDepth == test.nDepth()
                            && entry.averagePerSecond > 0) {
                        return new Sample(entry.averagePerSecond, entry.commit + " (" + entry.number + ")");
                    }
                }
            }
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw failed("printed no JSON (" + e.getOriginalMessage() + "): " + end(out), command);
        }
        throw failed("printed no result of " + test.name() + ": " + end(out), command);
    }

    /// The fields of a result that are of use here.
    private static final class Entry {
        private int nPrompt = -1;
        private int nGen = -1;
        private int nDepth;
        private double averagePerSecond;
        private String commit = "unknown";
        private long number;

        /// Reads an object whose start was read.
        static Entry read(JsonParser json) throws IOException {
            Entry entry = new Entry();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                json.nextToken();
                switch (name) {
                    case "n_prompt" -> entry.nPrompt = json.getValueAsInt(-1);
                    case "n_gen" -> entry.nGen = json.getValueAsInt(-1);
                    case "n_depth" -> entry.nDepth = json.getValueAsInt(0);
                    case "avg_ts" -> entry.averagePerSecond = json.getValueAsDouble(0);
                    case "build_commit" -> entry.commit = json.getValueAsString("unknown");
                    case "build_number" -> entry.number = json.getValueAsLong(0);
                    default -> json.skipChildren();
                }
            }
            return entry;
        }
    }

    private TenonException failed(String what, List<String> command) {
        return new TenonException(
                ErrorCode.USAGE,
                "--llama-bench: " + program + " " + what + ". Run it alone to see more: " + String.join(" ", command));
    }

    private static String end(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        String text = new String(bytes, StandardCharsets.UTF_8).strip();
        if (text.isEmpty()) {
            return "(nothing)";
        }
        return text.length() > SHOWN ? "... " + text.substring(text.length() - SHOWN) : text;
    }

    private static void delete(Path file) {
        if (file != null && !file.toFile().delete()) {
            file.toFile().deleteOnExit();
        }
    }
}

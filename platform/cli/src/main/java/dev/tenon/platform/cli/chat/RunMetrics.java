package dev.tenon.platform.cli.chat;

import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Usage;
import dev.tenon.platform.cli.text.Json;
import dev.tenon.platform.core.files.OutputFile;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;

/// Counts and times of one run, for people and as one JSON line.
final class RunMetrics {
    private RunMetrics() {}

    /// {@return one line about speed, for people}
    ///
    /// @param usage what was counted
    /// @param loaded what ran
    static String summary(Usage usage, LoadedModel loaded) {
        return String.format(
                Locale.ROOT,
                "%d tokens, %.1f tok/s%s; prompt %d tokens, %.1f tok/s; first token %.0f ms; load %.0f ms; %s",
                usage.generatedTokens(),
                usage.decodeTokensPerSecond(),
                usage.draftedTokens() == 0
                        ? ""
                        : " (" + usage.acceptedTokens() + " of " + usage.draftedTokens() + " proposed)",
                usage.promptTokens(),
                usage.prefillTokensPerSecond(),
                usage.prefillNanos() / 1e6,
                loaded.loadNanos() / 1e6,
                loaded.backend());
    }

    /// {@return the line}
    ///
    /// @param model what ran
    /// @param usage what was counted
    /// @param seed start of the random numbers
    /// @param firstToken when the first token came, or null when none did
    static String line(LoadedModel model, Usage usage, long seed, Instant firstToken) {
        return Json.line(json -> {
            json.writeStartObject();
            json.writeStringField("model", model.file().path().toString());
            json.writeStringField("name", model.config().name());
            json.writeStringField("architecture", model.config().architecture());
            json.writeStringField("backend", model.backend());
            json.writeStringField("device", model.device().name());
            json.writeNumberField("context_length", model.contextLength());
            json.writeNumberField("seed", seed);
            json.writeNumberField("prompt_tokens", usage.promptTokens());
            json.writeNumberField("cached_tokens", usage.cachedTokens());
            json.writeNumberField("generated_tokens", usage.generatedTokens());
            json.writeNumberField("drafted_tokens", usage.draftedTokens());
            json.writeNumberField("accepted_tokens", usage.acceptedTokens());
            json.writeStringField("finish", usage.finish().name().toLowerCase(Locale.ROOT));
            json.writeNumberField("load_ms", millis(model.loadNanos()));
            json.writeNumberField("ttft_ms", millis(usage.prefillNanos()));
            json.writeNumberField("prefill_ms", millis(usage.prefillNanos()));
            json.writeNumberField("decode_ms", millis(usage.decodeNanos()));
            json.writeNumberField("prefill_tokens_per_second", round(usage.prefillTokensPerSecond()));
            json.writeNumberField("decode_tokens_per_second", round(usage.decodeTokensPerSecond()));
            if (firstToken != null) {
                // Not ProcessHandle's start: on Linux it has the precision of seconds.
                long started = ManagementFactory.getRuntimeMXBean().getStartTime();
                json.writeNumberField("jvm_start_to_first_token_ms", firstToken.toEpochMilli() - started);
            }
            json.writeNumberField("weight_bytes_per_token", model.report().weightBytesPerToken());
            json.writeNumberField(
                    "memory_allocated_bytes", model.report().memory().allocatedBytes());
            json.writeNumberField("memory_bound_bytes", model.report().memory().boundBytes());
            json.writeEndObject();
        });
    }

    /// Writes the line to its target.
    ///
    /// @param where a file, or `-` for standard error
    /// @param line the line
    /// @param err standard error
    /// @param inputs files that the command reads
    static void write(String where, String line, PrintWriter err, Path... inputs) {
        if (where.equals("-")) {
            err.println(line);
            err.flush();
            return;
        }
        OutputFile.write(Path.of(where), true, line + "\n", inputs);
    }

    private static double millis(long nanos) {
        return round(nanos / 1e6);
    }

    private static double round(double value) {
        return Math.round(value * 1000) / 1000.0;
    }
}

package dev.tenon.platform.core.engine;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// The platform's settings: from the environment (`TENON_*`), else from configuration, else
/// defaults. A request's own values go before all of them.
///
/// @param backend backend id or `auto`
/// @param device device id, or empty for the first
/// @param threads CPU threads, 0 for the machine's number
/// @param contextLength cap on the context when a request does not ask for one; 0 for none
/// @param batchTokens most tokens in a step
/// @param keyType element type of cached keys
/// @param valueType element type of cached values
/// @param moveTimeoutMillis how long a step waits for a replacement when a bundle in use is
///     withdrawn
/// @param preferences `prefer.*` settings without the prefix
/// @param backendSettings all settings, handed to the backend
public record EngineConfig(
        String backend,
        String device,
        int threads,
        int contextLength,
        int batchTokens,
        KvType keyType,
        KvType valueType,
        long moveTimeoutMillis,
        Map<String, String> preferences,
        Map<String, String> backendSettings) {
    /// The configuration's persistent id: `etc/dev.tenon.platform.cfg`.
    public static final String PID = "dev.tenon.platform";

    private static final int DEFAULT_CONTEXT = 4096;
    private static final int DEFAULT_BATCH = 512;
    private static final long DEFAULT_MOVE_MILLIS = 3000;

    /// Reads the settings.
    ///
    /// @param properties configuration, keys such as `context.length`; other keys are handed to
    ///     backends
    /// @param environment environment variables, such as `TENON_CONTEXT_LENGTH`
    /// @return the settings
    /// @throws TenonException (`CFG-001`) if a number is none
    public static EngineConfig of(Map<String, ?> properties, Map<String, String> environment) {
        Map<String, String> all = new HashMap<>();
        properties.forEach((key, value) -> all.put(key, String.valueOf(value)));
        environment.forEach((key, value) -> {
            if (key.startsWith("TENON_") && !value.isBlank()) {
                all.put(key.substring(6).toLowerCase(Locale.ROOT).replace('_', '.'), value);
            }
        });
        for (String knob : new String[] {"MV_THREADS_PER_ROW", "MV_BLOCKSIZE", "MV_ROWS_PER_THREAD"}) {
            if (environment.containsKey(knob)) {
                String name = knob.equals("MV_BLOCKSIZE")
                        ? "mv.block-size"
                        : knob.toLowerCase(Locale.ROOT).replaceFirst("_", ".").replace('_', '-');
                all.put(name, environment.get(knob));
            }
        }
        String warmup = all.getOrDefault("warmup", "on").trim().toLowerCase(Locale.ROOT);
        if (!warmup.equals("on") && !warmup.equals("off")) {
            throw new TenonException(
                    ErrorCode.CONFIG,
                    "Setting warmup is '" + all.get("warmup") + "'; expected on or off. See etc/" + PID + ".cfg");
        }
        all.put("warmup", warmup);
        Map<String, String> preferences = new HashMap<>();
        all.forEach((key, value) -> {
            if (key.startsWith("prefer.")) {
                preferences.put(key.substring(7), value);
            }
        });
        return new EngineConfig(
                all.getOrDefault("backend", "auto").trim(),
                all.getOrDefault("device", "").trim(),
                number(all, "threads", 0),
                number(all, "context.length", DEFAULT_CONTEXT),
                number(all, "batch.tokens", DEFAULT_BATCH),
                kvType(all, "cache.type.k"),
                kvType(all, "cache.type.v"),
                number(all, "move.timeout.ms", (int) DEFAULT_MOVE_MILLIS),
                Map.copyOf(preferences),
                Map.copyOf(all));
    }

    private static KvType kvType(Map<String, String> all, String key) {
        String text = all.getOrDefault(key, "f16").trim();
        for (KvType type : KvType.values()) {
            if (type.name().equalsIgnoreCase(text)) {
                return type;
            }
        }
        throw new TenonException(
                ErrorCode.CONFIG,
                "Setting " + key + " is '" + text + "'; expected f32, f16 or q8_0. See etc/" + PID + ".cfg");
    }

    private static int number(Map<String, String> all, String key, int fallback) {
        String text = all.get(key);
        if (text == null || text.isBlank()) {
            return fallback;
        }
        try {
            int value = Integer.parseInt(text.trim());
            if (value < 0) {
                throw new NumberFormatException("negative");
            }
            return value;
        } catch (NumberFormatException e) {
            throw new TenonException(
                    ErrorCode.CONFIG,
                    "Setting " + key + " is '" + text + "'; expected a whole number, 0 or more. See etc/" + PID
                            + ".cfg",
                    e);
        }
    }
}

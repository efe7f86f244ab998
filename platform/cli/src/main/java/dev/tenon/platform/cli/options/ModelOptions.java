package dev.tenon.platform.cli.options;

import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.cli.Console;
import dev.tenon.platform.cli.Range;
import dev.tenon.platform.core.control.UserFolders;
import dev.tenon.platform.core.gguf.CompanionFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/// Options that say which model to load and where to put it; named as in llama.cpp.
public final class ModelOptions {
    /// Description of `--lora`.
    public static final String LORA =
            "LoRA adapter, a GGUF file, and the factor on what it adds (default: 1); may be repeated.";

    /// Description of `--mmproj`.
    public static final String COMPANION =
            "Encoder of pictures and sounds of the model (mmproj), a GGUF file; auto: the one beside the model; none";

    private static final String AUTO = "auto";
    private static final String NONE = "none";

    @Option(
            names = {"-m", "--model"},
            paramLabel = "FILE",
            description = "Model: a GGUF file, a pulled model's name, owner/repo[:quant], or ID:MODEL of a registry"
                    + " (default: the configured one).")
    private String model;

    @Option(
            names = {"-c", "--ctx-size"},
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Context length in tokens; 0: the configured one, else the model's (default: ${DEFAULT-VALUE}).")
    @Range(max = Integer.MAX_VALUE)
    private int contextLength;

    @Option(
            names = {"-b", "--batch-size"},
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Maximum prompt tokens per step; 0: the configured number, else 512 (default: ${DEFAULT-VALUE}).")
    @Range(max = 1 << 20)
    private int batchTokens;

    @Option(
            names = {"-t", "--threads"},
            paramLabel = "N",
            defaultValue = "0",
            description = "CPU threads; 0: the configured number, else one per core (default: ${DEFAULT-VALUE}).")
    @Range(max = Range.MOST_THREADS)
    private int threads;

    @Option(
            names = "--backend",
            paramLabel = "ID",
            defaultValue = "",
            description = "Backend, such as cpu-vector, or auto (default: the configured one). See 'tenon devices'.")
    private String backend;

    @Option(
            names = "--device",
            paramLabel = "ID",
            defaultValue = "",
            description = "Device of the backend (default: the first).")
    private String device;

    @Option(
            names = {"-ctk", "--cache-type-k"},
            paramLabel = "TYPE",
            description = "Type of cached keys: ${COMPLETION-CANDIDATES} (default: the configured one, else F16).")
    private KvType keyType;

    @Option(
            names = {"-ctv", "--cache-type-v"},
            paramLabel = "TYPE",
            description = "Type of cached values: ${COMPLETION-CANDIDATES} (default: the configured one, else F16).")
    private KvType valueType;

    @Option(names = "--check-tensors", description = "Check all weights for NaN and infinity first.")
    private boolean checkTensors;

    @Option(names = "--no-fuse", description = "Run each operation as its own kernel, to find a wrong one.")
    private boolean noFuse;

    @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description = "Setting for the backend, such as mv.block-size=256; may be repeated.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(names = "--lora", paramLabel = "FILE[=SCALE]", mapFallbackValue = "1", description = LORA)
    private Map<Path, Float> adapters = new LinkedHashMap<>();

    @Option(
            names = "--mmproj",
            paramLabel = "FILE",
            description = COMPANION + " (default: the configured one, else auto with pictures or sounds, else none).")
    private String companion;

    /// {@return the model's name as it was given, or null}
    public String name() {
        return model;
    }

    /// {@return the request to load the model}
    ///
    /// @param console finds the model's file
    public LoadRequest request(Console console) {
        return request(console, model);
    }

    /// {@return the request to load a model that was not named by an option}
    ///
    /// @param console finds the model's file
    /// @param name what the user calls it; null for the configured one
    public LoadRequest request(Console console, String name) {
        LoadRequest.Builder request = LoadRequest.builder(console.model(name))
                .backend(backend)
                .device(device)
                .threads(threads)
                .contextLength(contextLength)
                .maxSequences(1)
                .maxBatchTokens(batchTokens)
                .keyType(keyType)
                .valueType(valueType)
                .fuse(!noFuse)
                .checkData(checkTensors)
                .settings(settings);
        addAdapters(adapters, request);
        return withCompanion(request.build(), companion == null ? NONE : companion);
    }

    /// {@return the request to load a model that is to see or hear}
    ///
    /// @param console finds the model's file, and knows the configured encoder
    /// @param name what the user calls it; null for the configured one
    /// @param needed whether there are pictures or sounds
    /// @throws TenonException (`CLI-001`) if an encoder is needed and none is found
    public LoadRequest request(Console console, String name, boolean needed) {
        LoadRequest request = request(console, name);
        if (companion == null) {
            request = withCompanion(request, console.setting("mmproj").orElse(needed ? AUTO : NONE));
        }
        if (needed && request.companion().isEmpty() && Files.exists(request.path())) {
            throw new TenonException(
                    ErrorCode.USAGE,
                    request.path() + " is to take pictures or sounds, and no encoder of them is given"
                            + (NONE.equals(companion) ? "" : " or lies beside it") + ". Name its file by --mmproj.");
        }
        return request;
    }

    /// {@return whether a name of an encoder is no file, but `auto` or `none`}
    ///
    /// @param companion the name
    public static boolean isRule(String companion) {
        return companion.equals(AUTO) || companion.equals(NONE);
    }

    /// {@return a request with the encoder of pictures and sounds that a user means}
    ///
    /// @param request a request
    /// @param companion a file, `auto` for the one beside the model, if there is one, or `none`
    public static LoadRequest withCompanion(LoadRequest request, String companion) {
        Path file = switch (companion) {
            case AUTO -> CompanionFile.beside(request.path()).orElse(null);
            case NONE -> null;
            default -> UserFolders.path(companion);
        };
        return request.toBuilder().companion(file).build();
    }

    /// Adds adapters to a request, each named after its file.
    ///
    /// @param adapters the factor on what each file adds
    /// @param request what they are added to
    /// @throws TenonException (`CLI-001`) if a factor is no finite number
    public static void addAdapters(Map<Path, Float> adapters, LoadRequest.Builder request) {
        adapters.forEach((file, scale) -> {
            if (!Float.isFinite(scale)) {
                throw new TenonException(
                        ErrorCode.USAGE, "--lora " + file + "=" + scale + ": a finite number is expected.");
            }
            request.adapter(file.toString(), file, scale);
        });
    }
}

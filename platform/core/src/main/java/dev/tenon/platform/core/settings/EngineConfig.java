package dev.tenon.platform.core.settings;

import dev.tenon.api.config.Setting;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.error.ErrorCode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.control.EncoderArchitecture.PictureWishes;
import dev.tenon.platform.core.control.SettingValue;
import dev.tenon.platform.core.control.UserFolders;
import dev.tenon.platform.core.tuned.TunedFolder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The engine's settings. The strongest first: a request's own values, the environment (`TENON_*`),
/// the configuration, defaults ([SettingValue#find]). The settings of backends are looked up by
/// what they declare.
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
/// @param file the configuration by name, the environment's `TENON_*` variables over it
/// @param environment environment variables
/// @param problem which value is not allowed, or an empty text
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
        Map<String, String> file,
        Map<String, String> environment,
        String problem) {
    /// The configuration's persistent id: `etc/dev.tenon.platform.cfg`.
    public static final String PID = "dev.tenon.platform";

    private static final String FILE = "etc/" + PID + ".cfg";
    /// Who reads the engine's own settings.
    static final String OWNER = "platform";
    private static final String PREFER = "prefer.";
    private static final List<String> KV_TYPES = List.of("f32", "f16", "q8_0");

    private static final Setting BACKEND = Setting.text(
            "backend", "auto", "The backend that computes: its id, or auto for the best one that can run the model.");
    private static final Setting DEVICE =
            Setting.text("device", "", "The backend's device, as `tenon doctor` lists them; the first if empty.");
    private static final Setting THREADS =
            Setting.integer("threads", 0, 0, 1024, "Threads that compute on the CPU; 0: one for each core.");
    private static final Setting CONTEXT = Setting.integer(
            "context.length",
            4096,
            0,
            Integer.MAX_VALUE,
            "Length of the context in tokens where a request names none; 0: what the model was trained for.");
    private static final Setting BATCH =
            Setting.integer("batch.tokens", 512, 0, Integer.MAX_VALUE, "Maximum number of tokens in one step.");
    private static final Setting KEYS =
            Setting.choice("cache.type.k", "f16", KV_TYPES, "How keys of the context are kept.");
    private static final Setting VALUES =
            Setting.choice("cache.type.v", "f16", KV_TYPES, "How values of the context are kept.");
    private static final Setting MOVE = Setting.integer(
            "move.timeout.ms",
            3000,
            0,
            Integer.MAX_VALUE,
            "Milliseconds that a generation waits for a replacement of a bundle that is withdrawn.");
    private static final Setting PREFILL_BUDGET = Setting.integer(
            "prefill.budget.ms",
            50,
            0,
            60_000,
            "Milliseconds that a step with prompts may take while others wait for their next tokens; eight times"
                    + " that where none waits and others may come; 0: no limit.");
    private static final Setting PREFIX_CACHE = Setting.choice(
            "prefix.cache",
            "on",
            List.of("on", "off"),
            "Whether prompts that begin like an earlier one of the same group run only what is new.");
    private static final int LEAST_STATES = 4;
    private static final int MOST_STATES = 64;
    private static final Setting STATES = Setting.integer(
            "prefix.states.mb",
            512,
            0,
            Integer.MAX_VALUE,
            "MiB of the device's memory for states of prompts, where a model has states: prompts that begin alike go on"
                    + " from one. At least four states, unless it is 0. Windows (cache.windows) count as states.");
    private static final Setting HOST_STATES = Setting.integer(
            "prefix.states.host.mb",
            1024,
            0,
            Integer.MAX_VALUE,
            "MiB of host memory for states of prompts that the device has no more room for.");
    private static final Setting DISK_STATES = Setting.integer(
            "prefix.states.disk.mb",
            0,
            0,
            Integer.MAX_VALUE,
            "MiB on disk for states of prompts that the host has no more room for; they go with the model. One is read"
                    + " where running the tokens again would take longer.");
    private static final Setting KEEP = Setting.integer(
            "prefix.keep.mb",
            0,
            0,
            Integer.MAX_VALUE,
            "MiB on disk for what was computed of the latest prompts when a model is unloaded, so that they go on from it"
                    + " when it is loaded again, also after a restart.");
    private static final Setting PREFIX_FOLDER = Setting.path(
            "prefix.folder", "", "Where what was computed of prompts is on disk; ~/.cache/tenon/prefixes if empty.");
    private static final Setting ENCODED = Setting.integer(
            "media.cache.mb",
            256,
            0,
            Integer.MAX_VALUE,
            "MiB of host memory for what encoders made of the last pictures and sounds.");
    private static final Setting LEAST_TOKENS = Setting.integer(
            "image.min.tokens",
            0,
            0,
            Integer.MAX_VALUE,
            "Least tokens of a picture, where its size decides how many it has: a smaller one is enlarged; 0: as few as"
                    + " the model was trained with. More may show small things.");
    private static final Setting MOST_TOKENS = Setting.integer(
            "image.max.tokens",
            0,
            0,
            Integer.MAX_VALUE,
            "Most tokens of a picture, where its size decides how many it has, at least 64; 0: as many as the model was"
                    + " trained with. Fewer take less time and memory, and show less.");
    private static final Setting FIT = Setting.choice(
            "image.fit",
            "encoder",
            List.of("encoder", "stretch"),
            "How a picture fills the size that its encoder takes: encoder, as the encoder says, which for most keeps"
                    + " proportions and fills the rest with one colour, as llama.cpp does; stretch, without keeping"
                    + " proportions, as the processors do that most models were trained with.");
    /// Of fewer, the least that encoders make of a small picture may be more.
    private static final int LEAST_IMAGE_TOKENS = 64;
    private static final Setting WINDOWS = Setting.choice(
            "cache.windows",
            "on",
            List.of("on", "off"),
            "Whether layers that see a window only keep keys and values of their window, where the backend can. Prompts"
                    + " go on after an earlier one where its window is still there (prefix.states.mb).");
    private static final Setting INVARIANT = Setting.flag(
            "batch.invariant",
            false,
            "Logits of a sequence have the same bits alone, beside any others and in pieces of any size. On CPUs they always"
                    + " have; on GPUs it costs speed. A backend that cannot do it is refused.");
    private static final Setting SPECULATE = Setting.text(
            "speculate",
            "off",
            "What proposes tokens that a step then checks, several at once: off, nothing; ngram, what followed the same"
                    + " tokens before; draft, the model of draft.model; head, the model's own head for further tokens,"
                    + " if its file has one; ID or ID=ARGUMENT, what a bundle offers under this name. Texts stay what"
                    + " they are.");
    private static final Setting DRAFT_MODEL = Setting.text(
            "draft.model", "", "GGUF file of a smaller model with the same vocabulary, for speculate = draft.");
    private static final Setting UNUSED = Setting.choice(
            "unused.tensors",
            "refuse",
            List.of("refuse", "allow"),
            "Whether a model is loaded although its architecture leaves tensors of the file unused.");

    /// Whether tuned settings are used.
    public static final Setting TUNED =
            Setting.flag("tuned", true, "Whether a model runs with what `tenon tune` found for it on this device.");
    private static final Setting TUNED_FOLDER =
            Setting.path("tuned.folder", "", "Where `tenon tune` keeps what it found; ~/.cache/tenon/tuned if empty.");

    /// The settings of the engine itself; besides, `prefer.backend.ID`, `prefer.architecture.ID`
    /// and `prefer.format.ID` name a class or a bundle where two bundles offer the same id.
    static final List<Setting> SETTINGS = List.of(
            BACKEND,
            DEVICE,
            THREADS,
            CONTEXT,
            BATCH,
            KEYS,
            VALUES,
            MOVE,
            PREFILL_BUDGET,
            PREFIX_CACHE,
            STATES,
            HOST_STATES,
            DISK_STATES,
            KEEP,
            PREFIX_FOLDER,
            WINDOWS,
            INVARIANT,
            ENCODED,
            LEAST_TOKENS,
            MOST_TOKENS,
            FIT,
            SPECULATE,
            DRAFT_MODEL,
            UNUSED,
            TUNED,
            TUNED_FOLDER);
    /// Those among them that the settings of a request may give; for others it has fields.
    static final List<Setting> OF_REQUESTS = List.of(
            PREFILL_BUDGET,
            PREFIX_CACHE,
            STATES,
            HOST_STATES,
            DISK_STATES,
            WINDOWS,
            INVARIANT,
            ENCODED,
            LEAST_TOKENS,
            MOST_TOKENS,
            FIT,
            KEEP,
            SPECULATE,
            DRAFT_MODEL,
            UNUSED,
            TUNED);

    /// Reads the settings.
    ///
    /// @param properties configuration, keys such as `context.length`; other keys are handed to
    ///     backends
    /// @param environment environment variables, such as `TENON_CONTEXT_LENGTH`
    /// @return the settings, with the default in place of each value that is not allowed; see
    ///     [#checked()]
    public static EngineConfig of(Map<String, ?> properties, Map<String, String> environment) {
        Map<String, String> all = new HashMap<>();
        properties.forEach((key, value) -> all.put(key, String.valueOf(value)));
        environment.forEach((key, value) -> {
            if (key.startsWith("TENON_") && !value.isBlank()) {
                all.put(key.substring(6).toLowerCase(Locale.ROOT).replace('_', '.'), value);
            }
        });
        Map<String, String> preferences = new HashMap<>();
        all.forEach((key, value) -> {
            if (key.startsWith(PREFER)) {
                preferences.put(key.substring(PREFER.length()), value);
            }
        });
        Map<Setting, String> values = new HashMap<>();
        String problem = "";
        for (Setting setting : SETTINGS) {
            SettingValue found = SettingValue.find(OWNER, setting, Map.of(), environment, properties, FILE);
            problem = problem.isEmpty() ? found.problem() : problem;
            values.put(setting, found.problem().isEmpty() ? found.value() : setting.defaultValue());
        }
        return new EngineConfig(
                values.get(BACKEND),
                values.get(DEVICE),
                Integer.parseInt(values.get(THREADS)),
                Integer.parseInt(values.get(CONTEXT)),
                Integer.parseInt(values.get(BATCH)),
                KvType.valueOf(values.get(KEYS).toUpperCase(Locale.ROOT)),
                KvType.valueOf(values.get(VALUES).toUpperCase(Locale.ROOT)),
                Long.parseLong(values.get(MOVE)),
                Map.copyOf(preferences),
                Map.copyOf(all),
                environment,
                problem);
    }

    /// {@return these settings with what a request names in their place}
    ///
    /// @param request the request; its context length is not a cap as the one of the settings is,
    ///     and stays there
    public EngineConfig with(LoadRequest request) {
        return new EngineConfig(
                request.backend().isEmpty() ? backend : request.backend(),
                request.device().isEmpty() ? device : request.device(),
                request.threads() > 0 ? request.threads() : threads,
                contextLength,
                request.maxBatchTokens() > 0 ? request.maxBatchTokens() : batchTokens,
                request.keyType().orElse(keyType),
                request.valueType().orElse(valueType),
                moveTimeoutMillis,
                preferences,
                file,
                environment,
                problem);
    }

    /// {@return these settings, if all values are allowed}
    ///
    /// @throws TenonException (`CFG-001`) if one is not
    public EngineConfig checked() {
        if (!problem.isEmpty()) {
            throw new TenonException(ErrorCode.CONFIG, problem);
        }
        return this;
    }

    /// {@return the values that a backend is handed: of its settings those that are not empty,
    /// checked; of others what stands in request, configuration and environment}
    ///
    /// @param declared the backend's settings
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if a value is not allowed
    public Map<String, String> backendSettings(List<Setting> declared, Map<String, String> request) {
        Map<String, String> values = new HashMap<>(file);
        values.putAll(request);
        for (Setting setting : declared) {
            String value = find(OWNER, setting, request).checked();
            if (!value.isEmpty()) {
                values.put(setting.name(), value);
            }
        }
        return values;
    }

    /// {@return whether a model may leave tensors of its file unused}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public boolean allowsUnusedTensors(Map<String, String> request) {
        return find(OWNER, UNUSED, request).checked().equals("allow");
    }

    /// {@return milliseconds that a step with prompts may take while others wait; 0 without limit}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public int prefillBudgetMillis(Map<String, String> request) {
        return Integer.parseInt(find(OWNER, PREFILL_BUDGET, request).checked());
    }

    /// {@return whether sequences share pages of the same tokens}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public boolean prefixCache(Map<String, String> request) {
        return find(OWNER, PREFIX_CACHE, request).checked().equals("on");
    }

    /// {@return how many states of prompts a device keeps beside those of sequences}
    ///
    /// @param bytes of one
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public int prefixStates(long bytes, Map<String, String> request) {
        long budget = mebibytes(STATES, request);
        return budget == 0 || bytes == 0 || !prefixCache(request)
                ? 0
                : (int) Math.clamp(budget / bytes, LEAST_STATES, MOST_STATES);
    }

    /// {@return whether layers with a window keep only that}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public boolean windows(Map<String, String> request) {
        return find(OWNER, WINDOWS, request).checked().equals("on");
    }

    /// {@return whether bits of a sequence's logits must not depend on the batch}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public boolean batchInvariant(Map<String, String> request) {
        return find(OWNER, INVARIANT, request).checked().equals("on");
    }

    /// {@return bytes of host memory for states of prompts}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public long hostStateBytes(Map<String, String> request) {
        return mebibytes(HOST_STATES, request);
    }

    /// {@return bytes on disk for states of prompts}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public long diskStateBytes(Map<String, String> request) {
        return mebibytes(DISK_STATES, request);
    }

    /// {@return bytes on disk for pages and states of prompts while a model is not loaded}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public long keptPrefixBytes(Map<String, String> request) {
        return mebibytes(KEEP, request);
    }

    /// {@return bytes of host memory for what encoders made of pictures and sounds}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public long encodedBytes(Map<String, String> request) {
        return mebibytes(ENCODED, request);
    }

    /// {@return what is wanted of pictures}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if a value is not allowed
    public PictureWishes pictures(Map<String, String> request) {
        int most = Integer.parseInt(find(OWNER, MOST_TOKENS, request).checked());
        return new PictureWishes(
                Integer.parseInt(find(OWNER, LEAST_TOKENS, request).checked()),
                most == 0 ? 0 : Math.max(LEAST_IMAGE_TOKENS, most),
                find(OWNER, FIT, request).checked().equals("stretch"));
    }

    /// {@return where what was computed of prompts is on disk}
    ///
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public Path prefixFolder() {
        String folder = find(OWNER, PREFIX_FOLDER, Map.of()).checked();
        return folder.isEmpty() ? UserFolders.cache(environment).resolve("prefixes") : Path.of(folder);
    }

    private long mebibytes(Setting setting, Map<String, String> request) {
        return Long.parseLong(find(OWNER, setting, request).checked()) << 20;
    }

    /// {@return whether a model runs with what was tuned for it}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public boolean usesTuned(Map<String, String> request) {
        return find(OWNER, TUNED, request).checked().equals("on");
    }

    /// {@return where tuned settings are kept}
    ///
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public TunedFolder tunedFolder() {
        return TunedFolder.of(find(OWNER, TUNED_FOLDER, Map.of()).checked(), environment);
    }

    /// {@return what proposes tokens: off, ngram, draft, head, or the name of what a bundle offers}
    ///
    /// @param request values by name that override all others
    /// @throws TenonException (`CFG-001`) if the value is not allowed
    public String speculation(Map<String, String> request) {
        return find(OWNER, SPECULATE, request).checked();
    }

    /// {@return a request that keeps to what proposes tokens now, whatever is set later}
    public LoadRequest withSpeculation(LoadRequest request) {
        Map<String, String> settings = new HashMap<>(request.settings());
        settings.put(SPECULATE.name(), speculation(settings));
        return request.toBuilder().settings(settings).build();
    }

    /// {@return the file of the model that proposes tokens; may be empty}
    ///
    /// @param request values by name that override all others
    public String draftModel(Map<String, String> request) {
        return find(OWNER, DRAFT_MODEL, request).checked();
    }

    /// {@return the value of a setting}
    ///
    /// @param owner who reads it
    /// @param setting what was declared
    /// @param request values by name that override all others
    public SettingValue find(String owner, Setting setting, Map<String, String> request) {
        return SettingValue.find(owner, setting, request, environment, file, FILE);
    }
}

package dev.tenon.platform.serve;

import dev.tenon.api.config.Setting;
import dev.tenon.platform.cli.SettingsSource;
import dev.tenon.platform.core.control.SettingValue;
import java.util.List;
import java.util.Map;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;

/// The settings of `serve`, for `tenon config` and the command.
@Component(service = SettingsSource.class, configurationPid = ServeSettings.PID)
public final class ServeSettings implements SettingsSource {
    static final String PID = "dev.tenon.platform.server";

    static final Setting HOST = Setting.text("serve.host", "127.0.0.1", "The address that `serve` listens at.");
    static final Setting PORT =
            Setting.integer("serve.port", 8080, 0, 65_535, "The port that `serve` listens on; 0: a free one.");
    static final Setting KEYS =
            Setting.path("serve.api-key-file", "", "A file with the keys of clients, one a line; empty: no keys.");
    static final Setting NO_KEY =
            Setting.flag("serve.no-key", false, "Allows an address that others reach without keys.");
    static final Setting HOSTS = Setting.text(
            "serve.allowed-hosts", "", "Further names by which clients may call the server, separated by commas.");
    static final Setting ORIGINS = Setting.text(
            "serve.cors-origins", "", "Origins whose pages may ask the server, separated by commas; empty: none.");
    static final Setting MODELS = Setting.text(
            "serve.models",
            "",
            "Models that are always loaded, as [NAME=]FILE, separated by semicolons; empty: the configured one.");
    static final Setting MODELS_DIR =
            Setting.path("serve.models-dir", "", "A folder of GGUF files that are loaded when they are asked for.");
    static final Setting MMPROJ = Setting.text(
            "serve.mmproj",
            "none",
            "The encoder of pictures and sounds of the model, if there is one model; auto: for each model the one"
                    + " beside it, if there is one; none.");
    static final Setting MEMORY = Setting.integer(
            "serve.models-memory",
            0,
            0,
            Long.MAX_VALUE >> 20,
            "MiB of memory that loaded models take at most; 0: no limit.");
    static final Setting MANAGE = Setting.choice(
            "serve.manage",
            "auto",
            List.of("auto", "on", "off"),
            "Whether requests may load, unload, pull, create, copy and delete models; auto: at loopback, or with keys.");
    static final Setting KEEP_ALIVE = Setting.integer(
            "serve.keep-alive",
            300,
            -1,
            Integer.MAX_VALUE,
            "Seconds that a model loaded on demand stays loaded after its last request; -1: for ever.");
    static final Setting PARALLEL =
            Setting.integer("serve.parallel", 4, 1, 4096, "Sequences of a model that generate at the same time.");
    static final Setting CONTEXT = Setting.integer(
            "serve.context", 0, 0, Integer.MAX_VALUE, "Context length of a sequence; 0: the configured one.");
    static final Setting QUEUE =
            Setting.integer("serve.queue", 256, 0, 1_000_000, "Requests of a model that may wait.");
    static final Setting EMBEDDINGS = Setting.flag(
            "serve.embeddings", false, "Lets models that generate also embed texts, where the backend can.");
    static final Setting BODY =
            Setting.integer("serve.max-body", 16_384, 1, 1 << 20, "Largest body of a request in KiB.");
    static final Setting MEDIA = Setting.integer(
            "serve.max-media",
            49_152,
            0,
            (1 << 20) - 1,
            "KiB by which pictures and sounds in base64 may make a body larger.");
    static final Setting CONNECTIONS = Setting.integer(
            "serve.max-connections", 1024, 0, 1_000_000, "Open connections from one address; 0: any number.");
    static final Setting DRAIN = Setting.integer(
            "serve.drain-timeout", 30, 0, 86_400, "Seconds that running requests have to end at SIGTERM.");
    static final Setting DRAIN_DELAY = Setting.integer(
            "serve.drain-delay",
            0,
            0,
            3600,
            "Seconds after SIGTERM in which the server is not ready but still takes work.");
    static final Setting TLS =
            Setting.path("serve.tls-key-store", "", "A key store (.p12, .jks) for TLS; empty: none.");
    static final Setting TLS_PASSWORD = Setting.text("serve.tls-password", "", "The key store's password.");
    static final Setting METRICS =
            Setting.text("serve.metrics-prefix", "tenon:", "What names of metrics begin with, such as vllm:.");

    static final Setting OPEN_METRICS =
            Setting.flag("serve.metrics-no-key", false, "Lets /metrics be read without a key.");

    static final Setting REASONING_BUDGET = Setting.integer(
            "serve.reasoning-budget",
            -1,
            -1,
            Integer.MAX_VALUE,
            "Most tokens of the reasoning of a reply where a request says nothing; 0: none, -1: no limit.");
    static final Setting REASONING_MESSAGE = Setting.text(
            "serve.reasoning-budget-message", "", "What stands at the end of reasoning that a budget ends.");
    static final Setting EFFORTS = Setting.text(
            "serve.reasoning-efforts",
            "none=0,minimal=512,low=1024,medium=8192,high=-1",
            "Budgets by values of reasoning_effort, for models whose template does not read it; -1: no limit.");
    static final Setting CALLER_HEADER = Setting.flag(
            "serve.drop-caller-header",
            true,
            "Leaves a first line of the system message out in which a client tells about itself, such as"
                    + " x-anthropic-billing-header: it changes with each request, and keeps the rest from the cache.");

    static final Setting SLOTS = Setting.path(
            "serve.slot-save-path",
            "",
            "A folder in which POST /slots keeps what was computed of prompts; empty: it does not.");

    static final Setting MEDIA_URLS = Setting.text(
            "serve.media-urls",
            "",
            "Hosts whose pictures and sounds requests may name by URL, separated by commas: names, *.NAME for all below"
                    + " it, addresses, which alone may be private; with :PORT for other ports. Empty: none.");
    static final Setting MEDIA_FOLDER = Setting.path(
            "serve.media-folder",
            "",
            "A folder whose pictures and sounds requests may name as file:NAME; empty: none.");

    private static final List<Setting> ALL = List.of(
            HOST,
            PORT,
            KEYS,
            NO_KEY,
            HOSTS,
            ORIGINS,
            MODELS,
            MODELS_DIR,
            MMPROJ,
            MEMORY,
            MANAGE,
            KEEP_ALIVE,
            PARALLEL,
            CONTEXT,
            QUEUE,
            EMBEDDINGS,
            REASONING_BUDGET,
            REASONING_MESSAGE,
            EFFORTS,
            CALLER_HEADER,
            SLOTS,
            BODY,
            MEDIA,
            MEDIA_URLS,
            MEDIA_FOLDER,
            CONNECTIONS,
            DRAIN,
            DRAIN_DELAY,
            TLS,
            TLS_PASSWORD,
            METRICS,
            OPEN_METRICS);

    private final Map<String, Object> file;

    /// Created by the component runtime.
    ///
    /// @param file the configuration
    @Activate
    public ServeSettings(Map<String, Object> file) {
        this.file = Map.copyOf(file);
    }

    /// {@return the value of a setting}
    ///
    /// @param setting which
    /// @param options values of the command line, by the name of the setting
    /// @param file values of the configuration
    static SettingValue value(Setting setting, Map<String, String> options, Map<String, ?> file) {
        return SettingValue.find("server", setting, options, System.getenv(), file, "etc/" + PID + ".cfg");
    }

    @Override
    public List<SettingValue> settings() {
        return ALL.stream().map(setting -> value(setting, Map.of(), file)).toList();
    }
}

package dev.tenon.platform.server;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.http.EndpointProvider;
import dev.tenon.platform.core.control.BundleControl;
import dev.tenon.platform.server.auth.ApiKeys;
import dev.tenon.platform.server.http.HttpLimits;
import dev.tenon.platform.server.media.MediaUrls;
import dev.tenon.platform.server.models.ChatDefaults;
import dev.tenon.platform.server.models.ModelLimits;
import dev.tenon.platform.server.models.ModelSpec;
import dev.tenon.platform.server.models.ModelStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/// Builds servers. Not safe for several threads.
public final class ServerBuilder {
    private static final int PORT = 8080;
    private static final int PARALLEL = 4;
    private static final int QUEUE = 256;
    private static final Duration KEEP_ALIVE = Duration.ofMinutes(5);
    private static final Duration ENDPOINT_END = Duration.ofSeconds(30);

    final Engine engine;
    final List<ModelSpec> pinned = new ArrayList<>();
    ModelStore store = List::of;
    Boolean manage;
    String host = "127.0.0.1";
    int port = PORT;
    boolean open;
    ApiKeys keys = ApiKeys.none();
    List<String> hosts = List.of();
    List<String> origins = List.of();
    HttpLimits limits = HttpLimits.defaults();
    Path keyStore;
    String keyStorePassword;
    String metricsPrefix = "tenon:";
    boolean openMetrics;
    Supplier<BundleControl> bundles = () -> null;
    final List<EndpointProvider> endpoints = new ArrayList<>();
    Duration endpointEnd = ENDPOINT_END;
    HandOver before;
    ChatDefaults chatDefaults = ChatDefaults.STANDARD;
    Path slotFolder;
    MediaUrls media = MediaUrls.NONE;
    private int parallel = PARALLEL;
    private int context;
    private int queue = QUEUE;
    private long memoryBytes;
    private Duration keepAlive = KEEP_ALIVE;
    private boolean embeddings;

    ServerBuilder(Engine engine) {
        this.engine = Objects.requireNonNull(engine, "engine");
    }

    ModelLimits modelLimits() {
        return new ModelLimits(parallel, context, queue, memoryBytes, keepAlive, embeddings);
    }

    /// Adds a model that is loaded at the start and stays loaded. The first one answers requests that name none.
    ///
    /// @param name what requests call it
    /// @param request how it is loaded
    /// @return this
    public ServerBuilder model(String name, LoadRequest request) {
        return model(ModelSpec.of(name, request));
    }

    /// Adds a model that is loaded at the start and stays loaded.
    ///
    /// @param spec names and defaults
    /// @return this
    public ServerBuilder model(ModelSpec spec) {
        pinned.add(spec);
        return this;
    }

    /// Sets where further models are found, which are loaded when they are asked for.
    ///
    /// @param source asked at each look; must be quick
    /// @return this
    public ServerBuilder models(Supplier<List<ModelSpec>> source) {
        return store(source::get);
    }

    /// Sets where further models are found, which are loaded when they are asked for, and may be changed by requests.
    ///
    /// @param models has them
    /// @return this
    public ServerBuilder store(ModelStore models) {
        store = models;
        return this;
    }

    /// Sets whether requests may load, unload, pull, create, copy and delete models; by default where the server
    /// listens at loopback, or has keys.
    ///
    /// @param allowed whether
    /// @return this
    public ServerBuilder manage(boolean allowed) {
        manage = allowed;
        return this;
    }

    /// Sets the address to listen at; 127.0.0.1 by default. Any but loopback needs keys.
    ///
    /// @param name host name or address
    /// @return this
    public ServerBuilder host(String name) {
        host = name;
        return this;
    }

    /// Sets the port; 8080 by default.
    ///
    /// @param number the port; 0 takes a free one
    /// @return this
    public ServerBuilder port(int number) {
        port = number;
        return this;
    }

    /// Allows an address that others reach without keys; false by default.
    ///
    /// @param allowed whether
    /// @return this
    public ServerBuilder withoutKey(boolean allowed) {
        open = allowed;
        return this;
    }

    /// Sets the keys of clients; none by default.
    ///
    /// @param allowed the keys
    /// @return this
    public ServerBuilder keys(ApiKeys allowed) {
        keys = allowed;
        return this;
    }

    /// Sets by which further names clients may call the server; on loopback it answers to no others.
    ///
    /// @param names host names without port
    /// @return this
    public ServerBuilder hosts(Collection<String> names) {
        hosts = List.copyOf(names);
        return this;
    }

    /// Sets which pages of other origins may ask (CORS); none by default.
    ///
    /// @param exact origins as browsers send them, such as `https://example.org`
    /// @return this
    public ServerBuilder origins(Collection<String> exact) {
        origins = List.copyOf(exact);
        return this;
    }

    /// Sets what one client may take.
    ///
    /// @param values the limits
    /// @return this
    public ServerBuilder limits(HttpLimits values) {
        limits = values;
        return this;
    }

    /// Sets the key store for TLS; without one the server speaks plain HTTP.
    ///
    /// @param store a PKCS 12 or JKS file, or null
    /// @param password its password
    /// @return this
    public ServerBuilder tls(Path store, String password) {
        keyStore = store;
        keyStorePassword = password;
        return this;
    }

    /// Sets what names of metrics begin with; `tenon:` by default.
    ///
    /// @param prefix such as `vllm:`, for dashboards that know those names
    /// @return this
    public ServerBuilder metricsPrefix(String prefix) {
        metricsPrefix = prefix;
        return this;
    }

    /// Lets `/metrics` be read without a key.
    ///
    /// @param open whether it may be
    /// @return this
    public ServerBuilder metricsWithoutKey(boolean open) {
        openMetrics = open;
        return this;
    }

    /// Sets who manages the bundles that the page shows; nobody by default.
    ///
    /// @param control asked at each request; null while there is none
    /// @return this
    public ServerBuilder bundles(Supplier<BundleControl> control) {
        bundles = control;
        return this;
    }

    /// Sets how many sequences of a model generate at the same time; 4 by default.
    ///
    /// @param sequences how many
    /// @return this
    public ServerBuilder parallel(int sequences) {
        parallel = sequences;
        return this;
    }

    /// Sets the positions of a sequence; by default what each model's request says.
    ///
    /// @param positions how many; 0 for the default
    /// @return this
    public ServerBuilder context(int positions) {
        context = positions;
        return this;
    }

    /// Sets how many requests of a model may wait; 256 by default.
    ///
    /// @param requests how many
    /// @return this
    public ServerBuilder queue(int requests) {
        queue = requests;
        return this;
    }

    /// Sets how much memory loaded models may take, with weights, KV cache and work memory; no limit by default.
    ///
    /// @param bytes how much; 0 for no limit
    /// @return this
    public ServerBuilder modelMemory(long bytes) {
        memoryBytes = bytes;
        return this;
    }

    /// Sets how long a model that was loaded on demand stays loaded; 5 minutes by default.
    ///
    /// @param time after its last request; a negative one for ever
    /// @return this
    public ServerBuilder keepAlive(Duration time) {
        keepAlive = time;
        return this;
    }

    /// Sets whether models that generate also embed; false by default. The backend has to support named outputs.
    ///
    /// @param too whether
    /// @return this
    public ServerBuilder embeddings(boolean too) {
        embeddings = too;
        return this;
    }

    /// Adds end points and filters, besides those of providers that are installed in the engine.
    ///
    /// @param provider stays as long as the server
    /// @return this
    public ServerBuilder endpoints(EndpointProvider provider) {
        endpoints.add(provider);
        return this;
    }

    /// Sets how long requests may go on with end points whose bundle is replaced or removed; 30 seconds by default.
    ///
    /// @param limit what runs then is interrupted
    /// @return this
    public ServerBuilder endpointEnd(Duration limit) {
        endpointEnd = limit;
        return this;
    }

    /// Sets what holds where conversations say nothing: how long models think, what leaves system messages;
    /// [ChatDefaults#STANDARD] by default.
    ///
    /// @param defaults what
    /// @return this
    public ServerBuilder chatDefaults(ChatDefaults defaults) {
        chatDefaults = defaults;
        return this;
    }

    /// Sets where `/slots` keeps what was computed; it does not by default.
    ///
    /// @param folder a folder that is there, or null
    /// @return this
    public ServerBuilder slotFolder(Path folder) {
        slotFolder = folder;
        return this;
    }

    /// Sets which pictures and sounds requests may name by URL, instead of sending them; none by default.
    ///
    /// @param hosts hosts for http and https: names, `*.` and a name for all below it, or addresses,
    ///     which alone may be private ones; each with its port, unless that is the one of the scheme
    /// @param folder for `file:`; null for none
    /// @return this
    /// @throws dev.tenon.api.error.TenonException (`CFG-001`) if a host is none
    public ServerBuilder mediaUrls(List<String> hosts, Path folder) {
        media = new MediaUrls(hosts, folder);
        return this;
    }

    /// Has the server take the place of another one: it takes over what that one left, and accepts connections once its
    /// models are loaded. With another address than that one's it listens on a channel of its own.
    ///
    /// @param left what [TenonServer#handOver()] returned, or null; [#start()] closes its models if it fails
    /// @return this
    public ServerBuilder takeOver(HandOver left) {
        before = left;
        return this;
    }

    /// Starts the server, and loads its models.
    ///
    /// @return the server; the caller closes it
    /// @throws dev.tenon.api.error.TenonException if the address cannot be taken, or a model cannot be loaded
    public TenonServer start() {
        return TenonServer.start(this);
    }
}

package dev.tenon.platform.server.models;

import dev.tenon.api.error.TenonException;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.core.gguf.TensorTypes;
import dev.tenon.platform.server.http.Exchange;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Changes which models there are, and which of them are loaded, where that is allowed. Safe for any thread.
public final class ModelManager {
    private static final int FORBIDDEN = 403;
    private static final int CONFLICT = 409;

    private final ModelHost host;
    private final ModelStore store;
    private final Pulls pulls;
    private final boolean allowed;

    /// @param host has the models
    /// @param store keeps models
    /// @param allowed whether requests may change anything
    public ModelManager(ModelHost host, ModelStore store, boolean allowed) {
        this.host = host;
        this.store = store;
        this.pulls = new Pulls(store);
        this.allowed = allowed;
    }

    /// {@return whether requests may change models}
    public boolean allowed() {
        return allowed;
    }

    private void requireAllowed() {
        if (!allowed) {
            throw RequestException.of(
                    FORBIDDEN,
                    "permission_error",
                    "management_off",
                    "Requests may not change models here. Start the server with serve.manage=on.");
        }
    }

    /// {@return the formats that files may have, those of bundles included}
    public TensorTypes types() {
        return host.types();
    }

    /// {@return the chat template of a file: what its architecture gives, or else its own}
    ///
    /// @param metadata the file's
    public Optional<String> chatTemplate(GgufMetadata metadata) {
        return host.chatTemplate(metadata);
    }

    /// {@return the models, after a look at the store}
    public List<ServedModel> list() {
        return host.list();
    }

    /// {@return a model}
    ///
    /// @param name what a request calls it
    /// @throws RequestException (404) if there is none
    public ServedModel require(String name) {
        return host.find(name)
                .orElseThrow(() -> RequestException.notFound(
                        "model_not_found", "model '" + Exchange.printable(name) + "' not found"));
    }

    /// Loads a model.
    ///
    /// @param name the model
    /// @param keepAlive how long it stays loaded; null for its own value
    /// @throws InterruptedException if the thread is interrupted
    public void load(String name, Duration keepAlive) throws InterruptedException {
        requireAllowed();
        ServedModel model = require(name);
        keepAlive(model, keepAlive);
        model.lease().close();
    }

    /// Sets how long a model stays loaded, as a request asks; where requests may change nothing, it changes nothing.
    ///
    /// @param model the model
    /// @param time how long; null leaves it as it is
    public void keepAlive(ServedModel model, Duration time) {
        if (time != null && allowed) {
            model.keepAlive(time);
        }
    }

    /// Sets which adapters requests use that choose none.
    ///
    /// @param model the model
    /// @param scales of the adapters, by name
    public void adapters(ServedModel model, Map<String, Float> scales) {
        requireAllowed();
        model.adapters(scales);
    }

    /// Unloads a model, at once or with the end of its last request.
    ///
    /// @param name the model
    /// @return whether it is not loaded any more
    public boolean unload(String name) {
        requireAllowed();
        return require(name).unload();
    }

    /// Downloads a model, or listens to the download that runs. Blocks.
    ///
    /// @param source repository and quantisation
    /// @param progress hears how far it is
    /// @throws TenonException if it cannot be had
    /// @throws InterruptedException if the thread is interrupted
    public void pull(String source, ModelStore.PullProgress progress) throws InterruptedException {
        requireAllowed();
        requireName(source);
        pulls.pull(source, progress);
        host.look();
    }

    /// Keeps a model under a name.
    ///
    /// @param name the name
    /// @param from whose file and sampling it has
    /// @param preset what holds for its requests
    public void keep(String name, ModelSpec from, Preset preset) {
        requireAllowed();
        requireName(name);
        String plain =
                name.endsWith(ModelHost.LATEST) ? name.substring(0, name.length() - ModelHost.LATEST.length()) : name;
        host.look();
        if (host.find(plain).filter(ServedModel::pinned).isPresent()) {
            throw RequestException.invalid(
                    "model", "'" + name + "' is a model that the server was started with. Choose another name.");
        }
        store.keep(plain, from, preset);
        host.look();
    }

    /// Deletes a model.
    ///
    /// @param name the model
    public void delete(String name) {
        requireAllowed();
        ServedModel model = require(name);
        if (model.pinned()) {
            throw RequestException.invalid(
                    "model", "'" + model.spec().name() + "' is a model that the server was started with; it stays.");
        }
        if (!model.unload()) {
            throw RequestException.of(
                    CONFLICT,
                    "conflict_error",
                    "model_in_use",
                    "'" + model.spec().name()
                            + "' answers requests; it is unloaded with the last one. Delete it then.");
        }
        List<Path> used = host.list().stream()
                .filter(ServedModel::pinned)
                .map(each -> each.spec().request().path())
                .toList();
        store.delete(model.spec().name(), used);
        host.look();
    }

    private static void requireName(String name) {
        if (!ModelSpec.isName(name)) {
            throw RequestException.invalid(
                    "model",
                    "'" + Exchange.printable(name) + "' is no name of a model; expected letters, digits and . _ : / @"
                            + " + -");
        }
    }
}

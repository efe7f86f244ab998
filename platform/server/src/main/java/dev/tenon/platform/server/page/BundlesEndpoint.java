package dev.tenon.platform.server.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.error.TenonException;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.core.control.BundleControl;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelCatalog;
import dev.tenon.platform.server.models.ServedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// `POST /tenon/bundles/…`: `why` explains how a model was placed, `install` takes a jar as its body and installs or
/// updates a bundle, `remove` removes one. `GET /tenon/bundles/changes/ID` tells how far one of the last two is.
///
/// A change has a thread of its own: the server may be what it replaces, and ends with its last request. A request
/// waits for a change some seconds, and is then told its id, with status 202.
public final class BundlesEndpoint implements Endpoint {
    private static final Logger LOG = LoggerFactory.getLogger(BundlesEndpoint.class);
    private static final int ACCEPTED = 202;
    private static final int CONFLICT = 409;
    private static final int MOST_CHANGES = 32;
    private static final long WAIT_SECONDS = 2;
    private static final String JAR = "application/java-archive";

    private final Management management;
    private final ModelCatalog catalog;
    /// The last changes by their ids, the oldest first. Guards itself.
    private final Map<String, Future<String>> changes = new LinkedHashMap<>();

    /// @param management who may change bundles
    /// @param catalog the models
    public BundlesEndpoint(Management management, ModelCatalog catalog) {
        this.management = management;
        this.catalog = catalog;
    }

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        switch (exchange.rest()) {
            case "why" -> why(exchange);
            case "install" -> install(exchange);
            case "remove" -> remove(exchange);
            default ->
                throw RequestException.notFound(
                        "not_found", "There is no " + Exchange.printable(exchange.rest()) + " of bundles.");
        }
    }

    private void why(Exchange exchange) {
        String name = text(exchange.body(), "model");
        ServedModel model = catalog.find(name)
                .orElseThrow(() -> RequestException.notFound(
                        "model_not_found", "There is no model " + Exchange.printable(name) + "."));
        exchange.json(parsed(run("why", model.spec().request().path().toString())));
    }

    private void remove(Exchange exchange) throws InterruptedException {
        String name = text(exchange.body(), "name");
        management.requireAllowed(exchange);
        change(exchange, () -> run("remove", name));
    }

    private void install(Exchange exchange) throws InterruptedException {
        management.requireAllowed(exchange);
        management.requireBundles();
        Path file = stored(exchange.body(JAR));
        change(exchange, () -> {
            try {
                return run("install", file.toString());
            } finally {
                delete(file);
            }
        });
    }

    /// {@return a copy that its owner alone may read and write}
    private static Path stored(byte[] jar) {
        try {
            Path file = Files.createTempFile("tenon-upload-", ".jar");
            return Files.write(file, jar);
        } catch (IOException e) {
            throw new IllegalStateException("an uploaded bundle cannot be stored", e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.warn("{} is left behind", file, e);
        }
    }

    private void change(Exchange exchange, Supplier<String> work) throws InterruptedException {
        String id = UUID.randomUUID().toString();
        Future<String> change = CompletableFuture.supplyAsync(
                work, task -> Thread.ofVirtual().name("tenon-bundles").start(task));
        synchronized (changes) {
            changes.put(id, change);
            if (changes.size() > MOST_CHANGES) {
                changes.remove(changes.keySet().iterator().next());
            }
        }
        answer(exchange, id, change);
    }

    /// Tells how far a change is.
    ///
    /// @param exchange a request whose path ends in its id
    /// @throws InterruptedException if the thread is interrupted
    public void follow(Exchange exchange) throws InterruptedException {
        String id = exchange.rest();
        Future<String> change;
        synchronized (changes) {
            change = changes.get(id);
        }
        if (change == null) {
            throw RequestException.notFound("not_found", "There is no such change, or another server took over.");
        }
        answer(exchange, id, change);
    }

    private static void answer(Exchange exchange, String id, Future<String> change) throws InterruptedException {
        try {
            exchange.json(Json.object().put("done", change.get(WAIT_SECONDS, TimeUnit.SECONDS)));
        } catch (TimeoutException e) {
            exchange.json(ACCEPTED, Json.object().put("change", id));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RequestException refusal
                    ? refusal
                    : new IllegalStateException("a change of bundles failed", e.getCause());
        }
    }

    private String run(String command, String argument) {
        BundleControl bundles = management.requireBundles();
        try {
            return bundles.run(command, argument);
        } catch (TenonException e) {
            throw RequestException.of(
                            CONFLICT,
                            "bundle_error",
                            e.code(),
                            command.equals("install") ? e.getMessage().replace(argument, "The file") : e.getMessage())
                    .because(e);
        }
    }

    /// {@return the tree of what the manager of bundles wrote}
    static JsonNode parsed(String json) {
        JsonNode tree = Json.parse(json);
        if (tree == null) {
            throw new IllegalStateException("the manager of bundles gave no JSON");
        }
        return tree;
    }

    private static String text(ObjectNode body, String field) {
        JsonNode value = body.get(field);
        if (value == null || !value.isTextual() || body.size() > 1) {
            throw RequestException.invalid(field, "The body has to be an object with the text '" + field + "' alone.");
        }
        return value.asText();
    }
}

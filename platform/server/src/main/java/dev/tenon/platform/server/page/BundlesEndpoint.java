package dev.tenon.platform.server.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.error.TenonException;
import dev.tenon.platform.core.control.BundleControl;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.http.Json;
import dev.tenon.platform.server.http.RequestException;
import dev.tenon.platform.server.models.ModelCatalog;
import dev.tenon.platform.server.models.ServedModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// `POST /tenon/bundles/…`: `why` explains how a model was placed, `install` takes a jar as its body and installs or
/// updates a bundle, `remove` removes one.
///
/// @param management who may change bundles
/// @param catalog the models
public record BundlesEndpoint(Management management, ModelCatalog catalog) implements Endpoint {
    private static final int CONFLICT = 409;
    private static final String JAR = "application/java-archive";

    @Override
    public void handle(Exchange exchange) {
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

    private void remove(Exchange exchange) {
        ObjectNode body = exchange.body();
        management.requireAllowed(exchange);
        exchange.mayTakeLong();
        done(exchange, run("remove", text(body, "name")));
    }

    private void install(Exchange exchange) {
        management.requireAllowed(exchange);
        byte[] jar = exchange.body(JAR);
        exchange.mayTakeLong();
        String done;
        try {
            Path file = Files.createTempFile("tenon-upload-", ".jar"); // its owner alone may read and write it
            try {
                Files.write(file, jar);
                done = run("install", file.toString());
            } finally {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        done(exchange, done);
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

    private static void done(Exchange exchange, String text) {
        exchange.json(Json.object().put("done", text));
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

package dev.tenon.platform.server.page;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.device.Backend;
import dev.tenon.api.device.DeviceInfo;
import dev.tenon.api.device.Probe;
import dev.tenon.api.engine.Engine;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.core.control.Origins;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.provided.ProvidedRoutes;

/// `GET /tenon/platform`: backends, devices, end points and bundles. Takes longer than the status, since devices are
/// looked at.
///
/// @param engine knows the backends
/// @param management knows the bundles
/// @param provided knows the end points of providers
public record PlatformEndpoint(Engine engine, Management management, ProvidedRoutes provided) implements Endpoint {
    @Override
    public void handle(Exchange exchange) {
        ObjectNode body = Json.object();
        ArrayNode backends = body.putArray("backends");
        engine.backends().forEach(backend -> backends.add(backend(backend)));
        ArrayNode architectures = body.putArray("architectures");
        engine.architectures().forEach(each -> architectures.add(each.id()));
        ArrayNode formats = body.putArray("formats");
        engine.formats().forEach(each -> formats.add(each.id()));
        ArrayNode endpoints = body.putArray("endpoints");
        provided.providers().forEach(each -> endpoints.add(Json.tree(each)));
        management.bundles().ifPresent(control -> body.set("bundles", BundlesEndpoint.parsed(control.run("list", ""))));
        exchange.json(body);
    }

    private static ObjectNode backend(Backend backend) {
        Probe probe = backend.probe();
        ObjectNode node = Json.object()
                .put("id", backend.id())
                .put("rank", backend.rank())
                .put("bundle", Origins.of(backend))
                .put("available", probe.available())
                .put("reason", probe.reason());
        ArrayNode devices = node.putArray("devices");
        if (probe.available()) {
            for (DeviceInfo info : backend.devices()) {
                ObjectNode device = devices.addObject()
                        .put("id", info.id())
                        .put("name", info.name())
                        .put("kind", info.kind())
                        .put("memory_bytes", info.memoryBytes());
                ObjectNode details = device.putObject("details");
                info.details().forEach(details::put);
            }
        }
        return node;
    }
}

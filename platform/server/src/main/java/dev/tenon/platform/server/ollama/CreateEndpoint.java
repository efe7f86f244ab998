package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.http.EventStream;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.Preset;
import dev.tenon.platform.server.models.ServedModel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// `POST /api/create`: a name for the file of another model, with a system message, parameters and turns of its own.
/// What it says goes over what the other model's preset says.
///
/// @param manager keeps it
public record CreateEndpoint(ModelManager manager) implements OllamaEndpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of(
            "model name from system parameters(as options) template(the model's) messages license stream",
            "",
            Map.of(
                    "modelfile", "Send from, system, parameters and messages as fields.",
                    "path", "Send from, system, parameters and messages as fields.",
                    "files", "Nothing is uploaded: name a model in from.",
                    "adapters", "Nothing is uploaded: name a model in from.",
                    "quantize", "Use the command quantize.",
                    "quantization", "Use the command quantize.",
                    "renderer", "The model's own template is used.",
                    "parser", "Replies are read as the model's template shows.",
                    "info", "The model's file says it.",
                    "requires", "Leave it out."));

    private static final int MOST_LICENSES = 16;

    @Override
    public void handle(Exchange exchange) {
        Body body = OllamaEndpoint.body(exchange, FIELDS);
        String name = OllamaEndpoint.model(body);
        ServedModel from = manager.require(body.requiredText("from"));
        requireOwnTemplate(body, from);
        boolean stream = body.flag("stream", true);
        manager.keep(name, from.spec(), preset(exchange, body, from.spec().preset()));
        ObjectNode done = Json.object().put("status", "success");
        if (stream) {
            EventStream lines = exchange.lines();
            lines.send(Json.object().put("status", "writing manifest"));
            lines.send(done);
        } else {
            exchange.json(done);
        }
    }

    private void requireOwnTemplate(Body body, ServedModel from) {
        String template = body.text("template");
        if (template != null && !template.equals(ModelFacts.of(manager, from).template())) {
            throw RequestException.tooMuch(
                    "template",
                    "unsupported_parameter",
                    "template is not the one of the model's file, which alone is used. Leave it out.");
        }
    }

    private static Preset preset(Exchange exchange, Body body, Preset before) {
        List<ChatTurn> messages = new ArrayList<>();
        String system = body.has("system") ? body.text("system") : before.system();
        if (system != null && !system.isEmpty()) {
            messages.add(ChatTurn.system(system));
        }
        if (body.has("messages")) {
            messages.addAll(ChatMessages.read(body, exchange::ignores));
            if (messages.stream().anyMatch(turn -> !turn.media().isEmpty())) {
                throw RequestException.tooMuch(
                        "messages", "unsupported_parameter", "images are not kept with a model; send them in chats.");
            }
        } else {
            before.messages().stream()
                    .filter(turn -> !turn.role().equals(ChatTurn.SYSTEM))
                    .forEach(messages::add);
        }
        Map<String, Object> options = new LinkedHashMap<>(before.options());
        Body parameters = body.object("parameters");
        if (parameters != null) {
            List<String> unknown = Options.FIELDS.unknown(parameters.node());
            parameters.node().remove(unknown);
            exchange.ignores(
                    unknown.stream().map(name -> parameters.path() + name).toList());
            requireValues(parameters);
            parameters.node().properties().forEach(each -> options.put(each.getKey(), Json.plain(each.getValue())));
        }
        List<String> license = body.has("license") ? body.texts("license", MOST_LICENSES) : before.license();
        return new Preset(messages, options, null, license);
    }

    /// Refuses values that requests could not have.
    private static void requireValues(Body parameters) {
        SamplingFields.requireValues(parameters);
        SamplingFields.stops(parameters, "stop");
        parameters.whole("num_predict", Integer.MIN_VALUE, Integer.MAX_VALUE, -1);
        parameters.whole("num_ctx", 0, Integer.MAX_VALUE, 0);
    }
}

package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.gguf.GgufMetadata;
import dev.tenon.api.gguf.GgufType;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.core.gguf.CompanionFile;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.KeptTurns;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.Preset;
import dev.tenon.platform.server.models.ServedModel;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// `POST /api/show`: what is known of a model.
///
/// @param manager has the models
public record ShowEndpoint(ModelManager manager) implements OllamaEndpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of(
            "model name verbose", "options", Map.of("template", "Leave it out.", "system", "Leave it out."));

    private static final String MESSAGES = "messages";

    @Override
    public void handle(Exchange exchange) {
        Body body = OllamaEndpoint.body(exchange, FIELDS);
        ServedModel model = manager.require(OllamaEndpoint.model(body));
        boolean verbose = body.flag("verbose", false);
        ModelFacts facts = ModelFacts.of(manager, model);
        Preset preset = model.spec().preset();
        ObjectNode answer = Json.object();
        List<String> license = preset.license().isEmpty()
                ? facts.metadata().string("general.license").map(List::of).orElse(List.of())
                : preset.license();
        if (!license.isEmpty()) {
            answer.put("license", String.join("\n", license));
        }
        String parameters = parameters(preset.options());
        answer.put("modelfile", modelfile(model, facts));
        if (!parameters.isEmpty()) {
            answer.put("parameters", parameters);
        }
        answer.put("template", facts.template());
        if (preset.system() != null) {
            answer.put("system", preset.system());
        }
        answer.set("details", facts.details());
        ArrayNode messages = Json.array();
        preset.messages().stream()
                .filter(turn -> !turn.role().equals(ChatTurn.SYSTEM))
                .forEach(turn -> messages.add(KeptTurns.write(turn)));
        if (!messages.isEmpty()) {
            answer.set(MESSAGES, messages);
        }
        answer.set("model_info", info(facts.metadata(), verbose).put("general.parameter_count", facts.parameters()));
        facts.companion().ifPresent(file -> answer.set("projector_info", info(file.metadata(), verbose)));
        answer.set("capabilities", facts.capabilities(model.loaded()));
        exchange.json(answer.put("modified_at", facts.modified().toString()));
    }

    /// A line for each value, as in a Modelfile.
    private static String parameters(Map<String, Object> options) {
        StringBuilder lines = new StringBuilder();
        options.forEach((name, value) -> {
            for (Object each : value instanceof List<?> list ? list : List.of(value)) {
                lines.append(name)
                        .append(' ')
                        .append(each instanceof String ? Json.text(each) : each)
                        .append('\n');
            }
        });
        return lines.toString().strip();
    }

    private static String modelfile(ServedModel model, ModelFacts facts) {
        Preset preset = model.spec().preset();
        StringBuilder text = new StringBuilder();
        Stream.concat(Stream.of(model.spec().request().path()), facts.companion().map(CompanionFile::path).stream())
                .forEach(file -> text.append("FROM ").append(file.getFileName()).append('\n'));
        if (preset.system() != null) {
            text.append("SYSTEM ").append(Json.text(preset.system())).append('\n');
        }
        parameters(preset.options())
                .lines()
                .forEach(line -> text.append("PARAMETER ").append(line).append('\n'));
        return text.toString();
    }

    /// What a file says of itself; long lists only where everything is asked for.
    private static ObjectNode info(GgufMetadata metadata, boolean verbose) {
        ObjectNode info = Json.object();
        metadata.values().forEach((key, value) -> {
            if (key.equals("tokenizer.chat_template")) {
                return; // it is in the answer already
            }
            if (value.type() == GgufType.ARRAY && !verbose) {
                info.putNull(key);
            } else {
                info.set(key, Json.tree(value.value()));
            }
        });
        return info;
    }
}

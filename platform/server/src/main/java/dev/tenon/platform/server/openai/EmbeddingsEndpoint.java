package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.generation.Embeddings;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ServedModel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/// `POST /v1/embeddings`.
///
/// @param generations finds models
public record EmbeddingsEndpoint(Generations generations) implements Endpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS =
            FieldTable.of("model input(texts or token ids) encoding_format dimensions(the model's)", "user", Map.of());

    private static final int MOST_TEXTS = 2048;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        ServedModel served = generations.model(body.text("model"));
        String format = body.has("encoding_format") ? body.text("encoding_format") : "float";
        if (!format.equals("float") && !format.equals("base64")) {
            throw body.wrong("encoding_format", "float or base64");
        }
        exchange.interruptWhenClientLeaves();
        List<float[]> vectors;
        int count;
        try (ServedModel.Lease lease = served.lease()) {
            LoadedModel model = lease.model();
            Embeddings.requireVectors(model);
            List<int[]> texts = texts(body, model);
            count = texts.stream().mapToInt(text -> text.length).sum();
            vectors = Embeddings.of(generations, exchange, served, model, texts);
        }
        Embeddings.requireDimensions(body, vectors);
        exchange.note("model=" + served.spec().name() + " texts=" + vectors.size() + " prompt=" + count);
        ObjectNode answer = Json.object().put("object", "list");
        ArrayNode data = answer.putArray("data");
        for (int i = 0; i < vectors.size(); i++) {
            ObjectNode entry = data.addObject().put("object", "embedding").put("index", i);
            if (format.equals("base64")) {
                entry.put("embedding", base64(vectors.get(i)));
            } else {
                ArrayNode numbers = entry.putArray("embedding");
                for (float number : vectors.get(i)) {
                    numbers.add(number);
                }
            }
        }
        answer.put("model", served.spec().name());
        answer.putObject("usage").put("prompt_tokens", count).put("total_tokens", count);
        exchange.json(answer);
    }

    private static String base64(float... vector) {
        ByteBuffer bytes = ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(vector);
        return Base64.getEncoder().encodeToString(bytes.array());
    }

    private static List<int[]> texts(Body body, LoadedModel model) {
        body.require("input");
        JsonNode input = body.node().get("input");
        List<int[]> texts = new ArrayList<>();
        if (input.isTextual()
                || input.isArray() && !input.isEmpty() && input.get(0).isNumber()) {
            texts.add(tokens(body, model, input));
        } else if (input.isArray() && !input.isEmpty() && input.size() <= MOST_TEXTS) {
            input.forEach(each -> texts.add(tokens(body, model, each)));
        } else {
            throw body.wrong("input", "a string, token ids, or at most " + MOST_TEXTS + " of either");
        }
        return texts;
    }

    private static int[] tokens(Body body, LoadedModel model, JsonNode input) {
        int[] tokens;
        if (input.isTextual()) {
            tokens = model.tokenizer().encode(input.asText(), true, false);
        } else if (!input.isArray()) {
            throw body.wrong("input", "strings or token ids of the model");
        } else {
            tokens = new int[input.size()];
            for (int i = 0; i < tokens.length; i++) {
                JsonNode id = input.get(i);
                boolean fits = id.canConvertToInt() && id.asInt() >= 0;
                if (!fits || id.asInt() >= model.config().vocabularySize()) {
                    throw body.wrong("input", "strings or token ids of the model");
                }
                tokens[i] = id.asInt();
            }
        }
        if (tokens.length == 0) {
            throw RequestException.invalid("input", "A text of input is empty; expected at least one token.");
        }
        return tokens;
    }
}

package dev.tenon.platform.server.ollama;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.KeepAliveField;
import dev.tenon.platform.server.generation.Embeddings;
import dev.tenon.platform.server.generation.Generations;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.models.ModelManager;
import dev.tenon.platform.server.models.ServedModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// `POST /api/embed`, and the older `POST /api/embeddings` for one text.
///
/// @param manager has the models
/// @param generations has their queues
/// @param one whether it is the older form
public record EmbedEndpoint(ModelManager manager, Generations generations, boolean one) implements OllamaEndpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS =
            FieldTable.of("model input(texts) truncate dimensions(the model's) options keep_alive", "", Map.of());

    /// The fields of a request in the older form.
    public static final FieldTable OLDER_FIELDS = FieldTable.of("model prompt options keep_alive", "", Map.of());

    private static final int MOST_TEXTS = 2048;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        long begin = System.nanoTime();
        Body body = OllamaEndpoint.body(exchange, one ? OLDER_FIELDS : FIELDS);
        String name = body.requiredText("model");
        ServedModel served = manager.require(name);
        Options options = Options.of(exchange, body);
        String field = one ? "prompt" : "input";
        List<String> texts = body.texts(field, MOST_TEXTS);
        Duration keepAlive = KeepAliveField.read(body);
        boolean truncate = body.flag("truncate", true);
        exchange.interruptWhenClientLeaves();
        manager.keepAlive(served, keepAlive);
        List<float[]> vectors = new ArrayList<>();
        long loaded;
        int count = 0;
        try (ServedModel.Lease lease = served.lease()) {
            loaded = System.nanoTime();
            LoadedModel model = lease.model();
            options.limitContext(exchange, model);
            List<int[]> tokens = new ArrayList<>();
            for (String text : texts) {
                tokens.add(tokens(model, field, text, truncate));
                count += tokens.getLast().length;
            }
            if (!tokens.isEmpty()) {
                Embeddings.requireVectors(model);
                vectors = Embeddings.of(generations, exchange, served, model, tokens);
                Embeddings.requireDimensions(body, vectors);
            }
        }
        exchange.note("model=" + served.spec().name() + " texts=" + vectors.size() + " prompt=" + count);
        exchange.json(one ? older(vectors) : answer(name, vectors, count, begin, loaded));
    }

    private static ObjectNode older(List<float[]> vectors) {
        ObjectNode answer = Json.object();
        add(answer.putArray("embedding"), vectors.isEmpty() ? new float[0] : vectors.getFirst());
        return answer;
    }

    private static ObjectNode answer(String name, List<float[]> vectors, int count, long begin, long loaded) {
        ObjectNode answer = Json.object().put("model", name);
        ArrayNode embeddings = answer.putArray("embeddings");
        vectors.forEach(vector -> add(embeddings.addArray(), vector));
        return answer.put("total_duration", System.nanoTime() - begin)
                .put("load_duration", loaded - begin)
                .put("prompt_eval_count", count);
    }

    private static void add(ArrayNode array, float... vector) {
        for (float number : vector) {
            array.add(number);
        }
    }

    /// The tokens of a text; of one that is too long the first ones, and the last, which ends it.
    private static int[] tokens(LoadedModel model, String field, String text, boolean truncate) {
        int[] tokens = model.tokenizer().encode(text, true, false);
        if (tokens.length == 0) {
            throw RequestException.invalid(field, "A text of " + field + " is empty; expected at least one token.");
        }
        if (tokens.length <= model.contextLength()) {
            return tokens;
        }
        if (!truncate) {
            throw RequestException.invalid(
                    field,
                    "A text of " + field + " has " + tokens.length + " tokens; the context holds "
                            + model.contextLength() + ". Shorten it, or set truncate.");
        }
        int last = tokens[tokens.length - 1];
        int[] cut = Arrays.copyOf(tokens, model.contextLength());
        cut[cut.length - 1] = last;
        return cut;
    }
}

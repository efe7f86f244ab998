package dev.tenon.platform.server.llamacpp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.chat.MediaPrompts;
import dev.tenon.platform.chat.PromptText;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.MediaReader;
import dev.tenon.platform.server.media.TurnText;
import dev.tenon.platform.server.models.ServedModel;
import dev.tenon.platform.server.openai.EnforcedFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/// `POST /completion`: continues a text, without the chat template.
///
/// @param replies continues texts
/// @param slots hear of what slots were used for
public record CompletionEndpoint(Replies replies, SlotEndpoints slots) implements Endpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of(
                    "prompt(text, token ids, or both; prompt_string with multimodal_data; an array of these for several)",
                    "",
                    Map.of())
            .and(NativeFields.TABLE);

    /// What stands in a text for a file.
    static final String MARK = "<__media__>";

    private static final String PROMPT = "prompt";
    private static final String TEXT = "prompt_string";
    private static final String FILES = "multimodal_data";
    private static final FieldTable OBJECT_FIELDS = FieldTable.of(TEXT + " " + FILES, "", Map.of());
    private static final int MOST_FILES = 256;
    private static final int MOST_PROMPTS = 64;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        body.require(PROMPT);
        JsonNode prompt = body.node().get(PROMPT);
        if (!isMany(prompt)) {
            answer(exchange, body, List.of(prompt(body, PROMPT, prompt)), false);
            return;
        }
        List<Prompt> prompts = new ArrayList<>();
        body.array(PROMPT, MOST_PROMPTS)
                .forEach(each -> prompts.add(prompt(body, PROMPT + "[" + prompts.size() + "]", each)));
        answer(exchange, body, prompts, true);
    }

    /// Whether there are several prompts: an array of texts, arrays or objects, with no token id beside them.
    private static boolean isMany(JsonNode prompt) {
        return prompt.isArray()
                && !prompt.isEmpty()
                && StreamSupport.stream(prompt.spliterator(), false)
                        .allMatch(each -> each.isTextual() || each.isContainerNode());
    }

    private static Prompt prompt(Body body, String field, JsonNode prompt) {
        if (prompt instanceof ObjectNode object) {
            Body whole = new Body(object, field + ".");
            OBJECT_FIELDS.check(object);
            TurnText text = withMedia(whole);
            return new Prompt(whole.text(TEXT), model -> text.encode(model, field));
        }
        return new Prompt(
                prompt.isTextual() ? prompt.asText() : null,
                model -> new MediaPrompts.Encoded(tokens(body, field, prompt, model)));
    }

    /// The text of a prompt with its files in the places that it marks.
    private static TurnText withMedia(Body prompt) {
        List<String> files = prompt.texts(FILES, MOST_FILES);
        String[] texts = prompt.requiredText(TEXT).split(MARK, -1);
        if (texts.length != files.size() + 1) {
            throw RequestException.invalid(
                    prompt.path() + FILES,
                    prompt.path() + FILES + " has " + files.size() + " files; expected " + (texts.length - 1)
                            + ", one for each " + MARK + " in " + TEXT + ".");
        }
        TurnText text = new TurnText();
        text.add(texts[0], "");
        for (int i = 0; i < files.size(); i++) {
            text.add(MediaReader.base64(prompt.path() + FILES + "[" + i + "]", "", files.get(i)));
            text.add(texts[i + 1], "");
        }
        return text;
    }

    /// A prompt.
    ///
    /// @param text the prompt, if it is a text; else null
    /// @param encoded makes its tokens, once the model is loaded
    record Prompt(String text, Function<LoadedModel, MediaPrompts.Encoded> encoded) {}

    /// Continues prompts, one after the other, and answers.
    ///
    /// @param exchange the request
    /// @param body its fields, checked
    /// @param prompts the prompts
    /// @param array whether the replies of a plain answer come in an array
    void answer(Exchange exchange, Body body, List<Prompt> prompts, boolean array) throws InterruptedException {
        ServedModel served = replies.generations().model(body.text("model"));
        ReplySettings settings = NativeFields.settings(body);
        int slot = SlotEndpoints.slot(body, served);
        TextFormat format = EnforcedFields.format(body);
        ArrayNode whole = Json.array();
        boolean stream = body.flag("stream", false);
        exchange.interruptWhenClientLeaves();
        try (ServedModel.Lease lease = served.lease()) {
            Replies.requireText(lease.model());
            List<MediaPrompts.Encoded> encoded = prompts.stream()
                    .map(prompt -> prompt.encoded().apply(lease.model()))
                    .toList();
            for (int i = 0; i < prompts.size(); i++) {
                List<NativeReply> replied = new ArrayList<>();
                int first = whole.size();
                replies.complete(exchange, served, lease, encoded.get(i), format, settings, index -> {
                    replied.add(new NativeReply(
                            exchange, first + index, served.spec().name(), stream, body));
                    return replied.getLast();
                });
                for (NativeReply reply : replied) {
                    whole.add(reply.finish(prompts.get(i).text(), lease.model().contextLength()));
                }
                slots.used(
                        exchange,
                        served,
                        slot,
                        replied.getLast().after(encoded.get(i).tokens()));
            }
        }
        if (!stream) {
            exchange.json(array || settings.choices() > 1 ? whole : whole.get(0));
        }
    }

    private static int[] tokens(Body body, String field, JsonNode prompt, LoadedModel model) {
        int[] tokens;
        if (prompt.isTextual()) {
            tokens = PromptText.encode(model, prompt.asText(), true);
        } else if (prompt.isArray()) {
            tokens = mixed(body, field, prompt, model);
            PromptText.requireRoom(tokens.length, model.contextLength());
        } else {
            throw body.wrong(field, "a string, an array of strings and token ids, an object, or an array of these");
        }
        if (tokens.length == 0) {
            throw RequestException.invalid(field, field + " is empty; expected at least one token.");
        }
        return tokens;
    }

    /// The tokens of an array of texts and token ids; before a text at its begin those that the vocabulary adds.
    private static int[] mixed(Body body, String field, JsonNode parts, LoadedModel model) {
        IntStream.Builder all = IntStream.builder();
        boolean first = true;
        for (JsonNode part : parts) {
            if (part.isTextual()) {
                IntStream.of(model.tokenizer().encode(part.asText(), first, true))
                        .forEach(all::add);
            } else {
                all.add(id(body, field, part, model));
            }
            first = false;
        }
        return all.build().toArray();
    }

    /// {@return a token id of a request}
    ///
    /// @param body the request
    /// @param field the field that has it
    /// @param id the id
    /// @param model has the vocabulary
    static int id(Body body, String field, JsonNode id, LoadedModel model) {
        boolean fits = id.isIntegralNumber() && id.canConvertToInt() && id.asInt() >= 0;
        if (!fits || id.asInt() >= model.config().vocabularySize()) {
            throw body.wrong(
                    field, "texts, or token ids from 0 to " + (model.config().vocabularySize() - 1));
        }
        return id.asInt();
    }
}

package dev.tenon.platform.server.llamacpp;

import dev.tenon.platform.chat.MediaPrompts;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.generation.InfillTokens;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.Exchange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// `POST /infill`: fills in what is missing between a beginning and an end, after texts of other files.
///
/// @param completions answers
public record InfillEndpoint(CompletionEndpoint completions) implements Endpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of(
                    "input_prefix(models with tokens for it) input_suffix input_extra prompt", "", Map.of())
            .and(NativeFields.TABLE);

    private static final FieldTable EXTRA_FIELDS = FieldTable.of("filename text", "time", Map.of());
    private static final int MOST_EXTRAS = 256;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        body.require("input_prefix");
        body.require("input_suffix");
        String before = body.text("input_prefix");
        String after = body.text("input_suffix");
        String begun = body.has("prompt") ? body.text("prompt") : "";
        List<InfillTokens.Extra> extras = new ArrayList<>();
        for (Body extra : body.objects("input_extra", MOST_EXTRAS)) {
            EXTRA_FIELDS.check(extra.node());
            extras.add(new InfillTokens.Extra(
                    extra.has("filename") ? extra.text("filename") : "tmp", extra.requiredText("text")));
        }
        CompletionEndpoint.Prompt prompt = new CompletionEndpoint.Prompt(
                before,
                model -> new MediaPrompts.Encoded(InfillTokens.of(model).prompt(model, extras, before, after, begun)));
        completions.answer(exchange, body, List.of(prompt), false);
    }
}

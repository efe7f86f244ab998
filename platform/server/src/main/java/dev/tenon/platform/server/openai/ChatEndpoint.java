package dev.tenon.platform.server.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tenon.api.chat.ChatRequest;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.chat.Tool;
import dev.tenon.api.chat.ToolChoice;
import dev.tenon.api.http.RequestException;
import dev.tenon.platform.chat.Json;
import dev.tenon.platform.server.fields.Body;
import dev.tenon.platform.server.fields.FieldTable;
import dev.tenon.platform.server.fields.SamplingFields;
import dev.tenon.platform.server.generation.Replies;
import dev.tenon.platform.server.generation.ReplySettings;
import dev.tenon.platform.server.http.Endpoint;
import dev.tenon.platform.server.http.EventStream;
import dev.tenon.platform.server.http.Exchange;
import dev.tenon.platform.server.media.MediaReader;
import dev.tenon.platform.server.models.ServedModel;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// `POST /v1/chat/completions`.
///
/// @param replies answers conversations
public record ChatEndpoint(Replies replies) implements Endpoint {
    /// The fields of a request.
    public static final FieldTable FIELDS = FieldTable.of(
                    "model messages(text, images, audio) tools tool_choice parallel_tool_calls stream stream_options max_tokens"
                            + " max_completion_tokens n stop logprobs top_logprobs response_format json_schema grammar(GBNF) modalities(text)"
                            + " reasoning_effort reasoning_budget_tokens(most tokens of reasoning) thinking_budget_tokens(the same)"
                            + " reasoning_budget_message(what ends it then) chat_template_kwargs add_generation_prompt continue_final_message",
                    "user safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention metadata store"
                            + " service_tier verbosity cache_prompt",
                    Map.of(
                            "functions", "Use tools.",
                            "function_call", "Use tool_choice.",
                            "audio", "There is no audio.",
                            "prediction", "Leave it out.",
                            "web_search_options", "There is no search.",
                            "chat_template", "The model's own template is used.",
                            "id_slot", "Leave it out: computed prompts are found by themselves."))
            .and(SamplingFields.TABLE);

    private static final FieldTable STREAM_FIELDS = FieldTable.of("include_usage", "include_obfuscation", Map.of());
    private static final String CONTINUE = "continue_final_message";
    private static final int MOST_CHOICES = 128;
    private static final int MOST_LOG_PROBABILITIES = 20;
    private static final int MOST_VARIABLES = 64;

    @Override
    public void handle(Exchange exchange) throws InterruptedException {
        Body body = Body.of(exchange.body());
        FIELDS.check(body.node());
        ServedModel served = replies.generations().model(body.text("model"));
        boolean stream = body.flag("stream", false);
        boolean usage = includeUsage(body, stream);
        ChatRequest input = input(body, replies.media());
        ReplySettings settings = new ReplySettings(
                body,
                (int) body.whole("n", 1, MOST_CHOICES, 1),
                maxTokens(body),
                SamplingFields.stops(body, "stop"),
                logProbabilities(body),
                body.flag("ignore_eos", false),
                SamplingFields.priority(body));
        exchange.interruptWhenClientLeaves();
        String id = Wire.id("chatcmpl-");
        long created = Instant.now().getEpochSecond();
        String name = served.spec().name();
        if (!stream) {
            List<ChatReply> choices = new ArrayList<>();
            Replies.Counts counts = replies.answer(exchange, served, input, settings, index -> {
                ChatReply reply = new ChatReply(index, settings.logProbabilities() >= 0);
                choices.add(reply);
                return reply;
            });
            ObjectNode answer = Wire.head(id, "chat.completion", created, name);
            ArrayNode array = answer.putArray("choices");
            choices.forEach(reply -> array.add(reply.choice()));
            answer.set("usage", Wire.usage(counts));
            exchange.json(answer);
            return;
        }
        EventStream events = exchange.events();
        ObjectNode head = Wire.head(id, "chat.completion.chunk", created, name);
        if (usage) {
            head.putNull("usage");
        }
        Replies.Counts counts = replies.answer(
                exchange,
                served,
                input,
                settings,
                index -> new ChatChunks(index, head, events, settings.logProbabilities() >= 0));
        if (usage) {
            ObjectNode last = Wire.head(id, "chat.completion.chunk", created, name);
            last.putArray("choices");
            last.set("usage", Wire.usage(counts));
            events.send(last);
        }
        events.sendDone();
    }

    /// {@return whether a stream shall end with counts}
    static boolean includeUsage(Body body, boolean stream) {
        Body options = body.object("stream_options");
        if (options == null) {
            return false;
        }
        STREAM_FIELDS.check(options.node());
        if (!stream) {
            throw RequestException.invalid("stream_options", "stream_options is for streams; set stream, too.");
        }
        return options.flag("include_usage", false);
    }

    private static int maxTokens(Body body) {
        long most = body.whole("max_completion_tokens", -1, Integer.MAX_VALUE, -1);
        return (int) body.whole("max_tokens", -1, Integer.MAX_VALUE, most);
    }

    private static int logProbabilities(Body body) {
        boolean wanted = body.flag("logprobs", false);
        int top = (int) body.whole("top_logprobs", 0, MOST_LOG_PROBABILITIES, 0);
        if (top > 0 && !wanted) {
            throw RequestException.invalid("top_logprobs", "top_logprobs needs logprobs; set it, too.");
        }
        return wanted ? top : -1;
    }

    /// {@return the conversation of a request}
    ///
    /// @param body the request
    /// @param media reads its pictures and sounds
    public static ChatRequest input(Body body, MediaReader media) {
        requireText(body);
        List<ChatTurn> turns = Messages.read(body, media);
        List<Tool> tools = EnforcedFields.callable(body, Messages.tools(body));
        TextFormat format = EnforcedFields.format(body);
        ToolChoice choice = EnforcedFields.calls(body, tools, format);
        String message = body.text("reasoning_budget_message");
        boolean free = format instanceof TextFormat.Any && choice.mode() != ToolChoice.Mode.REQUIRED;
        return ChatRequest.builder()
                .turns(turns)
                .tools(tools)
                .toolChoice(choice)
                .severalCalls(body.flag("parallel_tool_calls", true))
                .format(format)
                .variables(variables(body))
                .continued(continued(body, turns, free))
                .reasoningBudget(budget(body))
                .reasoningMessage(message == null ? "" : message)
                .build();
    }

    private static int budget(Body body) {
        long other = body.whole("thinking_budget_tokens", -1, Integer.MAX_VALUE, -1);
        return (int) body.whole("reasoning_budget_tokens", -1, Integer.MAX_VALUE, other);
    }

    /// Whether the last message goes on: as the request says, else one of the assistant's does, as in llama.cpp.
    private static boolean continued(Body body, List<ChatTurn> turns, boolean free) {
        ChatTurn last = turns.getLast();
        boolean assistants = last.role().equals(ChatTurn.ASSISTANT);
        boolean begins = body.flag("add_generation_prompt", false);
        if (!body.has(CONTINUE)) {
            boolean goesOn = assistants
                    && !begins
                    && free
                    && last.calls().isEmpty()
                    && !last.text().isEmpty();
            if (goesOn && turns.size() > 1 && turns.get(turns.size() - 2).role().equals(ChatTurn.ASSISTANT)) {
                throw RequestException.invalid(
                        "messages",
                        "The last two messages are the assistant's; only one can be continued. Join them, or set"
                                + " continue_final_message.");
            }
            return goesOn;
        }
        boolean continued = body.flag(CONTINUE, false);
        if (continued && begins) {
            throw RequestException.invalid(CONTINUE, "continue_final_message excludes add_generation_prompt.");
        }
        if (continued && !assistants) {
            throw RequestException.invalid(CONTINUE, "The last message is not the assistant's.");
        }
        if (continued && !free) {
            throw RequestException.invalid(CONTINUE, "A message that is continued cannot have a format, or be a call.");
        }
        return continued;
    }

    private static void requireText(Body body) {
        List<String> modalities = body.texts("modalities", 4);
        if (!modalities.isEmpty() && !modalities.equals(List.of("text"))) {
            throw RequestException.tooMuch("modalities", "unsupported_parameter", "modalities can only be text.");
        }
    }

    /// Variables of the template; those that the server sets cannot be given.
    private static Map<String, Object> variables(Body body) {
        Map<String, Object> variables = new LinkedHashMap<>();
        if (body.has("reasoning_effort")) {
            String effort = body.text("reasoning_effort");
            variables.put("reasoning_effort", effort);
            variables.put("enable_thinking", !effort.equals("none"));
        }
        Body given = body.object("chat_template_kwargs");
        if (given != null) {
            if (given.node().size() > MOST_VARIABLES) {
                throw given.wrong("chat_template_kwargs", "at most " + MOST_VARIABLES + " variables");
            }
            for (String own : List.of("messages", "tools", "bos_token", "eos_token", "add_generation_prompt")) {
                if (given.has(own)) {
                    throw RequestException.invalid(
                            given.path() + own, "chat_template_kwargs cannot hold " + own + ", which the server sets.");
                }
            }
            given.node().properties().forEach(each -> variables.put(each.getKey(), Json.plain(each.getValue())));
        }
        return variables;
    }
}

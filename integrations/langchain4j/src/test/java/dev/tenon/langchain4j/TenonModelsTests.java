package dev.tenon.langchain4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.ToolChoice;
import dev.langchain4j.model.chat.request.json.JsonBooleanSchema;
import dev.langchain4j.model.chat.request.json.JsonIntegerSchema;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.Response;
import dev.tenon.Model;
import dev.tenon.Tenon;
import dev.tenon.api.chat.TextFormat;
import dev.tenon.api.error.TenonException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What LangChain4j's tests do not look at. Answers without a rule are the embedded model's own, who tells stories:
/// what is enforced is, whatever it would like to say.
class TenonModelsTests {
    private static final ToolSpecification WEATHER = ToolSpecification.builder()
            .name("getWeather")
            .description("Tells the weather.")
            .parameters(JsonObjectSchema.builder()
                    .addEnumProperty("city", List.of("Oslo", "Rome"))
                    .required("city")
                    .build())
            .build();

    private static ChatRequest.Builder story() {
        return ChatRequest.builder().messages(UserMessage.from("Once upon a time"));
    }

    private static TenonChatModel greedy() {
        return TenonChatModel.builder()
                .model(Embedded.MODEL)
                .defaultRequestParameters(ChatRequestParameters.builder()
                        .temperature(0.0)
                        .maxOutputTokens(200)
                        .build())
                .build();
    }

    @Test
    void aCallIsForcedWhateverTheModelWouldSay() throws Exception {
        ChatResponse response = greedy().chat(story().toolSpecifications(WEATHER)
                .toolChoice(ToolChoice.REQUIRED)
                .responseFormat(ResponseFormat.JSON)
                .build());
        assertTrue(response.aiMessage().hasToolExecutionRequests(), response.toString());
        for (ToolExecutionRequest call : response.aiMessage().toolExecutionRequests()) {
            assertEquals("getWeather", call.name());
            String city =
                    new ObjectMapper().readTree(call.arguments()).get("city").asText();
            assertTrue(List.of("Oslo", "Rome").contains(city), city);
        }
    }

    @Test
    void anAnswerIsOfItsSchemaWhateverTheModelWouldSay() throws Exception {
        JsonSchema schema = JsonSchema.builder()
                .name("Pet")
                .rootElement(JsonObjectSchema.builder()
                        .addEnumProperty("animal", List.of("cat", "dog"))
                        .addProperty("tame", new JsonBooleanSchema())
                        .required("animal", "tame")
                        .build())
                .build();
        ResponseFormat format = ResponseFormat.builder()
                .type(ResponseFormatType.JSON)
                .jsonSchema(schema)
                .build();
        String text = greedy().chat(story().responseFormat(format).build())
                .aiMessage()
                .text();
        JsonNode value = new ObjectMapper().readTree(text);
        assertEquals(2, value.size(), text);
        assertTrue(value.get("tame").isBoolean(), text);
    }

    @Test
    void noToolsAreToldWhereNoneIsToBeCalled() {
        ChatRequestParameters one =
                ChatRequestParameters.builder().maxOutputTokens(1).build();
        ChatRequest.Builder request = story().parameters(one).toolSpecifications(WEATHER);
        assertEquals(
                tokens(story().parameters(one)), tokens(request.toolChoice(ToolChoice.NONE)), "as if there were none");
        assertNotEquals(tokens(story().parameters(one)), tokens(request.toolChoice(ToolChoice.AUTO)));
    }

    private static int tokens(ChatRequest.Builder request) {
        return greedy().chat(request.build()).tokenUsage().inputTokenCount();
    }

    @Test
    void thoughtsAreNoPartOfTheAnswer() {
        ChatRequest request = ChatRequest.builder()
                .messages(UserMessage.from("Think of Norway"))
                .build();
        AiMessage message = Embedded.chatModel().chat(request).aiMessage();
        assertEquals("Oslo.", message.text());
        assertEquals("Norway's capital?", message.thinking().strip());
        Heard heard = new Heard();
        Embedded.streamingModel().chat(request, heard);
        assertEquals(message, heard.response().aiMessage());
        assertEquals(message.thinking(), heard.thoughts.toString());
        assertEquals(message.text(), heard.text.toString());
    }

    @Test
    void aCallThatIsCutIsNone() {
        int whole = 0;
        for (int limit = 30; limit < 44; limit += 2) {
            ChatRequest request = ChatRequest.builder()
                    .messages(UserMessage.from("I live in Munich"))
                    .toolSpecifications(WEATHER)
                    .maxOutputTokens(limit)
                    .build();
            for (ToolExecutionRequest call :
                    Embedded.chatModel().chat(request).aiMessage().toolExecutionRequests()) {
                assertEquals("{\"city\": \"Munich\"}", call.arguments());
                whole++;
            }
        }
        assertTrue(whole > 0 && whole < 7, whole + " of 7");
    }

    @Test
    void whoCancelsHearsNothingMoreAndTheModelIsFree() {
        try (Model narrow = Tenon.model(Embedded.FILE.toString())
                .contextLength(256)
                .requests(1)
                .load()) {
            TenonStreamingChatModel model = TenonStreamingChatModel.builder()
                    .model(narrow)
                    .request(request ->
                            request.settings(s -> s.ignoreEndOfGeneration(true).contextShift(4)))
                    .build();
            Heard heard = new Heard();
            heard.cancelAfter = 5;
            model.chat("Once upon a time", heard);
            TenonChatModel next = TenonChatModel.builder()
                    .model(narrow)
                    .request(request -> request.maxNewTokens(3))
                    .build();
            heard.awaitCancellation();
            assertEquals(FinishReason.LENGTH, next.chat(story().build()).finishReason()); // it waits for its place
            assertEquals(5, heard.parts.get());
            assertFalse(heard.isComplete());
        }
    }

    @Test
    void anErrorOfAHandlerEndsTheReply() {
        AssertionError own = new AssertionError("the handler's");
        Heard heard = new Heard();
        heard.thrown = own;
        Embedded.streamingModel().chat("What is the capital of Germany?", heard);
        assertEquals(own, heard.error());
        assertEquals(1, heard.parts.get());
    }

    @Test
    void requestsAreChangedBeforeTheirParametersAre() {
        TenonChatModel late = TenonChatModel.builder()
                .model(Embedded.MODEL)
                .request(request -> request.timeout(Duration.ofMillis(1)).maxNewTokens(1))
                .build();
        TenonException error = assertThrows(
                TenonException.class,
                () -> late.chat(story().maxOutputTokens(4000).build()));
        assertEquals("JAVA-001", error.code());
    }

    @Test
    void theSameSeedTellsTheSameStory() {
        assertEquals(story(7), story(7));
        assertNotEquals(story(7), story(8));
    }

    private static String story(long seed) {
        TenonChatModel model = TenonChatModel.builder()
                .model(Embedded.MODEL)
                .defaultRequestParameters(
                        TenonChatRequestParameters.builder().seed(seed).build())
                .build();
        return model.chat(story().maxOutputTokens(20).temperature(1.0).build())
                .aiMessage()
                .text();
    }

    @Test
    void parametersKeepWhatOthersDoNotSay() {
        TenonChatRequestParameters ours = TenonChatRequestParameters.builder()
                .temperature(0.5)
                .seed(7L)
                .minP(0.1)
                .repeatPenalty(1.1)
                .build();
        ChatRequestParameters theirs =
                ChatRequestParameters.builder().temperature(0.9).topK(3).build();
        TenonChatRequestParameters expected = TenonChatRequestParameters.builder()
                .temperature(0.9)
                .topK(3)
                .seed(7L)
                .minP(0.1)
                .repeatPenalty(1.1)
                .build();
        assertEquals(expected, ours.overrideWith(theirs));
        assertEquals(expected, theirs.defaultedBy(ours));
        assertEquals(0.5, theirs.overrideWith(ours).temperature());
        assertNotEquals(expected, ours);
    }

    @Test
    void anObjectHasThePropertiesThatItNames() {
        JsonObjectSchema named =
                JsonObjectSchema.builder().addStringProperty("a").build();
        assertEquals(false, Schemas.of(named).get("additionalProperties"));
        assertFalse(Schemas.of(JsonObjectSchema.builder().build()).containsKey("additionalProperties"));
        JsonObjectSchema open = named.toBuilder().additionalProperties(true).build();
        assertEquals(true, Schemas.of(open).get("additionalProperties"));
        assertEquals(
                Map.of("type", "integer", "description", "how many"),
                Schemas.of(JsonIntegerSchema.builder().description("how many").build()));
        assertEquals(TextFormat.any(), Schemas.format(ResponseFormat.TEXT));
    }

    @Test
    void otherMessagesAreRefused() {
        ChatRequest request = ChatRequest.builder()
                .messages(CustomMessage.from(Map.of("key", "value")))
                .build();
        assertTrue(assertThrows(
                        UnsupportedFeatureException.class,
                        () -> Embedded.chatModel().chat(request))
                .getMessage()
                .contains("CUSTOM, which is not supported"));
    }

    @Test
    void aLanguageModelContinuesTexts() {
        TenonLanguageModel model = TenonLanguageModel.builder()
                .model(Embedded.MODEL)
                .request(request -> request.maxNewTokens(5).seed(7))
                .build();
        Response<String> response = model.generate("Once upon a time");
        assertEquals(
                Embedded.MODEL
                        .completion("Once upon a time")
                        .maxNewTokens(5)
                        .seed(7)
                        .text(),
                response.content());
        assertEquals(FinishReason.LENGTH, response.finishReason());
        assertEquals(5, response.tokenUsage().outputTokenCount());
        assertTrue(response.tokenUsage().inputTokenCount() > 1);
    }

    @Test
    void aRerankerScoresInTheOrderOfItsTexts() {
        try (Model reranker =
                Tenon.load(Embedded.GOLDEN.resolve("bert-rerank.q8_0.gguf").toString())) {
            TenonScoringModel model =
                    TenonScoringModel.builder().model(reranker).build();
            List<String> texts = List.of("a", "b c", "d");
            List<Double> scores = model.scoreAll(
                            texts.stream().map(TextSegment::from).toList(), "a b")
                    .content();
            for (Model.Scored ranked : reranker.rerank("a b", texts)) {
                assertEquals(ranked.score(), scores.get(ranked.index()), 1e-4);
            }
            assertEquals(List.of(), model.scoreAll(List.of(), "a b").content());
        }
    }

    @Test
    void tokensAreCountedAsTheModelReadsThem() {
        TenonTokenCountEstimator estimator =
                TenonTokenCountEstimator.builder().model(Embedded.MODEL).build();
        assertEquals(
                Embedded.MODEL.countTokens("Once upon a time"), estimator.estimateTokenCountInText("Once upon a time"));
        int read = tokens(ChatRequest.builder()
                .messages(SystemMessage.from("Be brief."), UserMessage.from("Hello"))
                .maxOutputTokens(1));
        assertEquals(
                read,
                estimator.estimateTokenCountInMessages(
                        List.of(SystemMessage.from("Be brief."), UserMessage.from("Hello"))));
        assertEquals(0, estimator.estimateTokenCountInMessages(List.of()));
        assertTrue(estimator.estimateTokenCountInMessage(UserMessage.from("Hello. ".repeat(5000))) > 5000);
        assertTrue(estimator.estimateTokenCountInMessage(
                        ToolExecutionResultMessage.from("id", "getWeather", "It is sunny."))
                > 3);
    }
}

package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.chat.ChatReply;
import dev.tenon.api.chat.ChatTurn;
import dev.tenon.api.engine.FinishReason;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.Session;
import dev.tenon.api.engine.Usage;
import dev.tenon.api.error.OutOfResourcesException;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.platform.cli.main.FakeEngine;
import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConversationTests {
    private static final String OPEN = "<|im_start|>assistant\n";

    @TempDir
    Path folder;

    private final List<String> seen = new ArrayList<>();
    private FakeEngine engine;
    private LoadedModel model;
    private Session session;
    private Conversation conversation;

    @BeforeEach
    void setUp() {
        engine = new TestCli(folder).engine;
        engine.answer = text -> {
            seen.add(text);
            return "Answer " + seen.size() + ".";
        };
        model = engine.load(LoadRequest.of(folder.resolve("story.gguf")));
        session = model.newSession();
        conversation = new Conversation(model, session);
    }

    @AfterEach
    void tearDown() {
        session.close();
        model.close();
    }

    private Usage send(String text) {
        return conversation.send(ChatTurn.user(text), asked(-1), t -> {}, t -> {});
    }

    private static GenerationRequest asked(int limit) {
        return GenerationRequest.of(new int[0], SamplingParams.greedy(), limit);
    }

    private String sent(int request) {
        StringBuilder text = new StringBuilder();
        FakeTokenizer tokenizer = new FakeTokenizer(false);
        for (int token : engine.requests.get(request).prompt()) {
            text.append(tokenizer.piece(token));
        }
        return text.toString();
    }

    private static String user(String text) {
        return "<|im_start|>user\n" + text + "<|im_end|>\n";
    }

    @Test
    void secondTurnSendsOnlyWhatIsNew() {
        send("One");
        send("Two");
        assertEquals(user("One") + OPEN, sent(0));
        assertEquals("\n" + user("Two") + OPEN, sent(1));
        assertEquals(user("One") + OPEN + "Answer 1.<|im_end|>\n" + user("Two") + OPEN, seen.get(1));
    }

    /// In the first message, and in one of which only the rest is sent.
    @Test
    void controlTokensInMessagesAreText() {
        send("<|im_end|>One<|im_start|>");
        send("<|im_end|>Two");
        assertEquals(user("<|im_end|>One<|im_start|>") + OPEN, sent(0));
        assertEquals("\n" + user("<|im_end|>Two") + OPEN, sent(1));
        for (int request = 0; request < 2; request++) {
            assertEquals(
                    3,
                    Arrays.stream(engine.requests.get(request).prompt())
                            .filter(token -> token >= FakeTokenizer.BOS)
                            .count());
        }
    }

    @Test
    void endTokenThatTheListenerDoesNotHearIsRenderedAnew() {
        engine.reportsEnd = false;
        send("One");
        send("Two");
        assertEquals("<|im_end|>\n" + user("Two") + OPEN, sent(1));
        assertEquals(user("One") + OPEN + "Answer 1.<|im_end|>\n" + user("Two") + OPEN, seen.get(1));
    }

    @Test
    void sessionAlwaysHoldsWhatTheTemplateSays() {
        conversation.system("Be kind.");
        for (int turn = 0; turn < 4; turn++) {
            send("Message " + turn);
        }
        String expected = FakeEngine.chatMl(Map.of(
                "messages",
                conversation.messages().subList(0, 8).stream()
                        .map(m -> Map.of("role", m.role(), "content", m.text()))
                        .toList(),
                "add_generation_prompt",
                true));
        assertEquals(expected, seen.get(3));
    }

    @Test
    void templateThatRewritesEarlierTurnsIsEvaluatedFromWhereItDiffers() {
        engine.template = variables -> FakeEngine.chatMl(variables).replace("Answer 1.", "(left out)");
        send("One");
        send("Two");
        assertEquals("(left out)<|im_end|>\n" + user("Two") + OPEN, sent(1));
        assertEquals(user("One") + OPEN + "(left out)<|im_end|>\n" + user("Two") + OPEN, seen.get(1));
        send("Three");
        assertEquals("\n" + user("Three") + OPEN, sent(2));
    }

    @Test
    void clearedConversationKeepsTheSystemMessageAndItsKeys() {
        conversation.system("Be kind.");
        send("One");
        conversation.clear();
        send("Two");
        String system = "<|im_start|>system\nBe kind.<|im_end|>\n";
        assertEquals(system + user("Two") + OPEN, seen.get(1));
        assertEquals("Two<|im_end|>\n" + OPEN, sent(1));
    }

    @Test
    void regeneratingAsksTheSameAgain() {
        send("One");
        assertEquals("One", conversation.takeBack());
        send("One");
        assertEquals(seen.get(0), seen.get(1));
        assertEquals("\n", sent(1));
        assertEquals(2, conversation.messages().size());
    }

    @Test
    void nothingCanBeTakenBackFromAnEmptyConversation() {
        assertNull(conversation.takeBack());
        conversation.system("Be kind.");
        assertNull(conversation.takeBack());
    }

    @Test
    void answerCutByTheLimitIsContinuedRightly() {
        Usage usage = conversation.send(ChatTurn.user("One"), asked(3), t -> {}, t -> {});
        assertEquals(FinishReason.LENGTH, usage.finish());
        assertEquals("Ans", conversation.messages().getLast().text());
        send("Two");
        assertEquals(user("One") + OPEN + "Ans<|im_end|>\n" + user("Two") + OPEN, seen.get(1));
    }

    @Test
    void reasoningIsNoPartOfTheAnswer() {
        List<String> asked = new ArrayList<>();
        engine.answer = text -> {
            asked.add(text);
            return "<think>\nHm, hm.\n</think>\n\nYes.";
        };
        ChatReply.Collector heard = new ChatReply.Collector();
        conversation.send(ChatTurn.user("One"), asked(-1), t -> {}, heard);
        ChatTurn answer = conversation.messages().getLast();
        assertEquals("Yes.", answer.text());
        assertEquals("\nHm, hm.\n", answer.reasoning());
        assertEquals(answer.text(), heard.reply().text());
        assertEquals(answer.reasoning(), heard.reply().reasoning());
        send("Two");
        assertEquals(user("One") + OPEN + "Yes.<|im_end|>\n" + user("Two") + OPEN, asked.getLast());
    }

    @Test
    void cancelledAnswerIsContinuedRightly() {
        conversation.send(ChatTurn.user("One"), asked(-1), t -> {}, t -> {
            if (t.equals("s")) {
                session.cancel();
            }
        });
        assertEquals("Ans", conversation.messages().getLast().text());
        send("Two");
        assertEquals(user("One") + OPEN + "Ans<|im_end|>\n" + user("Two") + OPEN, seen.get(1));
    }

    @Test
    void messageThatDoesNotFitLeavesTheConversationAsItWas() {
        send("One");
        int length = session.length();
        engine.context = length + 5;
        assertThrows(OutOfResourcesException.class, () -> send("A very long message"));
        assertEquals(2, conversation.messages().size());
        engine.context = 4096;
        send("Two");
        assertEquals(user("One") + OPEN + "Answer 1.<|im_end|>\n" + user("Two") + OPEN, seen.get(1));
    }

    @Test
    void oldestTurnsLeaveWhenTheContextIsFull() {
        engine.context = 200;
        conversation.system("Be kind.");
        for (int turn = 1; turn <= 20; turn++) {
            assertEquals(FinishReason.STOP, send("Message " + turn).finish(), "turn " + turn);
            assertTrue(session.length() <= 200);
            List<ChatTurn> held = conversation.messages();
            assertEquals("Be kind.", held.getFirst().text());
            assertEquals("user", held.get(1).role());
            assertEquals("Message " + turn, held.get(held.size() - 2).text());
            assertEquals("Answer " + turn + ".", held.getLast().text());
        }
        String last = seen.getLast();
        assertTrue(
                last.startsWith("<|im_start|>system\nBe kind.<|im_end|>\n"
                        + user("Message ").substring(0, 20)),
                last);
        assertTrue(last.endsWith(user("Message 20") + OPEN), last);
    }

    @Test
    void turnsThatLeaveAreCountedOnce() {
        engine.context = 200;
        int left = 0;
        int sent = 0;
        while (left == 0) {
            send("Message " + ++sent);
            left = conversation.turnsLeft();
        }
        assertEquals(2 * (sent - left), conversation.messages().size());
        send("And more");
        assertEquals(0, conversation.turnsLeft(), "half of the context was made free");
    }

    @Test
    void answerGoesOnWhenTheContextBecomesFull() {
        engine.context = 120;
        engine.answer = text -> {
            seen.add(text);
            // What the session lacks of the answer.
            String answer = "0123456789".repeat(seen.size() < 2 ? 3 : 7);
            return answer.substring(text.length() - text.lastIndexOf(OPEN) - OPEN.length());
        };
        send("One");
        Usage usage = send("Two");
        assertEquals(FinishReason.STOP, usage.finish());
        assertEquals("0123456789".repeat(7), conversation.messages().getLast().text());
        assertEquals(1, conversation.turnsLeft());
        assertTrue(seen.getLast().startsWith(user("Two") + OPEN + "0123456789"), seen.getLast());
        assertEquals(71, usage.generatedTokens());
        send("Three");
        assertTrue(seen.getLast().endsWith(user("Three") + OPEN));
    }

    @Test
    void answerThatFillsTheContextAloneEnds() {
        engine.context = 100;
        engine.answer = text -> "x".repeat(500);
        Usage usage = send("One");
        assertEquals(FinishReason.LENGTH, usage.finish());
        assertEquals(0, conversation.turnsLeft());
        engine.answer = text -> "Short.";
        assertEquals(FinishReason.STOP, send("Two").finish());
        assertEquals(1, conversation.turnsLeft());
        assertEquals(2, conversation.messages().size());
    }

    @Test
    void failingListenerLeavesTheConversationAsItWas() {
        assertThrows(
                IllegalStateException.class,
                () -> conversation.send(ChatTurn.user("One"), asked(-1), t -> {}, t -> {
                    throw new IllegalStateException("no more");
                }));
        assertEquals(0, conversation.messages().size());
        send("Two");
        assertEquals(user("Two") + OPEN, seen.get(1));
    }

    @Test
    void bosIsSentOnce() {
        engine.addsBos = true;
        model = engine.load(LoadRequest.of(folder.resolve("story.gguf")));
        session = model.newSession();
        conversation = new Conversation(model, session);
        send("One");
        send("Two");
        assertEquals("<s>" + user("One") + OPEN + "Answer 1.<|im_end|>\n" + user("Two") + OPEN, seen.get(1));
    }
}

package dev.tenon.platform.cli.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.media.MediaKind;
import dev.tenon.platform.cli.main.FakeTokenizer;
import dev.tenon.platform.cli.main.TestCli;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Pictures in `run` and `chat`. The engine makes as many rows of one as it has columns.
class AttachmentsTests {
    private static final String OPEN = "<|im_start|>assistant\n";

    @TempDir
    Path folder;

    private TestCli cli;
    private Path fox;

    @BeforeEach
    void setUp() throws IOException {
        cli = new TestCli(folder);
        fox = picture("red fox (1).png", 3);
    }

    private Path picture(String name, int width) throws IOException {
        Path file = folder.resolve(name);
        assertTrue(ImageIO.write(new BufferedImage(width, 2, BufferedImage.TYPE_INT_RGB), "png", file.toFile()));
        return file;
    }

    private TestCli.Result run(String... args) {
        List<String> line = new ArrayList<>(List.of("run", "--mmproj", "eyes.gguf"));
        line.addAll(List.of(args));
        return cli.run(line.toArray(String[]::new));
    }

    private TestCli.Result chat(String... lines) {
        cli.stdin = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
        return cli.run("chat", "--mmproj", "eyes.gguf");
    }

    /// The prompt of a request, with a number for the rows of a picture.
    private String sent(int request) {
        StringBuilder text = new StringBuilder();
        FakeTokenizer tokenizer = new FakeTokenizer(false);
        int[] tokens = cli.engine.requests.get(request).prompt();
        for (int i = 0; i < tokens.length; i++) {
            if (tokens[i] < 0) {
                text.append('[').append(-tokens[i]).append(']');
                i -= tokens[i] + 1;
            } else {
                text.append(tokenizer.piece(tokens[i]));
            }
        }
        return text.toString();
    }

    private static String user(String text) {
        return "<|im_start|>user\n" + text + "<|im_end|>\n";
    }

    @Test
    void picturesStandBeforeAQuestionOrInTheirPlaces() throws IOException {
        Path small = picture("small.png", 1);
        assertEquals(0, run("--image", "" + fox, "What is it?").status());
        assertEquals(user("[3]What is it?") + OPEN, sent(0));
        assertEquals(
                0,
                run("--image", "" + fox, "--image", "" + small, "--chat", "-p", "This: <__media__>?")
                        .status());
        assertEquals(user("[3]This: [1]?") + OPEN, sent(1));
        assertEquals(2, cli.engine.requests.get(1).media().size());
        TestCli.Result result = run("--image", "" + fox, "<__media__> or <__media__>?");
        assertEquals(2, result.status(), result.err());
    }

    @Test
    void picturesStandInATextThatIsContinued() {
        cli.engine.addsBos = true;
        TestCli.Result result = run("--image", "" + fox, "-p", "Once");
        assertEquals(0, result.status(), result.err());
        assertTrue(result.out().startsWith("Once"), result.out());
        assertEquals("<s>[3]Once", sent(0));
        assertEquals(0, run("--image", "" + fox, "-p", "See <__media__> there").status());
        assertEquals("<s>See [3] there", sent(1));
    }

    @Test
    void aPictureGoesWithTheNextMessageAndStaysInTheConversation() {
        TestCli.Result result = chat("/image " + fox, "What is it?", "And now?", "/retry", "/image " + fox, "Again?");
        assertEquals(0, result.status(), result.err());
        assertTrue(result.err().contains("fox (1).png: 3 x 2 pixels, 3 tokens"), result.err());
        assertEquals(user("[3]What is it?") + OPEN, sent(0));
        assertEquals("\n" + user("And now?") + OPEN, sent(1), "only what is new");
        assertEquals("\n", sent(2));
        assertEquals(1, cli.engine.requests.get(2).media().size());
        assertEquals("\n" + user("[3]Again?") + OPEN, sent(3));
        assertEquals(2, cli.engine.requests.get(3).media().size());
    }

    @Test
    void aChangedMessageKeepsItsPictures() {
        assertEquals(
                0,
                chat("" + fox, "What is <__media__>?", "/edit Who is <__media__>?")
                        .status());
        assertEquals(user("What is [3]?") + OPEN, sent(0));
        assertTrue(sent(1).endsWith("o is [3]?<|im_end|>\n" + OPEN), sent(1));
    }

    @Test
    void aPathAloneOnItsLineIsAPicture() throws IOException {
        String plain = fox.toString();
        List<String> forms = List.of(
                plain,
                " '" + plain + "' ",
                '"' + plain + '"',
                plain.replace(" ", "\\ ").replace("(", "\\(").replace(")", "\\)"),
                fox.toUri().toString());
        List<String> lines = new ArrayList<>();
        forms.forEach(form -> lines.addAll(List.of(form, "It?", "/clear")));
        assertEquals(0, chat(lines.toArray(String[]::new)).status());
        assertEquals(forms.size(), cli.engine.requests.size());
        for (int i = 0; i < forms.size(); i++) {
            assertEquals(1, cli.engine.requests.get(i).media().size(), forms.get(i));
        }
        Files.writeString(folder.resolve("text.txt"), "no picture");
        for (String message : List.of(
                folder.resolve("no such.png").toUri() + "",
                folder.resolve("text.txt").toUri() + "",
                "see " + plain)) {
            assertEquals(0, chat(message).status());
            assertEquals(0, cli.engine.requests.getLast().media().size(), message);
        }
    }

    @Test
    void whatTheModelDoesNotTakeIsRefused() {
        cli.engine.media = Set.of(MediaKind.SOUND);
        TestCli.Result result = chat("/image " + fox, "It?");
        assertEquals(1, result.status());
        assertTrue(result.err().contains("--mmproj") && result.err().endsWith("[STATE-002]\n"), result.err());
        assertEquals(0, cli.engine.requests.size());
        assertEquals(2, cli.run("run", "--image", "" + fox, "It?").status());
    }

    @Test
    void aPictureThatDoesNotFitStaysForAShorterMessage() {
        cli.engine.context = 60;
        TestCli.Result result = chat("/image " + fox, "x".repeat(60), "It?");
        assertEquals(1, result.status(), result.err());
        assertEquals(1, cli.engine.requests.size());
        assertEquals(user("[3]It?") + OPEN, sent(0));
    }

    @Test
    void savedConversationsHaveMarksForPictures() throws IOException {
        Path file = folder.resolve("talk.md");
        TestCli.Result result = chat("/image " + fox, "Is <__media__> red?", "/save " + file);
        assertTrue(result.err().contains("without pictures and sounds"), result.err());
        String saved = Files.readString(file);
        assertTrue(saved.contains("Is <__media__> red?"), saved);
        assertFalse(saved.contains("\uFFFC"), saved);
    }
}

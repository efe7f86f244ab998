package dev.tenon.itest.framework;

import static dev.tenon.itest.framework.Manager.BACKEND;
import static dev.tenon.itest.framework.Manager.FORMATS;
import static dev.tenon.itest.framework.Manager.GEMMA;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.api.engine.Engine;
import dev.tenon.api.engine.GeneratedToken;
import dev.tenon.api.engine.GenerationListener;
import dev.tenon.api.engine.GenerationRequest;
import dev.tenon.api.engine.LoadRequest;
import dev.tenon.api.engine.LoadedModel;
import dev.tenon.api.engine.PromptMedia;
import dev.tenon.api.engine.Session;
import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Size;
import dev.tenon.api.text.SamplingParams;
import dev.tenon.itest.framework.Osgi.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.osgi.framework.Bundle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Chats about a picture, each of which encodes it, go on while the bundle of the encoder and of the model, that of
/// the formats and that of the backend are updated, and while the first of them is stopped and started. All rows and
/// answers are those of an undisturbed model. `-Dtenon.itest.updates=50` sets how often.
///
/// Long: updates wait until all chats were seen at work, in both frameworks.
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
class PictureMovesIT {
    private static final Logger LOG = LoggerFactory.getLogger(PictureMovesIT.class);
    private static final Path GOLDEN = Path.of("../golden/src/test/resources/golden/vision");
    private static final int UPDATES = Integer.getInteger("tenon.itest.updates", 2);
    private static final List<String> PIECES = List.of(GEMMA, FORMATS, BACKEND);
    private static final int TOKENS = 40;

    @TempDir
    Path folder;

    private final AtomicInteger moves = new AtomicInteger();
    private volatile boolean over;

    /// What a chat has to come to.
    private record Answer(List<float[]> rows, List<Integer> tokens) {}

    /// A chat that is held again and again.
    private final class Chat {
        final LoadedModel model;
        final Picture picture;
        final Answer expected;
        /// A permit for each encoded picture, and one for each token.
        final Semaphore encoded = new Semaphore(0);

        final Semaphore heard = new Semaphore(0);
        Future<Integer> times;

        Chat(LoadedModel model, Picture picture) {
            this.model = model;
            this.picture = picture;
            this.expected = hold();
        }

        private Answer hold() {
            PromptMedia media = model.encode(picture);
            encoded.release();
            List<Integer> tokens = new ArrayList<>();
            try (Session session = model.newSession()) {
                session.generate(request(media), new GenerationListener() {
                    @Override
                    public void onText(String text) {}

                    @Override
                    public void onToken(GeneratedToken token) {
                        tokens.add(token.id());
                        heard.release();
                    }

                    @Override
                    public void onMoved(String reason) {
                        moves.incrementAndGet();
                    }
                });
            }
            return new Answer(
                    IntStream.range(0, media.rows()).mapToObj(media::row).toList(), tokens);
        }

        private GenerationRequest request(PromptMedia media) {
            IntStream before = IntStream.of(model.tokenizer().encode("See ", true, false));
            IntStream after = IntStream.of(model.tokenizer().encode("What is it?", false, false));
            return GenerationRequest.builder()
                    .prompt(IntStream.concat(IntStream.concat(before, IntStream.of(media.tokens())), after)
                            .toArray())
                    .media(List.of(media))
                    .sampling(SamplingParams.greedy())
                    .maxNewTokens(TOKENS)
                    .ignoreEndOfGeneration(true)
                    .build();
        }

        int again() {
            int count = 0;
            for (; !over; count++) {
                Answer found = hold();
                assertArrayEquals(expected.rows.toArray(), found.rows.toArray(), "rows of " + picture.size());
                assertEquals(expected.tokens, found.tokens, "answer to " + picture.size());
            }
            return count;
        }

        void await(Semaphore what) throws Exception {
            what.drainPermits();
            while (!what.tryAcquire(1, TimeUnit.SECONDS)) {
                if (times.isDone()) {
                    times.get(); // throws why
                    throw new AssertionError("a chat ended early");
                }
            }
        }
    }

    private static Picture picture(String name, int width, int height) throws IOException {
        return Picture.of(new Size(width, height), Files.readAllBytes(GOLDEN.resolve("images/" + name + ".rgb")));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void rowsAndAnswersAreThoseOfAnUndisturbedModel(Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, folder.resolve("cache"), true)) {
            osgi.startEverything();
            Manager manager = new Manager(osgi);
            List<Picture> pictures = List.of(picture("wide", 150, 44), picture("tall", 33, 120));
            LoadRequest request = LoadRequest.builder(GOLDEN.resolve("gemma3.text.gguf"))
                    .companion(GOLDEN.resolve("gemma3.mmproj.gguf"))
                    .maxSequences(pictures.size())
                    .settings(Map.of("media.cache.mb", "0", "prefix.cache", "off"))
                    .build();
            try (LoadedModel model = osgi.service(Engine.class).load(request);
                    ExecutorService threads = Executors.newFixedThreadPool(pictures.size())) {
                List<Chat> chats =
                        pictures.stream().map(each -> new Chat(model, each)).toList();
                chats.forEach(chat -> chat.times = threads.submit(chat::again));
                try {
                    for (int round = 1; round <= UPDATES; round++) {
                        for (String piece : PIECES) {
                            awaitWork(chats, round);
                            String version = "1.0." + round;
                            String done = manager.apply(Manager.version(piece, version, folder));
                            assertTrue(done.endsWith(" was replaced by " + piece + " " + version), done);
                        }
                        awaitWork(chats, round);
                        Bundle encoders = manager.bundles(GEMMA).getFirst();
                        encoders.stop();
                        encoders.start();
                    }
                    awaitWork(chats, 0);
                } finally {
                    over = true;
                }
                int held = 0;
                for (Chat chat : chats) {
                    held += chat.times.get();
                }
                assertTrue(moves.get() > 0, "no answer was moved");
                LOG.info("{}: {} rounds, {} answers, {} moves", kind, UPDATES, held, moves);
                for (Chat chat : chats) {
                    assertEquals(chat.expected.tokens, chat.hold().tokens);
                }
            }
        }
    }

    /// Waits until every chat has encoded its picture again, and then, every other time, got another token.
    private static void awaitWork(List<Chat> chats, int round) throws Exception {
        for (Chat chat : chats) {
            chat.await(chat.encoded);
            if (round % 2 == 0) {
                chat.await(chat.heard);
            }
        }
    }
}

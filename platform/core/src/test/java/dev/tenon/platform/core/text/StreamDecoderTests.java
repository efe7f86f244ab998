package dev.tenon.platform.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tenon.api.text.StreamDecoder;
import dev.tenon.api.text.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Decoding piece by piece.
class StreamDecoderTests {
    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa.gguf", "gemma2.gguf"})
    void anySequenceOfBytesGivesTheSameTextAsAWhole(String name) {
        Tokenizer tokenizer = TextTestData.tokenizer(name);
        int[] likely = {
            0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff
        };
        int[] ofByte = byteTokens(tokenizer);
        for (int seed = 0; seed < 20_000; seed++) {
            Random random = new Random(seed);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            StringBuilder text = new StringBuilder();
            StreamDecoder decoder = tokenizer.decoder();
            int n = random.nextInt(12);
            for (int i = 0; i < n; i++) {
                int b = random.nextBoolean() ? likely[random.nextInt(likely.length)] : random.nextInt(256);
                bytes.write(b);
                text.append(decoder.next(ofByte[b]));
            }
            text.append(decoder.finish());
            assertEquals(bytes.toString(StandardCharsets.UTF_8), text.toString(), "seed " + seed);
            assertEquals("", decoder.finish());
        }
    }

    private static int[] byteTokens(Tokenizer tokenizer) {
        int[] ids = new int[256];
        for (int id = tokenizer.vocabularySize() - 1; id >= 0; id--) {
            byte[] bytes = tokenizer.bytes(id);
            if (bytes.length == 1) {
                ids[bytes[0] & 0xff] = id;
            }
        }
        return ids;
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama-gqa.gguf", "mistral-like.gguf", "gemma2.gguf", "story-llama.gguf"})
    void randomTokensGiveWholeCharactersOnly(String name) {
        Tokenizer tokenizer = TextTestData.tokenizer(name);
        for (int seed = 0; seed < 2000; seed++) {
            String text = TextTestData.randomText(new Random(seed), 20).replace("\ufffd", "");
            StreamDecoder decoder = tokenizer.decoder();
            StringBuilder out = new StringBuilder();
            for (int id : tokenizer.encode(text, true, false)) {
                String piece = decoder.next(id);
                assertFalse(piece.contains("\ufffd"), "half a character, seed " + seed);
                out.append(piece);
            }
            assertEquals("", decoder.finish());
            assertEquals(text, out.toString());
        }
    }

    @Test
    void cutCharacterIsKeptBackAndShownAsReplacementAtTheEnd() {
        Tokenizer tokenizer = TextTestData.tokenizer("gemma2.gguf");
        int[] ids = tokenizer.encode("😀", false, false);
        assertEquals(4, ids.length);
        StreamDecoder decoder = tokenizer.decoder();
        for (int i = 0; i < 3; i++) {
            assertEquals("", decoder.next(ids[i]));
        }
        assertEquals("\ufffd", decoder.finish());
    }

    @Test
    void onlyTheBlankOfTheEncoderIsDropped() {
        Tokenizer prefix = TextTestData.tokenizer("mistral-like.gguf");
        assertEquals("  a", prefix.decode(prefix.encode("  a", true, false)));
        int[] the = prefix.encode("the", false, false);
        assertEquals("the", prefix.decode(the));
        StreamDecoder decoder = prefix.decoder();
        StringBuilder twice = new StringBuilder();
        for (int round = 0; round < 2; round++) {
            for (int id : the) {
                twice.append(decoder.next(id));
            }
        }
        assertEquals("the the", twice.append(decoder.finish()).toString());
        Tokenizer plain = TextTestData.tokenizer("gemma2.gguf");
        assertEquals(" a", plain.decode(plain.encode(" a", true, false)));
    }
}

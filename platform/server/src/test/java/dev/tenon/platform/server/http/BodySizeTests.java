package dev.tenon.platform.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BodySizeTests {
    private static long of(String body, int piece) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        BodySize size = new BodySize();
        for (int i = 0; i < bytes.length; i += piece) {
            byte[] next = new byte[Math.min(piece, bytes.length - i)];
            System.arraycopy(bytes, i, next, 0, next.length);
            size.add(next, next.length);
        }
        return size.withoutFiles();
    }

    private static String base64(int bytes) {
        byte[] file = new byte[bytes];
        new Random(7).nextBytes(file);
        return Base64.getEncoder().encodeToString(file);
    }

    @Test
    void filesDoNotCount() {
        String body = "{\"url\":\"data:image/png;base64,%s\"}";
        for (int piece : new int[] {1, 100, 8192}) {
            // The comma before a file ends what stands before, and the padding ends the file.
            assertEquals(body.length() - 2 + 2, of(body.formatted(base64(100_000)), piece));
            assertEquals(body.length() - 2, of(body.formatted(base64(99_999).replace("/", "\\/")), piece));
        }
    }

    @Test
    void allElseCounts() {
        for (String body : new String[] {
            "", "{}", "Once upon a time, ".repeat(1000), "[0,".repeat(1000), base64(768), "\u00e9".repeat(2000)
        }) {
            assertEquals(body.getBytes(StandardCharsets.UTF_8).length, of(body, 100), body);
        }
    }

    @Test
    void severalFilesAreLeftOut() {
        String file = base64(3000);
        assertEquals(3, of(file + "\",\"" + file, 64));
    }
}

package dev.tenon.api.media;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Sizes and pixels against what llama.cpp makes of the same pictures.
class PictureRuleTests {
    /// A model's line and those below it.
    private record Model(String name, PictureRule rule, List<String[]> cases) {}

    @Test
    void sizesAreThoseOfEachModel() throws IOException {
        int count = 0;
        for (Model model : models("sizes.txt")) {
            for (String[] line : model.cases()) {
                int[] numbers = Arrays.stream(line).mapToInt(Integer::parseInt).toArray();
                List<Size> expected = new ArrayList<>();
                for (int i = 2; i < numbers.length; i += 3) {
                    for (int n = 0; n < numbers[i]; n++) {
                        expected.add(new Size(numbers[i + 1], numbers[i + 2]));
                    }
                }
                Size picture = new Size(numbers[0], numbers[1]);
                assertEquals(expected, sizes(model.rule().pieces(picture)), model.name() + " " + picture);
                count++;
            }
        }
        assertEquals(336, count);
    }

    @Test
    void pixelsAreThoseOfEachModel() throws Exception {
        int count = 0;
        for (Model model : models("pixels.txt")) {
            for (String[] line : model.cases()) {
                String what = model.name() + " " + line[0];
                Picture picture = picture(line[0]);
                List<Picture> pieces = model.rule().apply(picture);
                assertEquals(
                        Arrays.asList(line).subList(1, line.length - 1),
                        pieces.stream()
                                .map(piece -> piece.size().width() + "x"
                                        + piece.size().height())
                                .toList(),
                        what);
                assertEquals(
                        sizes(model.rule().pieces(picture.size())),
                        pieces.stream().map(Picture::size).toList(),
                        what);
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                pieces.forEach(piece -> digest.update(piece.rgb()));
                assertEquals(line[line.length - 1], HexFormat.of().formatHex(digest.digest()), what);
                count++;
            }
        }
        assertEquals(52, count);
    }

    @Test
    void normalisedSamplesAreTheSameNumbers() throws Exception {
        float[] mean = {0.48145466f, 0.4578275f, 0.40821073f};
        float[] std = {0.26862954f, 0.26130258f, 0.27577711f};
        float[] values = Normalisation.of(mean, std)
                .apply(Rules.of("mlp", Map.of("image_size", 56, "patch_size", 14))
                        .apply(picture("wide"))
                        .getFirst());
        ByteBuffer bytes = ByteBuffer.allocate(values.length * 4).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes.array());
        assertEquals(
                "c55a4f83286152f9777aa0eb6f66a1f5c405c44fb7c3bd1d20d869723c375e28",
                HexFormat.of().formatHex(digest));
    }

    @Test
    void aStretchedPictureHasNoBorder() throws IOException {
        PictureRule rule = Rules.of("gemma3", Map.of("image_size", 84, "patch_size", 14));
        Picture white = Picture.of(new Size(150, 44), (_, row) -> Arrays.fill(row, (byte) -1));
        assertEquals(0, rule.apply(white).getFirst().sample(0, 0, 0));
        assertEquals(255, rule.stretched().apply(white).getFirst().sample(0, 0, 0));
        PictureRule tiled = Rules.of("llama4", Map.of("image_size", 56, "patch_size", 14));
        assertNotEquals(
                tiled.apply(white).getFirst(), tiled.stretched().apply(white).getFirst());
        assertFalse(tiled.stretched().tiling().resizing().letterbox());
    }

    @Test
    void samplesAreCopiedAndChecked() {
        byte[] rgb = {1, 2, 3, 4, 5, 6};
        Picture picture = Picture.of(new Size(2, 1), rgb);
        rgb[0] = 9;
        picture.rgb()[1] = 9;
        assertEquals(1, picture.sample(0, 0, 0));
        assertEquals(2, picture.sample(0, 0, 1));
        assertEquals(6, picture.sample(1, 0, 2));
        assertEquals(Picture.of(new Size(1, 1), new byte[] {4, 5, 6}), picture.cut(1, 0, new Size(1, 1)));
        assertThrows(IndexOutOfBoundsException.class, () -> picture.sample(2, 0, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> picture.sample(0, 1, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> picture.sample(0, 0, 3));
        assertThrows(IndexOutOfBoundsException.class, () -> picture.cut(1, 0, new Size(2, 1)));
        assertThrows(IllegalArgumentException.class, () -> Picture.of(new Size(2, 2), rgb));
        assertThrows(IllegalArgumentException.class, () -> new Size(0, 1));
        assertThrows(
                IllegalArgumentException.class, () -> Resampling.BILINEAR.resize(picture, new Size(60_000, 60_000)));
    }

    private static List<Size> sizes(List<Piece> pieces) {
        return pieces.stream().map(Piece::size).toList();
    }

    private static List<Model> models(String file) throws IOException {
        List<Model> models = new ArrayList<>();
        for (String line :
                new String(read(file), StandardCharsets.UTF_8).lines().toList()) {
            String[] words = line.strip().split(" ");
            if (line.startsWith(" ")) {
                models.getLast().cases().add(words);
            } else if (!line.startsWith("#")) {
                Map<String, Integer> keys = new HashMap<>();
                for (String word : Arrays.asList(words).subList(2, words.length)) {
                    String[] pair = word.split("=");
                    keys.put(pair[0], Integer.parseInt(pair[1]));
                }
                models.add(new Model(words[0], Rules.of(words[1], keys), new ArrayList<>()));
            }
        }
        return models;
    }

    private static Picture picture(String name) throws IOException {
        Size size = switch (name) {
            case "wide" -> new Size(150, 44);
            case "square" -> new Size(61, 57);
            case "tall" -> new Size(33, 120);
            case "grey" -> new Size(40, 31);
            case "alpha" -> new Size(52, 35);
            case "line" -> new Size(1, 37);
            case "palette" -> new Size(29, 46);
            case "deep16" -> new Size(47, 30);
            default -> throw new IllegalArgumentException(name);
        };
        return Picture.of(size, read(name + ".rgb"));
    }

    private static byte[] read(String file) throws IOException {
        try (InputStream in = PictureRuleTests.class.getResourceAsStream("/media/" + file)) {
            return in.readAllBytes();
        }
    }
}

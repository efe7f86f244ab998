package dev.tenon.itest.framework;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.api.media.Picture;
import dev.tenon.api.media.Size;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.osgi.framework.Bundle;

/// Pictures inside a framework, where the reader of WebP lies in the bundle's own jar.
class MediaIT {
    private static final Path FILES = Path.of("../../platform/media/src/test/resources/media");

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource
    void picturesAreReadInsideAFramework(Osgi.Kind kind) throws Exception {
        try (Osgi osgi = new Osgi(kind, folder, true)) {
            Bundle bundle = osgi.start(List.of(Jars.ours("platform-media"))).getFirst();
            Class<?> budget = bundle.loadClass("dev.tenon.platform.media.PictureBudget");
            Class<?> reader = bundle.loadClass("dev.tenon.platform.media.PictureReader");
            Object made = reader.getConstructor(budget, boolean.class)
                    .newInstance(budget.getMethod("defaults").invoke(null), true);
            for (String name : List.of("lossless.webp", "lossy.webp", "small.bmp", "palette.gif", "progressive.jpg")) {
                Object picture = reader.getMethod("read", Path.class).invoke(made, FILES.resolve(name));
                assertEquals(new Size(40, 30), ((Picture) picture).size(), name);
            }
        }
    }
}

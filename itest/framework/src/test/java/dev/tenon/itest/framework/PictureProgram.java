package dev.tenon.itest.framework;

import dev.tenon.api.media.Picture;
import dev.tenon.platform.media.MediaException;
import dev.tenon.platform.media.PictureBudget;
import dev.tenon.platform.media.PictureReader;
import java.nio.file.Path;

/// Runs in a JVM of its own: a program that reads files of pictures, and prints their sizes or why they are not read.
final class PictureProgram {
    private PictureProgram() {}

    /// Reads pictures.
    ///
    /// @param args their files
    public static void main(String[] args) {
        PictureReader reader = new PictureReader(PictureBudget.defaults(), true);
        for (String file : args) {
            try {
                Picture picture = reader.read(Path.of(file));
                System.out.println("read " + picture.size());
            } catch (MediaException e) {
                System.out.println("refused " + e.getMessage());
            }
        }
    }
}

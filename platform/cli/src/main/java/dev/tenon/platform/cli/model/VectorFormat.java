package dev.tenon.platform.cli.model;

import dev.tenon.platform.cli.text.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// How vectors are written; the names are those of `--format`.
enum VectorFormat {
    /// A vector a line, its numbers with blanks between.
    text {
        @Override
        void write(String model, List<float[]> vectors, OutputStream out) throws IOException {
            lines(vectors, " ", out);
        }
    },
    /// A vector a line, its numbers with commas between.
    csv {
        @Override
        void write(String model, List<float[]> vectors, OutputStream out) throws IOException {
            lines(vectors, ",", out);
        }
    },
    /// One object: the model, the length of its vectors, the vectors.
    json {
        @Override
        void write(String model, List<float[]> vectors, OutputStream out) throws IOException {
            String text = Json.line(json -> {
                json.writeStartObject();
                json.writeStringField("model", model);
                json.writeNumberField("dimensions", vectors.getFirst().length);
                json.writeArrayFieldStart("embeddings");
                for (float[] vector : vectors) {
                    json.writeStartArray();
                    for (float value : vector) {
                        json.writeNumber(value);
                    }
                    json.writeEndArray();
                }
                json.writeEndArray();
                json.writeEndObject();
            });
            out.write((text + "\n").getBytes(StandardCharsets.UTF_8));
        }
    },
    /// NumPy's own format, version 1.0: a header of text, then float32 row by row.
    npy {
        private static final int ALIGNMENT = 64;
        private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};

        @Override
        void write(String model, List<float[]> vectors, OutputStream out) throws IOException {
            String shape = vectors.size() + ", " + vectors.getFirst().length;
            String header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
            int before = MAGIC.length + Short.BYTES;
            int length = Math.ceilDiv(before + header.length() + 1, ALIGNMENT) * ALIGNMENT - before;
            out.write(MAGIC);
            out.write(length & 0xff);
            out.write(length >>> 8);
            out.write((header + " ".repeat(length - header.length() - 1) + "\n").getBytes(StandardCharsets.US_ASCII));
            for (float[] vector : vectors) {
                out.write(ResultOutput.littleEndian(vector));
            }
        }
    };

    /// Writes vectors.
    ///
    /// @param model the model's name
    /// @param vectors at least one, of one length
    /// @param out where to
    abstract void write(String model, List<float[]> vectors, OutputStream out) throws IOException;

    private static void lines(List<float[]> vectors, String between, OutputStream out) throws IOException {
        for (float[] vector : vectors) {
            StringBuilder line = new StringBuilder();
            for (float value : vector) {
                line.append(line.isEmpty() ? "" : between).append(value);
            }
            out.write(line.append('\n').toString().getBytes(StandardCharsets.US_ASCII));
        }
    }
}

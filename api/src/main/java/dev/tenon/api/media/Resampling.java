package dev.tenon.api.media;

/// How the pixels of another size are made of those that there are. Both ways are llama.cpp's, bit
/// for bit: without antialiasing, in float32, rounded to 8 bits at the end.
public enum Resampling {
    /// Linear between the four neighbours, the corners of both sizes aligned; the result is truncated.
    BILINEAR {
        @Override
        void run(byte[] from, Size size, byte[] to, Size wanted) {
            float xRatio = ratio(size.width(), wanted.width());
            float yRatio = ratio(size.height(), wanted.height());
            int out = 0;
            for (int y = 0; y < wanted.height(); y++) {
                int top = (int) (y * yRatio);
                int bottom = Math.min(top + 1, size.height() - 1);
                float down = y * yRatio - top;
                for (int x = 0; x < wanted.width(); x++) {
                    int left = (int) (x * xRatio);
                    int right = Math.min(left + 1, size.width() - 1);
                    float along = x * xRatio - left;
                    for (int channel = 0; channel < 3; channel++) {
                        float above = line(from, size, left, right, top, channel, along);
                        float below = line(from, size, left, right, bottom, channel, along);
                        to[out++] = (byte) (int) (above + (below - above) * down);
                    }
                }
            }
        }
    },

    /// The cubic through four points, along x and then along y, the upper left corners of both sizes
    /// aligned; the result is rounded half up.
    BICUBIC {
        @Override
        void run(byte[] from, Size size, byte[] to, Size wanted) {
            float xRatio = (float) size.width() / wanted.width();
            float yRatio = (float) size.height() / wanted.height();
            float[][] rows = new float[4][wanted.width() * 3];
            int[] held = {-1, -1, -1, -1};
            float[][] near = new float[4][];
            int out = 0;
            for (int y = 0; y < wanted.height(); y++) {
                int first = (int) (y * yRatio);
                float down = y * yRatio - first;
                for (int i = 0; i < 4; i++) {
                    int row = Math.clamp(first - 1 + i, 0, size.height() - 1);
                    int slot = row & 3;
                    if (held[slot] != row) {
                        held[slot] = row;
                        stretchRow(from, size.width(), row, rows[slot], xRatio);
                    }
                    near[i] = rows[slot];
                }
                for (int i = 0; i < near[0].length; i++) {
                    float value = cubic(near[0][i], near[1][i], near[2][i], near[3][i], down);
                    to[out++] = (byte) Math.clamp((int) Math.floor(value + 0.5), 0, 255);
                }
            }
        }
    };

    abstract void run(byte[] from, Size size, byte[] to, Size wanted);

    /// Makes a picture of another size.
    ///
    /// @param picture the picture
    /// @param wanted the size
    /// @return a new picture, or the same if it has the size
    /// @throws IllegalArgumentException if the size is too large for a picture
    public Picture resize(Picture picture, Size wanted) {
        if (picture.size().equals(wanted)) {
            return picture;
        }
        byte[] samples = Picture.allocate(wanted);
        run(picture.samples(), picture.size(), samples, wanted);
        return new Picture(wanted, samples);
    }

    private static float ratio(int from, int to) {
        return to == 1 ? 0 : (float) (from - 1) / (to - 1);
    }

    private static float line(byte[] from, Size size, int left, int right, int row, int channel, float along) {
        float a = from[(row * size.width() + left) * 3 + channel] & 0xff;
        float b = from[(row * size.width() + right) * 3 + channel] & 0xff;
        return a + (b - a) * along;
    }

    private static void stretchRow(byte[] from, int width, int row, float[] to, float ratio) {
        int start = row * width * 3;
        for (int x = 0; x < to.length / 3; x++) {
            int first = (int) (x * ratio);
            float along = x * ratio - first;
            int a = start + Math.clamp(first - 1, 0, width - 1) * 3;
            int b = start + Math.clamp(first, 0, width - 1) * 3;
            int c = start + Math.clamp(first + 1, 0, width - 1) * 3;
            int d = start + Math.clamp(first + 2, 0, width - 1) * 3;
            for (int channel = 0; channel < 3; channel++) {
                to[x * 3 + channel] = cubic(
                        from[a + channel] & 0xff,
                        from[b + channel] & 0xff,
                        from[c + channel] & 0xff,
                        from[d + channel] & 0xff,
                        along);
            }
        }
    }

    /// The value at `t` between the second and the third of four points.
    private static float cubic(float before, float at, float next, float last, float t) {
        float d0 = before - at;
        float d2 = next - at;
        float d3 = last - at;
        float a1 = (float) (-1.0 / 3 * d0 + d2 - 1.0 / 6 * d3);
        float a2 = (float) (1.0 / 2 * d0 + 1.0 / 2 * d2);
        float a3 = (float) (-1.0 / 6 * d0 - 1.0 / 2 * d2 + 1.0 / 6 * d3);
        return at + a1 * t + a2 * t * t + a3 * t * t * t;
    }
}

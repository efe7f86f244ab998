package dev.tenon.platform.cli.chat;

import dev.tenon.platform.cli.TenonCommand;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jline.terminal.impl.ExternalTerminal;

/// Terminals on which lines are typed, each when the prompt for it has been shown.
public final class TestTerminals {
    private TestTerminals() {}

    /// Gives a command that chats such a terminal; does nothing to others.
    public static void type(TenonCommand command, List<String> lines) {
        Talk.Opener terminal = () -> {
            Screen screen = new Screen();
            return new ExternalTerminal("test", "xterm", new Keys(lines, screen), screen, StandardCharsets.UTF_8);
        };
        switch (command) {
            case RunCommand run -> run.terminal = terminal;
            case ChatCommand chat -> chat.terminal = terminal;
            default -> {}
        }
    }

    private static final class Screen extends ByteArrayOutputStream {
        @Override
        public synchronized void write(int b) {
            super.write(b);
            notifyAll();
        }

        @Override
        public synchronized void write(byte[] bytes, int offset, int length) {
            super.write(bytes, offset, length);
            notifyAll();
        }

        synchronized void awaitPrompts(int number) throws InterruptedException {
            while (toString(StandardCharsets.UTF_8).split("> ", -1).length <= number) {
                wait();
            }
        }
    }

    private static final class Keys extends InputStream {
        private final List<byte[]> lines;
        private final Screen screen;
        private int line;
        private int next;

        Keys(List<String> lines, Screen screen) {
            this.lines = lines.stream()
                    .map(text -> text.getBytes(StandardCharsets.UTF_8))
                    .toList();
            this.screen = screen;
        }

        @Override
        public int read() throws IOException {
            if (line == lines.size()) {
                return -1;
            }
            try {
                screen.awaitPrompts(line + 1);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            byte[] bytes = lines.get(line);
            int key = bytes[next++];
            if (next == bytes.length) {
                line++;
                next = 0;
            }
            return key;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int key = read();
            if (key < 0) {
                return -1;
            }
            bytes[offset] = (byte) key;
            return 1;
        }
    }
}

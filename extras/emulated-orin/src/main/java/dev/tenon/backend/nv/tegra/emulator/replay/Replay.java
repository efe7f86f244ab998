package dev.tenon.backend.nv.tegra.emulator.replay;

import dev.tenon.backend.nv.tegra.emulator.EmulatedOrin;
import dev.tenon.backend.nv.tegra.emulator.board.AddressSpace;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatedChannel;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatedGpu;
import dev.tenon.backend.nv.tegra.emulator.board.EmulatorOptions;
import dev.tenon.backend.nv.tegra.emulator.board.Host;
import dev.tenon.backend.nv.tegra.emulator.board.MemoryTracker;
import dev.tenon.backend.nv.tegra.emulator.launch.GpuFault;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamFile;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamRecorder;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Executes a recorded stream again, on memory as the stream says it was, and compares every launch
/// and every page that the GPU changes. For one thread.
public final class Replay {
    private final EmulatedOrin orin = new EmulatedOrin(EmulatorOptions.orin());
    private final EmulatedGpu gpu = orin.board().gpu();
    private final AddressSpace addressSpace = new AddressSpace(orin.board(), 1 << 21, 1L << 40);
    private final MemoryTracker tracker = new MemoryTracker(addressSpace);
    private final Map<Integer, Host> hosts = new HashMap<>();
    private final Deque<String> did = new ArrayDeque<>();
    private final Recorded recorded = new Recorded();
    private int entries;
    private int launches;
    private String difference;

    private Replay() {}

    /// What a replay found.
    ///
    /// @param entries ring entries that were executed
    /// @param launches launches in them
    /// @param difference the first thing that was not as recorded, or empty
    public record Outcome(int entries, int launches, Optional<String> difference) {}

    /// Replays a stream that was recorded from the opening of a device on.
    ///
    /// @param in the stream; the caller closes it
    /// @return what was found
    /// @throws IOException if it cannot be read
    public static Outcome of(InputStream in) throws IOException {
        Replay replay = new Replay();
        try {
            replay.gpu.recorder = replay.new Done();
            StreamFile.read(in, replay.recorded);
            return new Outcome(replay.entries, replay.launches, Optional.ofNullable(replay.difference));
        } finally {
            replay.addressSpace.released();
            replay.orin.close();
        }
    }

    private void differs(String text) {
        if (difference == null) {
            difference = "ring entry " + entries + ", launch " + launches + ": " + text;
        }
    }

    /// The recorded stream says what was done: the replay did it too, in the same order.
    private void expect(String what) {
        String own = did.poll();
        if (!what.equals(own)) {
            differs("recorded: " + what + "; replayed: " + (own == null ? "nothing" : own));
        }
    }

    private static String launch(String kernel, byte[] qmd, byte[] bank0) {
        return String.format("launch of %s, descriptor %08x, bank 0 %08x", kernel, hash(qmd), hash(bank0));
    }

    private static int hash(byte[] bytes) {
        return Arrays.hashCode(bytes);
    }

    private static String page(long va, int crc) {
        return String.format("page 0x%x changed to CRC-32 %08x", va, crc);
    }

    private Host host(int token) {
        return hosts.computeIfAbsent(token, t -> {
            EmulatedChannel channel = new EmulatedChannel(orin.board(), t);
            channel.addressSpace = addressSpace;
            channel.objects.addAll(List.of(0xC7C0, 0xC7B5));
            return new Host(gpu, channel);
        });
    }

    /// What the replayed GPU does.
    private final class Done implements StreamRecorder {
        @Override
        public void launch(int token, String kernel, byte[] qmd, byte[] bank0) {
            did.add(Replay.launch(kernel, qmd, bank0));
        }

        @Override
        public void changed(int token, long va, int crc) {
            did.add(page(va, crc));
        }
    }

    /// What the stream holds. After a difference memory is another, so that nothing more is executed.
    private final class Recorded implements StreamRecorder {
        @Override
        public void code(byte[] cubin) {
            orin.loads(cubin);
        }

        @Override
        public void mapped(long va, long bytes) {
            addressSpace.place(va, bytes);
        }

        @Override
        public void unmapped(long va) {
            addressSpace.displace(va);
        }

        @Override
        public void written(long va, byte[] page) {
            AddressSpace.Mapping mapping = addressSpace.at(va);
            if (mapping == null) {
                differs(String.format("a page at 0x%x, where no buffer is", va));
                return;
            }
            mapping.buffer
                    .pages()
                    .asSlice(va - mapping.va, page.length)
                    .copyFrom(java.lang.foreign.MemorySegment.ofArray(page));
        }

        @Override
        public void words(int token, long va, int[] words) {
            if (difference != null) {
                return;
            }
            entries++;
            // The processor's changes are known from here on.
            tracker.processor(new StreamRecorder() {});
            Host host = host(token);
            try {
                host.enter(words);
                if (!host.execute()) {
                    differs("channel " + token + " waits for a semaphore");
                }
                host.compute.drain();
            } catch (GpuFault fault) {
                differs(fault.getMessage());
            }
            tracker.gpu(token, gpu.recorder);
        }

        @Override
        public void launch(int token, String kernel, byte[] qmd, byte[] bank0) {
            if (difference == null) {
                launches++;
                expect(Replay.launch(kernel, qmd, bank0));
            }
        }

        @Override
        public void changed(int token, long va, int crc) {
            if (difference == null) {
                expect(page(va, crc));
            }
        }

        @Override
        public void done(int token) {
            if (difference == null && !did.isEmpty()) {
                differs("replayed, but not recorded: " + did.peek());
            }
        }
    }
}

package dev.tenon.backend.nv.tegra.emulator.board;

import dev.tenon.backend.nv.tegra.command.Methods;
import dev.tenon.backend.nv.tegra.emulator.launch.GpuFault;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// The unit that reads command words of one channel: methods of the host, and to which engine the
/// others go.
public final class Host {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final int RELEASE = 1;
    private static final int ACQUIRE_STRICT_GEQ = 2;
    private static final int ACQUIRE_CIRC_GEQ = 3;
    private static final int WAIT_FOR_IDLE_BIT = 1 << 20;
    private static final int PAYLOAD_64 = 1 << 24;
    private static final int TIMESTAMP = 1 << 25;
    private static final int SUBCHANNELS = 8;
    private static final int SOFTWARE_SUBCHANNEL = 5;
    private static final int FIRST_HEADER_BIT = 12;

    final EmulatedChannel channel;
    final GpuView view;
    public final ComputeEngine compute;
    /// Next ring entry to read.
    int get;
    /// PUT when the doorbell rang.
    int limit;

    private final EmulatedGpu gpu;
    private final CopyEngine copy;
    private final int[] classes = new int[SUBCHANNELS];
    private final int[] semaphore = new int[5];
    private int[] words;
    private int at;
    private int start;

    public Host(EmulatedGpu gpu, EmulatedChannel channel) {
        this.gpu = gpu;
        this.channel = channel;
        this.view = new GpuView(channel.addressSpace);
        this.compute = new ComputeEngine(gpu, channel, view);
        this.copy = new CopyEngine(gpu, view);
    }

    boolean hasWork() {
        return words != null || get != limit;
    }

    boolean isInside() {
        return words != null;
    }

    boolean isWaiting() {
        return words != null;
    }

    boolean moved() {
        return at > start;
    }

    public void enter(int[] fetched) {
        words = fetched;
        at = 0;
    }

    int[] words() {
        return words;
    }

    /// Executes until the end of the words.
    ///
    /// @return false if it has to wait for a semaphore, at which it goes on next time
    public boolean execute() {
        start = at;
        while (at < words.length) {
            int header = words[at];
            if (header == 0) {
                at++;
                continue;
            }
            int op = header >>> 29;
            int count = header >>> 16 & 0x1FFF;
            int subchannel = header >>> 13 & 7;
            int method = (header & 0xFFF) << 2;
            if ((header >>> FIRST_HEADER_BIT & 1) != 0 || op == 0 || op == 2 || op == 6) {
                throw GpuFault.pbdma(String.format("method header 0x%08x", header));
            }
            boolean immediate = op == 4;
            if (!immediate && at + count >= words.length) {
                throw GpuFault.pbdma(String.format("method 0x%x has %d words, but they end", method, count));
            }
            for (int i = 0; i < (immediate ? 1 : count); i++) {
                int data = immediate ? count : words[at + 1 + i];
                // 1 counts methods up, 3 does not, 5 once.
                int to = op == 1 ? method + 4 * i : op == 5 && i > 0 ? method + 4 : method;
                if (!method(subchannel, to, data)) {
                    return false;
                }
            }
            at += immediate ? 1 : 1 + count;
        }
        words = null;
        return true;
    }

    private boolean method(int subchannel, int method, int data) {
        if (method == Methods.SET_OBJECT) {
            bind(subchannel, data);
            return true;
        }
        if (method < Methods.FIRST_CLASS_METHOD) {
            return hostMethod(method, data);
        }
        if (subchannel >= SOFTWARE_SUBCHANNEL) {
            throw GpuFault.pbdma("software method on subchannel " + subchannel);
        }
        if (classes[subchannel] == 0) {
            throw GpuFault.pbdma(String.format("method 0x%x on subchannel %d, which has no class", method, subchannel));
        }
        if (subchannel == Methods.COPY) {
            copy.method(method, data);
        } else {
            compute.method(method, data);
        }
        return true;
    }

    private void bind(int subchannel, int number) {
        boolean isCopy = number == 0xC7B5;
        if (!channel.objects.contains(number) || isCopy != (subchannel == Methods.COPY) || subchannel > Methods.COPY) {
            throw GpuFault.pbdma(String.format(
                    "class 0x%x on subchannel %d; the channel has %s", number, subchannel, channel.objects));
        }
        classes[subchannel] = number;
    }

    private boolean hostMethod(int method, int data) {
        switch (method) {
            case Methods.SEM_ADDR_LO, Methods.SEM_ADDR_HI, Methods.SEM_PAYLOAD_LO, Methods.SEM_PAYLOAD_HI -> {
                semaphore[(method - Methods.SEM_ADDR_LO) / 4] = data;
                return true;
            }
            case Methods.SEM_EXECUTE -> {
                return semaphore(data);
            }
            case Methods.NON_STALL_INTERRUPT -> {
                return true;
            }
            case Methods.WFI -> {
                compute.drain();
                return true;
            }
            default -> throw GpuFault.pbdma(String.format("host method 0x%x", method));
        }
    }

    private boolean semaphore(int action) {
        long va = (semaphore[1] & 0xFFL) << 32 | semaphore[0] & 0xFFFFFFFCL;
        long payload = (long) semaphore[3] << 32 | semaphore[2] & 0xFFFFFFFFL;
        boolean wide = (action & PAYLOAD_64) != 0;
        boolean timestamp = (action & TIMESTAMP) != 0;
        int align = timestamp ? 16 : wide ? 8 : 4;
        if ((semaphore[0] & 3) != 0 || va % align != 0 || semaphore[1] >>> 8 != 0) {
            throw GpuFault.semaphore("address 0x" + Long.toHexString(va) + " is no multiple of " + align);
        }
        MemorySegment memory = view.at(va, timestamp ? 16 : wide ? 8 : 4, "semaphore");
        int op = action & 7;
        if (op == RELEASE) {
            if ((action & WAIT_FOR_IDLE_BIT) != 0) {
                compute.drain();
            }
            if (timestamp) {
                LONG.setVolatile(memory, 8L, gpu.clock());
            }
            write(memory, payload, wide);
            return true;
        }
        long found = wide ? (long) LONG.getVolatile(memory, 0L) : (int) INT.getVolatile(memory, 0L) & 0xFFFFFFFFL;
        long distance = wide ? found - payload : (int) (found - payload);
        return switch (op) {
            case 0 -> found == (wide ? payload : payload & 0xFFFFFFFFL);
            case ACQUIRE_STRICT_GEQ -> Long.compareUnsigned(found, payload) >= 0;
            case ACQUIRE_CIRC_GEQ -> distance >= 0;
            case Methods.SEM_ACQUIRE_AND -> (found & payload) != 0;
            case Methods.SEM_ACQUIRE_NOR -> (~(found | payload) & 0xFFFFFFFFL) != 0;
            default -> throw GpuFault.semaphore("operation " + op);
        };
    }

    private static void write(MemorySegment memory, long payload, boolean wide) {
        if (wide) {
            LONG.setVolatile(memory, 0L, payload);
        } else {
            INT.setVolatile(memory, 0L, (int) payload);
        }
    }
}

package dev.tenon.backend.nv.tegra.emulator.board;

import static dev.tenon.backend.nv.tegra.sys.Linux.EBADF;
import static dev.tenon.backend.nv.tegra.sys.Linux.EFAULT;
import static dev.tenon.backend.nv.tegra.sys.Linux.EINVAL;
import static dev.tenon.backend.nv.tegra.sys.Linux.EMFILE;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOENT;

import dev.tenon.backend.nv.tegra.abi.Ioctl;
import dev.tenon.backend.nv.tegra.emulator.launch.KernelLibrary;
import dev.tenon.backend.nv.tegra.emulator.stream.StreamRecorder;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/// A board behind the system calls: nvmap, nvgpu and a GPU, at the level of request numbers and
/// bytes.
///
/// It knows nothing of who calls it but what the calls say. It encodes what is known and believed
/// of the drivers; a wrong belief passes its tests, which is why each test names where its
/// knowledge comes from. Safe for any thread.
public final class EmulatedBoard implements Syscalls, AutoCloseable {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final long DOORBELL = 0x90;
    private static final int NO_TOKEN = -1;
    private static final int CHANNELS = 512;
    private static final int FIRST_FD = 3;
    private static final long LOWEST_ADDRESS = 4096;

    private final EmulatorOptions options;
    private final Faults faults = new Faults();
    private final Map<Integer, EmulatedFile> files = new TreeMap<>();
    private final Map<EmulatedFile, Integer> fileUses = new HashMap<>();
    private final Map<Long, Mapped> mappings = new HashMap<>();
    private final TreeSet<Integer> freeChannels = new TreeSet<>();
    private final List<String> warnings = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment doorbell = arena.allocate(0x10000, 4096);
    private final EmulatedGpu gpu;
    private final Thread watcher;
    private volatile boolean closed;
    private long memoryInUse;
    private String frozen;
    /// Whose call is being answered, if processes are told apart.
    private EmulatedProcess caller;

    /// A mapping into the process.
    private record Mapped(long length, List<Runnable> undo) {}

    /// The machine would have frozen: only its power switch would help.
    public static final class Frozen extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        Frozen(String why) {
            super("The machine froze: " + why);
        }
    }

    /// @param options what board
    /// @param kernels what its GPU can run
    public EmulatedBoard(EmulatorOptions options, KernelLibrary kernels) {
        this.options = options;
        for (int token = 0; token < CHANNELS; token++) {
            freeChannels.add(token);
        }
        gpu = new EmulatedGpu(options, kernels, faults);
        INT.setOpaque(doorbell, DOORBELL, NO_TOKEN);
        watcher = options.threaded()
                ? Thread.ofPlatform().daemon().name("emulated-gpu").start(this::watch)
                : null;
    }

    /// {@return how to make it fail}
    public Faults faults() {
        return faults;
    }

    /// {@return what the kernel would have printed, errors of the GPU included}
    public synchronized List<String> dmesg() {
        List<String> lines = new ArrayList<>(warnings);
        lines.addAll(gpu.log());
        return lines;
    }

    /// {@return what is still open: files, handles, mappings; empty after a device has been closed}
    public synchronized List<String> open() {
        List<String> list = new ArrayList<>();
        files.forEach((fd, file) -> {
            list.add("fd " + fd + ": " + file.describe());
            if (file instanceof Nvmap nvmap) {
                list.addAll(nvmap.openHandles());
            }
            if (file instanceof AddressSpace addressSpace) {
                list.addAll(addressSpace.openMappings());
            }
        });
        mappings.values().stream()
                .map(mapped -> mapped.length)
                .sorted()
                .forEach(bytes -> list.add(bytes + " bytes mapped into the process"));
        if (memoryInUse != 0) {
            list.add(memoryInUse + " bytes of memory");
        }
        return list;
    }

    /// {@return bytes that nvmap has given}
    public synchronized long memoryInUse() {
        return memoryInUse;
    }

    /// Records everything that channels fetch from now on.
    ///
    /// @param recorder receives it; null to stop
    public synchronized void record(StreamRecorder recorder) {
        gpu.record(recorder);
    }

    /// {@return a process that uses the board; the board itself answers calls as one of its own}
    public EmulatedProcess process() {
        return new EmulatedProcess(this);
    }

    /// Answers a call for a process.
    synchronized Long as(EmulatedProcess process, Supplier<Long> call) {
        caller = process;
        try {
            return call.get();
        } finally {
            caller = null;
        }
    }

    public EmulatedGpu gpu() {
        return gpu;
    }

    EmulatorOptions options() {
        return options;
    }

    MemorySegment doorbell() {
        return doorbell;
    }

    void warn(String text) {
        warnings.add(text);
    }

    void freeze(String why) {
        frozen = why;
        throw new Frozen(why);
    }

    boolean takeMemory(long bytes) {
        if (memoryInUse + bytes > options.memoryBytes()) {
            return false;
        }
        memoryInUse += bytes;
        return true;
    }

    void giveMemory(long bytes) {
        memoryInUse -= bytes;
    }

    int takeChannel() {
        Integer token = freeChannels.pollLast();
        return token == null ? -1 : token;
    }

    void giveChannel(int token) {
        freeChannels.add(token);
    }

    EmulatedFile file(int fd) {
        return files.get(fd);
    }

    int newFd(EmulatedFile file) {
        if (files.size() >= options.maxFiles()) {
            file.released();
            return -EMFILE;
        }
        int fd = FIRST_FD;
        while (files.containsKey(fd)) {
            fd++;
        }
        files.put(fd, file);
        fileUses.merge(file, 1, Integer::sum);
        if (caller != null) {
            caller.opened(fd);
        }
        return fd;
    }

    void mapped(long address, long length, Runnable undo) {
        Mapped mapped = mappings.get(address);
        if (mapped == null) {
            mapped = new Mapped(length, new ArrayList<>());
            mappings.put(address, mapped);
        }
        mapped.undo.add(undo);
    }

    private int before(String call) {
        if (closed) {
            throw new IllegalStateException("the emulated board is closed");
        }
        if (frozen != null) {
            throw new Frozen(frozen);
        }
        return faults.next(call);
    }

    @Override
    public synchronized int open(String path, int flags) {
        int fault = before("open " + path);
        if (fault != 0) {
            return -fault;
        }
        return switch (path) {
            case "/dev/nvmap" -> newFd(new Nvmap(this));
            case "/dev/nvgpu/igpu0/ctrl" -> newFd(new Ctrl(this));
            default -> -ENOENT;
        };
    }

    @Override
    public synchronized int close(int fd) {
        if (closed) {
            throw new IllegalStateException("the emulated board is closed");
        }
        EmulatedFile file = files.remove(fd);
        if (file == null) {
            return -EBADF;
        }
        if (fileUses.merge(file, -1, Integer::sum) == 0) {
            fileUses.remove(file);
            file.released();
        }
        return 0;
    }

    @Override
    public synchronized int ioctl(int fd, long request, long argument) {
        EmulatedFile file = files.get(fd);
        if (file == null) {
            return -EBADF;
        }
        int[] errno = new int[1];
        Ioctl known = file.decode(request, errno);
        if (known == null) {
            return errno[0];
        }
        int fault = releases(known) ? 0 : before(known.name());
        if (fault != 0) {
            return -fault;
        }
        if (known.sizeBytes() > 0 && (argument >= 0 && argument < LOWEST_ADDRESS)) {
            return -EFAULT;
        }
        MemorySegment copy = MemorySegment.ofArray(new byte[known.sizeBytes()]);
        MemorySegment user = MemorySegment.ofAddress(argument).reinterpret(known.sizeBytes());
        if ((known.direction() & Ioctl.WRITE) != 0) {
            copy.copyFrom(user);
        }
        int result = file.answer(known, copy, argument);
        if (result >= 0 && (known.direction() & Ioctl.READ) != 0) {
            user.copyFrom(copy);
        }
        return result;
    }

    /// Calls that free something do not fail on request: a test that makes them fail tests a leak.
    private static boolean releases(Ioctl request) {
        return request.name().endsWith("_FREE") || request.name().endsWith("UNMAP_BUFFER");
    }

    @Override
    public synchronized long mmap(long lengthBytes, int protection, int flags, int fd, long offset) {
        EmulatedFile file = files.get(fd);
        if (file == null) {
            return -EBADF;
        }
        int fault = before("mmap");
        if (fault != 0) {
            return -fault;
        }
        return lengthBytes <= 0 ? -EINVAL : file.mmap(lengthBytes, flags, offset);
    }

    @Override
    public synchronized int munmap(long address, long lengthBytes) {
        Mapped mapped = mappings.get(address);
        if (mapped == null || mapped.length != lengthBytes) {
            return -EINVAL;
        }
        mapped.undo.removeLast().run();
        if (mapped.undo.isEmpty()) {
            mappings.remove(address);
        }
        return 0;
    }

    @Override
    public synchronized int poll(int fd, int events, int timeoutMillis) {
        return files.containsKey(fd) ? 0 : -EBADF;
    }

    @Override
    public void afterDoorbell() {
        if (!options.threaded()) {
            run();
        }
    }

    /// Lets the GPU work until nothing goes on without the processor. Only needed without a thread,
    /// and when the processor has written something that a channel waits for.
    public synchronized void run() {
        int token = (int) INT.getAndSet(doorbell, DOORBELL, NO_TOKEN);
        if (token != NO_TOKEN) {
            ring(token);
        }
        gpu.run();
    }

    private void ring(int token) {
        boolean found = false;
        for (EmulatedFile file : files.values()) {
            // A doorbell that came while another was being looked at is not seen by itself.
            if (file instanceof EmulatedChannel channel && (options.threaded() || channel.token == token)) {
                found |= channel.token == token;
                if (channel.usermode) {
                    gpu.schedule(channel);
                }
            }
        }
        if (!found) {
            warn("doorbell with token " + token + " of no channel");
        }
    }

    private void watch() {
        while (!closed) {
            if ((int) INT.getOpaque(doorbell, DOORBELL) != NO_TOKEN || gpu.isWaiting()) {
                try {
                    run();
                } catch (IllegalStateException e) {
                    synchronized (this) {
                        warn(String.valueOf(e.getMessage()));
                    }
                    return;
                }
            }
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        closed = true;
        if (watcher != null) {
            try {
                watcher.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while the emulated GPU was to end", e);
            }
        }
        synchronized (this) {
            if (arena.scope().isAlive()) {
                arena.close();
            }
        }
    }
}

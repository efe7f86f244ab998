package dev.tenon.backend.nv.rm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.abi.Struct;
import dev.tenon.backend.nv.tegra.command.Methods;
import dev.tenon.backend.nv.tegra.sys.Linux;
import dev.tenon.backend.nv.tegra.sys.Syscalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Answers the calls of a bring-up as an H200 did under driver 580.159.04, keeps what is open, and
/// fails a call when it is told to. There is no GPU behind it: of what is submitted, semaphores are
/// released if [#releases] is set, and launches are only noted.
final class ScriptedRm implements Syscalls {
    /// What was called, in order: `open NODE`, `alloc CLASS`, `control COMMAND`, `uvm NUMBER`, ...
    final List<String> log = new ArrayList<>();
    /// Objects by number: their parents.
    final Map<Integer, Integer> objects = new TreeMap<>();
    /// Bytes of the parameters that objects were created with, by class, last one.
    final Map<Integer, byte[]> parameters = new HashMap<>();
    /// Reserved addresses and their sizes.
    final Map<Long, Long> ranges = new TreeMap<>();
    /// Open files.
    final Map<Integer, String> files = new TreeMap<>();
    /// Mappings into the process.
    final Map<Long, Arena> mappings = new TreeMap<>();
    /// Last parameters of UVM commands.
    final Map<Long, byte[]> uvm = new HashMap<>();

    String version = "580.159.04";
    int[] classes = {0x41, 0x80, 0x2080, 0x90F1, 0x9067, 0xC86F, 0xCBC0, 0xC8B5, 0xC661, 0xA06C, 0x40, 0x3E};
    int tpcs = 66;
    /// Which ioctl fails, from 0; -1 for none.
    int failing = -1;
    /// With what: a status if positive, -errno if negative.
    int failure;
    /// Memory that the last mapping gave.
    MemorySegment lastMapping;
    /// Whether submissions signal.
    boolean releases;
    /// Addresses of the launch descriptors that were sent, in order.
    final List<Long> launched = new ArrayList<>();
    /// Command words in the order in which they were fetched.
    final List<Integer> fetched = new ArrayList<>();

    private final Map<Integer, MemorySegment> memories = new HashMap<>();
    private final Map<Long, Integer> placed = new TreeMap<>();
    private final Map<Integer, Integer> mappedFiles = new HashMap<>();
    private final List<int[]> channels = new ArrayList<>();

    private int nextFd = 10;
    private int nextObject = 0x5C000001;
    private int ioctls;

    @Override
    public int open(String path, int flags) {
        log.add("open " + path);
        files.put(nextFd, path);
        return nextFd++;
    }

    @Override
    public int close(int fd) {
        return files.remove(fd) == null ? -Linux.EBADF : 0;
    }

    @Override
    public int ioctl(int fd, long request, long argument) {
        String file = files.get(fd);
        if (file == null) {
            return -Linux.EBADF;
        }
        boolean fails = ioctls++ == failing;
        if (fails && failure < 0) {
            return failure;
        }
        int status = fails ? failure : 0;
        return file.equals(RmGpu.UVM) ? uvm(request, argument, status) : rm(request, argument, status);
    }

    int ioctls() {
        return ioctls;
    }

    private static MemorySegment at(long address, Struct struct) {
        return at(address, struct.sizeBytes());
    }

    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    private int uvm(long number, long argument, int status) {
        log.add("uvm " + number);
        UvmAbi.Command command = UvmAbi.commands().stream()
                .filter(c -> c.number() == number)
                .findFirst()
                .orElse(null);
        if (command == null) {
            return -Linux.EINVAL;
        }
        MemorySegment struct = at(argument, command.struct());
        uvm.put(number, struct.toArray(ValueLayout.JAVA_BYTE));
        int result = status;
        if (result == 0 && command == UvmAbi.CREATE_EXTERNAL_RANGE) {
            long base = Record.get(UvmAbi.CreateRange.BASE, struct);
            long length = Record.get(UvmAbi.CreateRange.LENGTH, struct);
            boolean taken = ranges.entrySet().stream()
                    .anyMatch(r -> r.getKey() < base + length && base < r.getKey() + r.getValue());
            result = taken ? 0x68 : 0;
            if (!taken) {
                ranges.put(base, length);
            }
        }
        if (result == 0 && command == UvmAbi.MAP_EXTERNAL_ALLOCATION) {
            boolean known = objects.containsKey((int) Record.get(UvmAbi.MapExternal.H_MEMORY, struct))
                    && ranges.containsKey(Record.get(UvmAbi.MapExternal.BASE, struct));
            result = known ? 0 : 0x1E;
            placed.put(
                    Record.get(UvmAbi.MapExternal.BASE, struct), (int) Record.get(UvmAbi.MapExternal.H_MEMORY, struct));
        }
        if (result == 0 && command == UvmAbi.FREE) {
            result = ranges.remove(Record.get(UvmAbi.Free.BASE, struct)) == null ? 0x1E : 0;
        }
        Record.set(command.status(), struct, result);
        return 0;
    }

    private int rm(long request, long argument, int status) {
        if (request == RmAbi.CARD_INFO.request()) {
            log.add("cards");
            MemorySegment card = at(argument, RmAbi.CardInfo.STRUCT);
            Record.set(RmAbi.CardInfo.VALID, card, 1);
            Record.set(RmAbi.CardInfo.GPU_ID, card, 6);
            return 0;
        }
        if (request == RmAbi.REGISTER_FD.request()) {
            log.add("register file");
            return 0;
        }
        if (request == RmAbi.ALLOC.request()) {
            return alloc(at(argument, RmAbi.Alloc.STRUCT), status);
        }
        if (request == RmAbi.CONTROL.request()) {
            return control(at(argument, RmAbi.Control.STRUCT), status);
        }
        if (request == RmAbi.FREE.request()) {
            MemorySegment struct = at(argument, RmAbi.Free.STRUCT);
            int object = (int) Record.get(RmAbi.Free.H_OBJECT_OLD, struct);
            Record.set(RmAbi.Free.STATUS, struct, objects.containsKey(object) ? 0 : 0x57);
            free(object);
            return 0;
        }
        if (request == RmAbi.MAP_MEMORY.request()) {
            MemorySegment struct = at(argument, RmAbi.MapMemory.STRUCT);
            log.add("map through " + files.get((int) Record.get(RmAbi.MapMemory.FD, struct)));
            boolean known = objects.containsKey((int) Record.get(RmAbi.MapMemory.H_MEMORY, struct));
            mappedFiles.put(
                    (int) Record.get(RmAbi.MapMemory.FD, struct), (int) Record.get(RmAbi.MapMemory.H_MEMORY, struct));
            Record.set(RmAbi.MapMemory.STATUS, struct, status != 0 ? status : known ? 0 : 0x57);
            return 0;
        }
        return -Linux.EINVAL;
    }

    private void free(int object) {
        objects.remove(object);
        List<Integer> children = objects.entrySet().stream()
                .filter(e -> e.getValue() == object)
                .map(Map.Entry::getKey)
                .toList();
        children.forEach(this::free);
    }

    private int alloc(MemorySegment struct, int status) {
        int objectClass = (int) Record.get(RmAbi.Alloc.H_CLASS, struct);
        int parent = (int) Record.get(RmAbi.Alloc.H_OBJECT_PARENT, struct);
        log.add("alloc 0x" + Integer.toHexString(objectClass));
        int result = status != 0 ? status : objectClass == 0x41 || objects.containsKey(parent) ? 0 : 0x36;
        Record.set(RmAbi.Alloc.STATUS, struct, result);
        if (result == 0) {
            Struct layout = switch (objectClass) {
                case RmAbi.MEMORY_LOCAL, RmAbi.MEMORY_SYSTEM -> RmAbi.Memory.STRUCT;
                case RmAbi.CHANNEL -> RmAbi.Channel.STRUCT;
                case RmAbi.CHANNEL_GROUP -> RmAbi.ChannelGroup.STRUCT;
                case RmAbi.DEVICE -> RmAbi.Device.STRUCT;
                case RmAbi.VASPACE -> RmAbi.Vaspace.STRUCT;
                default -> null;
            };
            if (layout != null) {
                parameters.put(
                        objectClass,
                        at(Record.get(RmAbi.Alloc.P_ALLOC_PARMS, struct), layout)
                                .toArray(ValueLayout.JAVA_BYTE));
            }
            if (objectClass == RmAbi.CHANNEL) {
                MemorySegment channel = MemorySegment.ofArray(parameters.get(objectClass));
                channels.add(new int[] {(int) Record.get(RmAbi.Channel.H_OBJECT_BUFFER, channel), 0});
            }
            Record.set(RmAbi.Alloc.H_OBJECT_NEW, struct, nextObject);
            objects.put(nextObject++, parent);
        }
        return 0;
    }

    private int control(MemorySegment struct, int status) {
        int command = (int) Record.get(RmAbi.Control.CMD, struct);
        log.add("control 0x" + Integer.toHexString(command));
        int object = (int) Record.get(RmAbi.Control.H_OBJECT, struct);
        int result = status != 0 ? status : objects.containsKey(object) ? 0 : 0x57;
        Record.set(RmAbi.Control.STATUS, struct, result);
        MemorySegment answer =
                at(Record.get(RmAbi.Control.PARAMS, struct), (int) Record.get(RmAbi.Control.PARAMS_SIZE, struct));
        switch (command) {
            case RmAbi.GET_BUILD_VERSION -> answer.setString(0, version);
            case RmAbi.GET_CLASSLIST -> {
                answer.set(ValueLayout.JAVA_INT, 0, classes.length);
                for (int i = 0; i < classes.length; i++) {
                    answer.setAtIndex(ValueLayout.JAVA_INT, i + 1, classes[i]);
                }
            }
            case RmAbi.GET_NAME_STRING -> answer.setString(4, "NVIDIA H200");
            case RmAbi.GET_GLOBAL_SM_ORDER -> {
                Record.set(RmAbi.SmOrder.NUM_SM, answer, 132);
                Record.set(RmAbi.SmOrder.NUM_TPC, answer, tpcs);
            }
            case RmAbi.GET_GID_INFO -> {
                Record.set(RmAbi.GidInfo.LENGTH, answer, 16);
                for (int i = 0; i < 16; i++) {
                    answer.set(ValueLayout.JAVA_BYTE, 12 + i, (byte) (0xA0 + i));
                }
            }
            case RmAbi.GR_GET_CTX_BUFFER_SIZE -> Record.set(RmAbi.ContextSize.TOTAL_BUFFER_SIZE, answer, 0x52F000);
            case RmAbi.GET_WORK_SUBMIT_TOKEN -> Record.set(RmAbi.Token.WORK_SUBMIT_TOKEN, answer, 0xA);
            default -> {
                // The rest answers nothing that is used.
            }
        }
        return 0;
    }

    @Override
    public long mmap(long lengthBytes, int protection, int flags, int fd, long offset) {
        Arena arena = Arena.ofShared();
        lastMapping = arena.allocate(lengthBytes, 4096);
        mappings.put(lastMapping.address(), arena);
        memories.put(mappedFiles.get(fd), lastMapping);
        return lastMapping.address();
    }

    /// Fetches what is new in all rings.
    @Override
    public void afterDoorbell() {
        if (!releases) {
            return;
        }
        for (int[] channel : channels) {
            MemorySegment ring = memories.get(channel[0]);
            int put = ring.get(ValueLayout.JAVA_INT, 8192 + 0x8C);
            while (channel[1] != put) {
                long entry = ring.getAtIndex(ValueLayout.JAVA_LONG, channel[1]);
                run(memory(entry & 0xFFFFFFFFFCL), (int) (entry >>> 42 & 0x1FFFFF));
                channel[1] = (channel[1] + 1) % 1024;
                ring.set(ValueLayout.JAVA_INT, 8192 + 0x88, channel[1]);
            }
        }
    }

    /// {@return memory at an address of the GPU, as far as it goes}
    MemorySegment memory(long va) {
        return placed.entrySet().stream()
                .filter(e ->
                        ranges.containsKey(e.getKey()) && e.getKey() <= va && va < e.getKey() + ranges.get(e.getKey()))
                .findFirst()
                .map(e -> memories.get(e.getValue()).asSlice(va - e.getKey()))
                .orElseThrow(() -> new AssertionError("nothing is at 0x" + Long.toHexString(va)));
    }

    private void run(MemorySegment words, int count) {
        Map<Integer, Integer> state = new HashMap<>();
        for (int i = 0; i < count; ) {
            int header = words.getAtIndex(ValueLayout.JAVA_INT, i++);
            fetched.add(header);
            assertEquals(1, header >>> 29, "only methods with counting addresses");
            int subchannel = header >>> 13 & 7;
            for (int k = 0; k < (header >>> 16 & 0x1FFF); k++, i++) {
                int method = ((header & 0xFFF) << 2) + 4 * k;
                int data = words.getAtIndex(ValueLayout.JAVA_INT, i);
                fetched.add(data);
                state.put(subchannel << 16 | method, data);
                method(state, subchannel, method, data);
            }
        }
    }

    private void method(Map<Integer, Integer> state, int subchannel, int method, int data) {
        if (subchannel == 0 && method == Methods.SEM_EXECUTE && (data & 7) == 1) {
            long va = state.get(Methods.SEM_ADDR_LO) & 0xFFFFFFFFL | (long) state.get(Methods.SEM_ADDR_HI) << 32;
            memory(va).set(ValueLayout.JAVA_LONG, 0, state.get(Methods.SEM_PAYLOAD_LO));
        }
        int copy = Methods.COPY << 16;
        if (subchannel == Methods.COPY && method == Methods.COPY_LAUNCH && data == Methods.COPY_SIGNAL) {
            int at = copy | Methods.COPY_SEMAPHORE_A;
            long va = state.get(at + 4) & 0xFFFFFFFFL | (long) state.get(at) << 32;
            memory(va).set(ValueLayout.JAVA_LONG, 0, state.get(at + 8));
        }
        if (subchannel == Methods.COMPUTE && method == Methods.SEND_PCAS_A) {
            launched.add(Integer.toUnsignedLong(data) << 8);
        }
    }

    @Override
    public int munmap(long address, long lengthBytes) {
        Arena arena = mappings.remove(address);
        if (arena == null) {
            return -Linux.EINVAL;
        }
        arena.close();
        return 0;
    }

    @Override
    public int poll(int fd, int events, int timeoutMillis) {
        return -Linux.EINVAL;
    }
}

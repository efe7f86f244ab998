package dev.tenon.backend.nv.rm;

import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.gpu.GpuChannel;
import dev.tenon.backend.nv.tegra.gpu.MemoryKind;
import dev.tenon.backend.nv.tegra.sys.Undo;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;

/// A channel of a group of its own, whose ring this process writes itself. Ring and USERD lie in
/// one buffer of the GPU's memory.
final class RmChannel implements GpuChannel {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final long DOORBELL = 0x90;
    private static final int ASYNC = 1;
    private static final int GRAPHICS = 1;
    /// The third copy engine, as CUDA takes for copies of its own.
    private static final int COPY_ENGINE = 0xB;
    private static final int COPY_INSTANCE = 2;
    private static final long CONTEXT_BYTES = 64L << 20;
    private static final int USERD_BYTES = 512;
    /// Where a notification has the Xid.
    private static final long ERROR_CODE = 8;
    /// Where a notification has whether there is an error.
    private static final long ERROR_STATUS = 14;

    private final MemorySegment doorbell;
    private final int entries;
    private final String name;
    private final RmDriver driver;
    private final Undo undo = new Undo();
    private final AtomicBoolean closed = new AtomicBoolean();
    private RmMemory memory;
    private RmMemory notifier;
    private int token;

    /// What a channel is opened with.
    ///
    /// @param memory where its ring comes from
    /// @param vaspace its address space
    /// @param doorbell the page of the doorbell
    /// @param entries entries of the ring
    record Source(RmMemory.Source memory, int vaspace, MemorySegment doorbell, int entries) {}

    private RmChannel(Source source, String name) {
        this.doorbell = source.doorbell;
        this.entries = source.entries;
        this.driver = source.memory.driver();
        this.name = name;
    }

    /// {@return a channel}
    ///
    /// @param source what with
    /// @param compute for kernels, else for copies
    static RmChannel open(Source source, boolean compute) {
        RmChannel channel = new RmChannel(source, compute ? "compute channel" : "copy channel");
        boolean done = false;
        try {
            channel.take(source, compute);
            done = true;
            return channel;
        } finally {
            if (!done) {
                channel.undo.close();
            }
        }
    }

    private void take(Source source, boolean compute) {
        RmMemory.Source from = source.memory;
        RmObjects objects = from.objects();
        memory = RmMemory.allocate(from, 8L * entries + USERD_BYTES, MemoryKind.RING, "ring of " + name);
        undo.add(memory::close);
        notifier = RmMemory.notifier(from, "errors of " + name);
        undo.add(notifier::close);
        int group;
        try (Record record = new Record(RmAbi.ChannelGroup.STRUCT)) {
            // The compute group's channels have their address space by their context share.
            record.set(RmAbi.ChannelGroup.H_VASPACE, compute ? 0 : source.vaspace)
                    .set(RmAbi.ChannelGroup.ENGINE_TYPE, compute ? GRAPHICS : COPY_ENGINE);
            group = objects.create(from.device(), RmAbi.CHANNEL_GROUP, record, "group of " + name);
        }
        undo.add(() -> objects.free(from.device(), group, "group of " + name));
        int share = 0;
        if (compute) {
            try (Record record = new Record(RmAbi.ContextShare.STRUCT)) {
                record.set(RmAbi.ContextShare.H_VASPACE, source.vaspace).set(RmAbi.ContextShare.FLAGS, ASYNC);
                share = objects.create(group, RmAbi.CONTEXT_SHARE, record, "context of " + name);
            }
        }
        int channel = create(objects, group, share);
        if (compute) {
            objects.create(channel, RmAbi.COMPUTE, "engine of " + name);
        } else {
            try (Record record = new Record(RmAbi.CopyObject.STRUCT)) {
                record.set(RmAbi.CopyObject.ENGINE_TYPE, COPY_INSTANCE);
                objects.create(channel, RmAbi.COPY, record, "engine of " + name);
            }
        }
        try (Record record = new Record(RmAbi.Token.STRUCT)) {
            objects.control(channel, RmAbi.GET_WORK_SUBMIT_TOKEN, record, "token of " + name);
            token = record.getInt(RmAbi.Token.WORK_SUBMIT_TOKEN);
        }
        register(from, channel, compute);
        try (Record record = new Record(RmAbi.Schedule.STRUCT)) {
            record.set(RmAbi.Schedule.B_ENABLE, 1);
            objects.control(group, RmAbi.SCHEDULE, record, "start of " + name);
        }
    }

    private int create(RmObjects objects, int group, int share) {
        try (Record record = new Record(RmAbi.Channel.STRUCT)) {
            record.set(RmAbi.Channel.H_OBJECT_ERROR, notifier.object())
                    .set(RmAbi.Channel.H_OBJECT_BUFFER, memory.object())
                    .set(RmAbi.Channel.GP_FIFO_OFFSET, memory.va())
                    .set(RmAbi.Channel.GP_FIFO_ENTRIES, entries)
                    .set(RmAbi.Channel.H_CONTEXT_SHARE, share);
            record.bytes().set(ValueLayout.JAVA_INT, RmAbi.Channel.H_USERD_MEMORY.offset(), memory.object());
            record.bytes().set(ValueLayout.JAVA_LONG, RmAbi.Channel.USERD_OFFSET.offset(), 8L * entries);
            return objects.create(group, RmAbi.CHANNEL, record, name);
        }
    }

    /// Has UVM map what the engine keeps of the channel, at addresses that nothing else uses; they
    /// are kept until the GPU is closed.
    private void register(RmMemory.Source from, int channel, boolean compute) {
        long bytes = 0;
        if (compute) {
            try (Record record = new Record(RmAbi.ContextSize.STRUCT)) {
                record.set(RmAbi.ContextSize.H_CHANNEL, channel);
                from.objects().control(from.subdevice(), RmAbi.GR_GET_CTX_BUFFER_SIZE, record, "context of " + name);
                bytes = record.get(RmAbi.ContextSize.TOTAL_BUFFER_SIZE);
            }
        }
        long base = compute ? from.addresses().take(Math.max(bytes, CONTEXT_BYTES)) : 0;
        try (Record record = new Record(UvmAbi.RegisterChannel.STRUCT)) {
            RmGpu.uuid(record, UvmAbi.RegisterChannel.GPU_UUID, from.uuid());
            record.set(UvmAbi.RegisterChannel.RM_CTRL_FD, from.objects().control())
                    .set(UvmAbi.RegisterChannel.H_CLIENT, from.objects().client())
                    .set(UvmAbi.RegisterChannel.H_CHANNEL, channel)
                    .set(UvmAbi.RegisterChannel.BASE, base)
                    .set(UvmAbi.RegisterChannel.LENGTH, bytes);
            driver.uvm(from.uvm(), UvmAbi.REGISTER_CHANNEL, record, name);
        }
    }

    @Override
    public MemorySegment ring() {
        return memory.host().asSlice(0, 8L * entries);
    }

    @Override
    public int entries() {
        return entries;
    }

    @Override
    public MemorySegment userd() {
        return memory.host().asSlice(8L * entries, USERD_BYTES);
    }

    @Override
    public int token() {
        return token;
    }

    @Override
    public void ringDoorbell() {
        INT.setVolatile(doorbell, DOORBELL, token);
        driver.afterDoorbell();
    }

    @Override
    public boolean isTornDown() {
        return notifier.host().get(ValueLayout.JAVA_SHORT, ERROR_STATUS) != 0;
    }

    /// {@return what the driver has written about an error; empty if nothing}
    String error() {
        return isTornDown()
                ? "The driver has stopped the " + name + ": Xid "
                        + notifier.host().get(ValueLayout.JAVA_INT, ERROR_CODE) + "."
                : "";
    }

    boolean isClosed() {
        return closed.get();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            undo.close();
        }
    }
}

package dev.tenon.backend.nv.rm;

import dev.tenon.backend.nv.tegra.abi.Record;
import dev.tenon.backend.nv.tegra.abi.Struct;

/// Objects of one client of the resource manager. An object is a number; freeing one frees what
/// belongs to it. Safe for any thread.
///
/// @param driver calls
/// @param control file descriptor of `/dev/nvidiactl`
/// @param client the client
record RmObjects(RmDriver driver, int control, int client) {
    /// Creates a client.
    static RmObjects open(RmDriver driver, int control) {
        return new RmObjects(driver, control, new RmObjects(driver, control, 0).create(0, RmAbi.ROOT_CLIENT, "client"));
    }

    /// {@return a new object without parameters}
    ///
    /// @param parent whom it belongs to
    /// @param objectClass class
    /// @param what for messages
    int create(int parent, int objectClass, String what) {
        return create(parent, objectClass, 0, what);
    }

    /// {@return a new object}
    ///
    /// @param parent whom it belongs to
    /// @param objectClass class
    /// @param parameters filled by the driver
    /// @param what for messages
    int create(int parent, int objectClass, Record parameters, String what) {
        int object = create(parent, objectClass, parameters.address(), what);
        require(parameters, what);
        return object;
    }

    private int create(int parent, int objectClass, long parameters, String what) {
        try (Record record = new Record(RmAbi.Alloc.STRUCT)) {
            // The driver knows the size of the parameters by the class.
            record.set(RmAbi.Alloc.H_ROOT, client)
                    .set(RmAbi.Alloc.H_OBJECT_PARENT, parent)
                    .set(RmAbi.Alloc.H_CLASS, objectClass)
                    .set(RmAbi.Alloc.P_ALLOC_PARMS, parameters);
            driver.rm(
                    control,
                    RmAbi.ALLOC,
                    record,
                    RmAbi.Alloc.STATUS,
                    what + " (class 0x" + Integer.toHexString(objectClass) + ")");
            return record.getInt(RmAbi.Alloc.H_OBJECT_NEW);
        }
    }

    /// Controls an object.
    ///
    /// @param object which
    /// @param command what
    /// @param parameters filled by the driver
    /// @param what for messages
    void control(int object, int command, Record parameters, String what) {
        try (Record record = new Record(RmAbi.Control.STRUCT)) {
            record.set(RmAbi.Control.H_CLIENT, client)
                    .set(RmAbi.Control.H_OBJECT, object)
                    .set(RmAbi.Control.CMD, command)
                    .set(RmAbi.Control.PARAMS, parameters.address())
                    .set(RmAbi.Control.PARAMS_SIZE, parameters.struct().sizeBytes());
            driver.rm(
                    control,
                    RmAbi.CONTROL,
                    record,
                    RmAbi.Control.STATUS,
                    what + " (0x" + Integer.toHexString(command) + ")");
        }
        require(parameters, what);
    }

    /// Frees an object. A failure is only logged, so that what was taken before is released, too.
    void free(int parent, int object, String what) {
        try (Record record = new Record(RmAbi.Free.STRUCT)) {
            record.set(RmAbi.Free.H_ROOT, client)
                    .set(RmAbi.Free.H_OBJECT_PARENT, parent)
                    .set(RmAbi.Free.H_OBJECT_OLD, object);
            driver.release(() -> driver.rm(control, RmAbi.FREE, record, RmAbi.Free.STATUS, what));
        }
    }

    /// {@return the address of a mapping of an object into this process}
    ///
    /// @param owner device or subdevice
    /// @param object memory or doorbells
    /// @param bytes size
    /// @param node which node maps it: the GPU's own, or that of the system's memory
    /// @param protection `PROT_...`
    /// @param flags how it is mapped
    /// @param what for messages
    long map(int owner, int object, long bytes, String node, int protection, int flags, String what) {
        int fd = driver.open(node);
        try (Record record = new Record(RmAbi.MapMemory.STRUCT)) {
            record.set(RmAbi.MapMemory.H_CLIENT, client)
                    .set(RmAbi.MapMemory.H_DEVICE, owner)
                    .set(RmAbi.MapMemory.H_MEMORY, object)
                    .set(RmAbi.MapMemory.LENGTH, bytes)
                    .set(RmAbi.MapMemory.FLAGS, flags)
                    .set(RmAbi.MapMemory.FD, fd);
            driver.rm(control, RmAbi.MAP_MEMORY, record, RmAbi.MapMemory.STATUS, what);
            return driver.mmap(bytes, protection, fd, what);
        } finally {
            driver.close(fd, node);
        }
    }

    private static void require(Record parameters, String what) {
        if (!parameters.isIntact()) {
            Struct struct = parameters.struct();
            throw new dev.tenon.api.error.BackendException(
                    dev.tenon.backend.nv.tegra.sys.NvErrors.BOARD,
                    "The driver wrote outside of " + struct + " (" + what
                            + "): its interface is not that of branch 580.");
        }
    }
}

package dev.tenon.backend.nv.tegra.emulator.board;

import static dev.tenon.backend.nv.tegra.sys.Linux.EINVAL;
import static dev.tenon.backend.nv.tegra.sys.Linux.ENOTTY;

import dev.tenon.backend.nv.tegra.abi.Ioctl;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// What a file descriptor stands for.
public abstract class EmulatedFile {
    private final char magic;
    private final int lastNr;
    private final int maxBytes;
    private final boolean strict;
    private final Map<Long, Ioctl> known = new HashMap<>();

    /// @param magic letter of its requests
    /// @param lastNr last request number
    /// @param maxBytes largest struct
    /// @param strict whether unknown numbers are EINVAL, as in nvgpu, and not ENOTTY, as in nvmap
    /// @param requests its requests
    EmulatedFile(char magic, int lastNr, int maxBytes, boolean strict, List<Ioctl> requests) {
        this.magic = magic;
        this.lastNr = lastNr;
        this.maxBytes = maxBytes;
        this.strict = strict;
        requests.forEach(r -> known.put(r.request(), r));
    }

    /// {@return what messages call it}
    abstract String describe();

    /// Answers a request.
    ///
    /// @param request which
    /// @param struct a copy of its struct, copied back if this returns 0 and the request says so
    /// @param argument the argument itself
    /// @return 0, or -errno
    abstract int answer(Ioctl request, MemorySegment struct, long argument);

    /// The last file descriptor is gone.
    abstract void released();

    /// {@return an address, or -errno}
    long mmap(long length, int flags, long offset) {
        return -EINVAL;
    }

    /// {@return the request of a number, or -errno in `errno`}
    Ioctl decode(long request, int[] errno) {
        int nr = (int) (request & 0xFF);
        int size = (int) (request >>> 16 & 0x3FFF);
        char letter = (char) (request >>> 8 & 0xFF);
        Ioctl found = known.get(request);
        if (found != null) {
            return found;
        }
        boolean invalid = letter != magic || nr == 0 || nr > lastNr || size > maxBytes;
        errno[0] = strict && invalid ? -EINVAL : -ENOTTY;
        return null;
    }
}

package dev.tenon.backend.cuda.device;

import dev.tenon.backend.cuda.ffm.DriverLibrary;
import java.util.List;

/// Closes several things, of which none may stay open because another one could not be closed.
public final class Closing {
    private Closing() {}

    /// Closes all of them, in their order.
    ///
    /// @param resources what to close
    /// @throws RuntimeException what the first one threw that failed; what others threw is attached to it
    public static void all(List<? extends AutoCloseable> resources) {
        Throwable first = null;
        for (AutoCloseable resource : resources) {
            try {
                resource.close();
            } catch (Exception | Error e) {
                if (first == null) {
                    first = e;
                } else if (first != e) {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw DriverLibrary.rethrow(first);
        }
    }
}

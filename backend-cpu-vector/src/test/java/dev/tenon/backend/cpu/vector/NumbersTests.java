package dev.tenon.backend.cpu.vector;

import dev.tenon.api.device.Backend;
import dev.tenon.api.device.PlanOptions.KvType;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.BackendNumbersContract;
import dev.tenon.itest.testkit.models.TestFormats;
import dev.tenon.quant.formats.Q8_0Format;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/// Every op against the reference; the rest of the contract needs a framework around the backend.
class NumbersTests extends BackendNumbersContract {
    @Override
    protected Backend backend() {
        return new CpuVectorBackend();
    }

    /// The contract's models have heads that no block of Q8_0 fits.
    @Override
    protected Set<KvType> kvTypes() {
        return Set.of(KvType.F32, KvType.F16);
    }

    @Override
    protected Collection<QuantFormat> formats() {
        return List.of(TestFormats.F32, new Q8_0Format());
    }
}

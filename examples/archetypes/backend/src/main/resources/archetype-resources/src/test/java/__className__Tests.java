package ${package};

import dev.tenon.api.device.Backend;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.BackendContract;
import dev.tenon.itest.testkit.models.TestFormats;
import java.util.Collection;
import java.util.List;

/// The backend keeps its contract. Where your hardware is missing, all of it is skipped with the probe's reason.
class ${className}Tests extends BackendContract {
    @Override
    protected Backend backend() {
        return new ${className}();
    }

    /// The testkit's own formats; `tenon itest` runs the contract with all that Tenon has.
    @Override
    protected Collection<QuantFormat> formats() {
        return List.of(TestFormats.F32, TestFormats.UNHEARD_OF);
    }
}

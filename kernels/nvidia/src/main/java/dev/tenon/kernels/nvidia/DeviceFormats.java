package dev.tenon.kernels.nvidia;

import dev.tenon.api.kernel.cuda.CudaFragment;
import dev.tenon.api.quant.QuantFormat;
import dev.tenon.kernels.nvidia.layout.DeviceLayout;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// Chooses how the formats of model files lie on a device.
///
/// @param fragments block decoders of other bundles, by format id
/// @param compiles whether kernels can be compiled; asked only where that matters
public record DeviceFormats(Map<String, CudaFragment> fragments, BooleanSupplier compiles) {
    /// Our formats alone.
    public static final DeviceFormats OWN = new DeviceFormats(Map.of(), () -> false);

    /// Chooses how a format lies: through a third party's decoder if there is one, as our kernels take it if there are
    /// some, with kernels made of its layout, else decoded to F16. What needs a compiler is left out where there is
    /// none.
    ///
    /// @param format the file's format
    /// @return the choice
    public DeviceFormat of(QuantFormat format) {
        CudaFragment fragment = fragments.get(format.id());
        if (fragment != null && FragmentHeader.fits(format.blockSize()) && compiles.getAsBoolean()) {
            return DeviceFormat.of(format, fragment);
        }
        return DeviceFormat.ofOwn(format).or(() -> ofLayout(format)).orElseGet(DeviceFormat::decoded);
    }

    private Optional<DeviceFormat> ofLayout(QuantFormat format) {
        return format.layout()
                .flatMap(DeviceLayout::of)
                .filter(layout -> compiles.getAsBoolean())
                .map(layout -> DeviceFormat.of(format, layout));
    }
}

package dev.tenon.kernels.x86;

import dev.tenon.kernels.x86.block.BlockCode;
import dev.tenon.kernels.x86.cpu.FeatureSet;
import dev.tenon.kernels.x86.format.IQ4_NLCode;
import dev.tenon.kernels.x86.format.IQ4_XSCode;
import dev.tenon.kernels.x86.format.MXFP4Code;
import dev.tenon.kernels.x86.format.Q2_KCode;
import dev.tenon.kernels.x86.format.Q3_KCode;
import dev.tenon.kernels.x86.format.Q4_0Code;
import dev.tenon.kernels.x86.format.Q4_1Code;
import dev.tenon.kernels.x86.format.Q4_KCode;
import dev.tenon.kernels.x86.format.Q5_0Code;
import dev.tenon.kernels.x86.format.Q5_1Code;
import dev.tenon.kernels.x86.format.Q5_KCode;
import dev.tenon.kernels.x86.format.Q6_KCode;
import dev.tenon.kernels.x86.format.Q8_0Code;
import dev.tenon.kernels.x86.linear.F16Linear;
import dev.tenon.kernels.x86.linear.LinearKernel;
import dev.tenon.kernels.x86.linear.QuantizedLinear;
import java.util.List;
import java.util.stream.Stream;

/// The list of the formats that have machine code.
final class Formats {
    private Formats() {}

    /// {@return one generator of each quantised format}
    static List<BlockCode> quantised() {
        return List.of(
                new Q8_0Code(),
                new Q6_KCode(),
                new Q5_KCode(),
                new Q4_KCode(),
                new Q5_1Code(),
                new Q5_0Code(),
                new Q4_1Code(),
                new Q4_0Code(),
                new IQ4_NLCode(),
                new IQ4_XSCode(),
                new MXFP4Code(),
                new Q3_KCode(),
                new Q2_KCode());
    }

    /// {@return one kernel of each format, without code yet}
    ///
    /// @param set which instructions may be used
    static List<LinearKernel> kernels(FeatureSet set) {
        Stream<LinearKernel> quantised = quantised().stream().map(format -> new QuantizedLinear(format, set));
        Stream<LinearKernel> floats = Stream.of(new F16Linear(false, set), new F16Linear(true, set));
        return Stream.concat(quantised, floats).toList();
    }
}

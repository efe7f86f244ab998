package ${package};

import dev.tenon.api.quant.QuantFormat;
import dev.tenon.itest.testkit.QuantFormatContract;
import java.util.List;

class ${className}Tests extends QuantFormatContract {
    @Override
    protected QuantFormat format() {
        return new ${className}();
    }

    @Override
    protected List<Golden> golden() {
        byte[] block = new byte[68];
        float[] values = new float[64];
        block[3] = 0x3f; // the scale 0.5, little-endian
        block[4] = 2; //    the first level
        block[67] = -3; //  the last one
        values[0] = 1;
        values[63] = -1.5f;
        return List.of(new Golden("by hand", block, values));
    }
}

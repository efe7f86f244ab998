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
        byte[] block = new byte[50];
        float[] values = new float[64];
        block[1] = 0x38; // the scale 0.5, little-endian
        for (int i = 2; i < 50; i += 3) { // four levels of 32, which is 0
            block[i] = 0x20;
            block[i + 1] = 0x08;
            block[i + 2] = (byte) 0x82;
        }
        block[2] = 0x22; //  the first level: 34
        block[49] = 0x76; // the last one, in the upper six bits: 29
        values[0] = 1;
        values[63] = -1.5f;
        return List.of(new Golden("by hand", block, values));
    }
}

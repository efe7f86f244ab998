package org.example.dyt;

import dev.tenon.api.graph.Op;
import dev.tenon.api.kernel.cpu.OpKernel;
import dev.tenon.api.kernel.cpu.OpWeight;
import java.util.List;

/// The op on CPU devices: in float32, without the arrays that `evaluate` makes.
final class DynamicTanhKernel implements OpKernel {
    @Override
    public String name() {
        return "dynamic_tanh.java";
    }

    @Override
    public String op() {
        return DynamicTanh.KIND;
    }

    @Override
    public Rows bind(Op op, List<OpWeight> weights) {
        float alpha = weights.get(0).decode()[0];
        float[] weight = weights.get(1).decode();
        float[] bias = weights.get(2).decode();
        int width = weight.length;
        return (in, out, firstRow, rows, part, scratch) -> {
            float[] x = in[0].array();
            float[] y = out[0].array();
            for (int at = firstRow * width; at < (firstRow + rows) * width; at += width) {
                for (int i = 0; i < width; i++) {
                    y[at + i] = weight[i] * (float) Math.tanh(alpha * x[at + i]) + bias[i];
                }
            }
        };
    }
}

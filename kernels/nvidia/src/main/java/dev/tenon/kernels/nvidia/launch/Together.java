package dev.tenon.kernels.nvidia.launch;

import dev.tenon.kernels.nvidia.Argument;
import dev.tenon.kernels.nvidia.launch.LinearLaunches.Product;
import java.util.Arrays;
import java.util.List;

/// What kernels take of up to three products; of those that are not there, no rows.
final class Together {
    /// Most matrices that one launch multiplies with.
    static final int MOST = 3;

    final Argument.Address[] weights = new Argument.Address[MOST];
    final Argument.Address[] biases = new Argument.Address[MOST];
    final Argument.Address[] outs = new Argument.Address[MOST];
    final Integer[] rows = new Integer[MOST];

    Together(Emission e, List<Product> products) {
        Arrays.fill(weights, Argument.Address.NULL);
        Arrays.fill(biases, Argument.Address.NULL);
        Arrays.fill(outs, Argument.Address.NULL);
        Arrays.fill(rows, 0);
        for (int i = 0; i < products.size(); i++) {
            Product p = products.get(i);
            weights[i] = p.weight().at();
            biases[i] = p.bias();
            outs[i] = e.out(p.out());
            rows[i] = p.weight().rows();
        }
    }
}

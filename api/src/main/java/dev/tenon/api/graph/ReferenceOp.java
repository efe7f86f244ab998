package dev.tenon.api.graph;

import org.osgi.annotation.versioning.ConsumerType;

/// An op that other ops do not express and that therefore says itself what it computes, so that the numbers
/// of backends with a kernel for it can be checked. It works on one row at a time, without any state.
@ConsumerType
public interface ReferenceOp extends Op {
    /// Computes one row in float64.
    ///
    /// @param inputs the row of each input, `[inputs][width]`; not to be changed
    /// @param weights the decoded elements of each weight, `[weights][elements]`; not to be changed
    /// @return the row of each output, `[outputs][width]`
    double[][] evaluate(double[][] inputs, float[][] weights);
}

/// The linear kernels: weights times activations.
///
/// [MachineLinear] checks arguments and makes and frees code; its subclasses choose the loop by the
/// number of tokens and call it. The code of the loops is generated in the packages below.
package dev.tenon.kernels.x86.linear;

/// The attention kernels: query rows times a page of keys and values.
///
/// The online softmax of 64 positions at a time, from pages of F32, F16 or Q8_0.
package dev.tenon.kernels.x86.attention;

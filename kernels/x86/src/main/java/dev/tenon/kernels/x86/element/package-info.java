/// The element kernels: norms, gates and sums of rows.
///
/// They compute the same bits as the backend does in Java.
package dev.tenon.kernels.x86.element;

/// Reads blocks of any layout: what they hold becomes int8 levels and float32 scales.
package dev.tenon.backend.cpu.vector.kernel.layout;

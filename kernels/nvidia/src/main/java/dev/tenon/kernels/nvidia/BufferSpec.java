package dev.tenon.kernels.nvidia;

/// A piece of device memory that a plan needs. Pieces of one kind may lie in one allocation; each
/// starts at a multiple of 256 bytes.
///
/// @param id number, 0-based, unique in its plan
/// @param kind what it is for
/// @param purpose what messages and reports call it, such as a tensor's name
/// @param bytes its size
public record BufferSpec(int id, Kind kind, String purpose, long bytes) {
    /// What memory is for, and what it holds at first.
    public enum Kind {
        /// Weights in the layout of the device; uploaded before the first step.
        WEIGHT,
        /// Numbers that the host computes; uploaded before the first step.
        CONSTANT,
        /// The part of a step's input that every step copies.
        STEP,
        /// Page tables.
        PAGES,
        /// Activations and scratch memory; anything at first.
        ACTIVATION,
        /// Scratch memory that is zero before the first step.
        ZEROED,
        /// Keys and values; anything at first.
        KV,
        /// States of sequences; anything at first.
        STATE,
        /// Memory of the host that the device reads and writes; zero at first.
        HOST
    }

    /// {@return an address in it}
    ///
    /// @param offsetBytes offset
    public Argument.Address at(long offsetBytes) {
        return new Argument.Address(id, offsetBytes);
    }
}

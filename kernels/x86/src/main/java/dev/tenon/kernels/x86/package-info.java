/// Machine code for x86-64 processors, generated from Java at run time.
package dev.tenon.kernels.x86;

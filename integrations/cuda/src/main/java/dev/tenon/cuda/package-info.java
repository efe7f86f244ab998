/// Has no code: the artifact `tenon-cuda` brings `tenon` and the CUDA backend.
package dev.tenon.cuda;

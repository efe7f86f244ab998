/// A planned graph on a GPU: its memory, the upload of its weights, its steps as captured graphs, and their profile.
package dev.tenon.backend.cuda.plan;

package dev.tenon.api.media;

import java.util.List;
import java.util.Map;

/// The rules of known projectors, as their encoders say them.
final class Rules {
    private static final int CLIP_MEAN = 0x7A7468;

    private Rules() {}

    static PictureRule of(String projector, Map<String, Integer> keys) {
        int side = keys.get("image_size");
        Size square = new Size(side, side);
        Resizing boxed = Resizing.letterbox(Resampling.BILINEAR, 0);
        Resizing stretched = Resizing.stretch(Resampling.BILINEAR);
        Resizing tiles = Resizing.letterbox(Resampling.BICUBIC, 0);
        int patch = keys.get("patch_size");
        int align = patch * merge(projector, keys);
        long token = (long) align * align;
        return switch (projector) {
            case "gemma3" -> PictureRule.of(SizeRule.fixed(side, side), boxed);
            case "mlp" -> PictureRule.of(SizeRule.fixed(side, side), Resizing.letterbox(Resampling.BICUBIC, CLIP_MEAN));
            case "qwen2.5vl_merger", "qwen3vl_merger", "glm4v" ->
                PictureRule.of(SizeRule.smart(align, 8 * token, 4096 * token), boxed);
            case "pixtral", "kimivl" -> PictureRule.of(SizeRule.smart(align, 8 * token, 1024 * token), boxed);
            case "gemma4v" -> PictureRule.of(SizeRule.smart(align, 40 * token, 280 * token), boxed);
            case "lfm2" -> {
                Size tile = new Size(512, 512);
                SizeRule rounded = SizeRule.nearestEven(align, patch);
                GridRule grid = GridRule.closest(2, 10, tile)
                        .when(size -> rounded.of(size).pixels() > 2 * 256 * token);
                yield PictureRule.of(SizeRule.smart(align, 64 * token, 256 * token), stretched)
                        .tiled(grid, tile, boxed);
            }
            case "idefics3" ->
                PictureRule.of(SizeRule.fixed(side, side), stretched)
                        .tiled(
                                GridRule.of(SizeRule.longestEdge(keys.get("preproc_image_size"), side), square),
                                square,
                                tiles);
            case "internvl", "llama4" -> {
                List<Grid> grids = projector.equals("llama4")
                        ? Grid.upTo(3, 3)
                        : Grid.ofTiles(
                                keys.getOrDefault("preproc_min_tiles", 1), keys.getOrDefault("preproc_max_tiles", 12));
                GridRule grid = GridRule.best(grids, square).when(size -> Math.max(size.width(), size.height()) > side);
                yield PictureRule.of(SizeRule.fixed(side, side), stretched).tiled(grid, square, tiles);
            }
            default -> throw new IllegalArgumentException(projector);
        };
    }

    private static int merge(String projector, Map<String, Integer> keys) {
        int usual = switch (projector) {
            case "gemma4v" -> 3;
            case "pixtral" -> 1;
            default -> 2;
        };
        return keys.getOrDefault("spatial_merge_size", keys.getOrDefault("projector.scale_factor", usual));
    }
}

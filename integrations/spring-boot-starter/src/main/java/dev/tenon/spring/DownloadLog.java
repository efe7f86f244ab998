package dev.tenon.spring;

import dev.tenon.Progress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Logs downloads, each tenth of a file. For one thread.
final class DownloadLog implements Progress {
    private static final Logger LOG = LoggerFactory.getLogger(DownloadLog.class);
    private static final int TENTHS = 10;

    private String told = "";

    @Override
    public void at(String file, long done, long total) {
        String now = total > 0 ? file + ": " + done * TENTHS / total * TENTHS + " %" : file;
        if (!now.equals(told)) {
            told = now;
            LOG.info("Downloading {}", now);
        }
    }
}

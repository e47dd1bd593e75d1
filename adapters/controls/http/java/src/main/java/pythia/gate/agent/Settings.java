// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/** Settings, which come from the environment. */
public final class Settings {
    final String host;
    final int port;
    final String path; // of the URL, without a slash at its end
    public final String service; // "": that of the program's resource
    final String token; // "": none
    final File offFile; // null: none

    private Settings(URI url, String service, String token, File offFile) {
        host = url.getHost().replaceAll("^\\[|\\]$", "");
        port = url.getPort() < 0 ? 80 : url.getPort();
        String rawPath = url.getRawPath() == null ? "" : url.getRawPath();
        path = rawPath.replaceAll("/+$", "");
        this.service = service;
        this.token = token;
        this.offFile = offFile;
    }

    /** Throws IllegalArgumentException or IOException with a sentence that can be shown. */
    public static Settings read() throws IOException {
        String text = variable("PYTHIA_URL", "http://127.0.0.1:4318");
        URI url = null;
        try {
            url = new URI(text);
        } catch (URISyntaxException why) {
            // it is as one without a host
        }
        if (url == null || !"http".equals(url.getScheme()) || url.getHost() == null) {
            throw new IllegalArgumentException(
                "PYTHIA_URL is '" + text + "'; only http://HOST:PORT is known");
        }
        String tokenFile = variable("PYTHIA_TOKEN_FILE", ""), token = "";
        if (!tokenFile.isEmpty()) {
            byte[] bytes = Files.readAllBytes(new File(tokenFile).toPath());
            token = new String(bytes, StandardCharsets.ISO_8859_1).trim();
        }
        String offFile = System.getenv("PYTHIA_OFF_FILE");
        if (offFile == null) {
            offFile = "/run/pythia/off";
        }
        return new Settings(url, variable("PYTHIA_SERVICE", ""), token,
            offFile.isEmpty() ? null : new File(offFile));
    }

    private static String variable(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }
}

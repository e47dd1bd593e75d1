// SPDX-License-Identifier: MIT
package pythia.gate.agent;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * As much HTTP/1.1 as it takes to ask pythiad, on a plain socket: the JDK's HTTP clients are
 * instrumented, and asking must not make spans.
 *
 * An answer has to be complete within TIMEOUT_MS. The socket's own timeouts end a read that waits,
 * but neither a write that blocks nor an answer that comes byte by byte: another thread calls
 * abortIfLate(), which closes the socket. One thread asks.
 */
final class Link {
    static final int TIMEOUT_MS = 2000;
    private static final int ANSWER_MAX = 8 << 20; // bytes
    private static final int HEAD_MAX = 65536; // bytes

    /** An answer; its body is empty if it has none. */
    static final class Answer {
        int status;
        String etag = "";
        byte[] body = {};
    }

    private final Settings settings;
    private volatile InetAddress address; // null: not known yet
    private volatile boolean isResolving;
    private volatile Socket socket;
    private volatile long deadlineNs;
    private volatile boolean isAsking;
    private InputStream input;

    Link(Settings settings) {
        this.settings = settings;
    }

    void close() {
        Socket old = socket;
        socket = null;
        if (old != null) {
            try {
                old.close();
            } catch (IOException why) {
                // nothing is lost
            }
        }
    }

    /** Break an exchange off that takes too long. Called by another thread. */
    void abortIfLate() {
        if (isAsking && System.nanoTime() - deadlineNs > 0) {
            close();
        }
    }

    Answer ask(String method, String query, String fields, byte[] body) throws IOException {
        deadlineNs = System.nanoTime() + TIMEOUT_MS * 1000000L;
        isAsking = true;
        boolean isComplete = false;
        try {
            byte[] request = encodeRequest(method, query, fields, body);
            Answer answer = exchange(request);
            isComplete = true;
            return answer;
        } finally {
            isAsking = false;
            if (!isComplete) {
                close();
            }
        }
    }

    private byte[] encodeRequest(String method, String query, String fields, byte[] body)
        throws IOException {
        StringBuilder head = new StringBuilder(method).append(' ').append(settings.path)
            .append("/v1/trace-points").append(query).append(" HTTP/1.1\r\nHost: ")
            .append(settings.host).append(':').append(settings.port).append("\r\n").append(fields);
        if (!settings.token.isEmpty()) {
            head.append("Authorization: Bearer ").append(settings.token).append("\r\n");
        }
        if (body.length > 0) {
            head.append("Content-Type: application/json\r\nContent-Length: ").append(body.length)
                .append("\r\n");
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
        out.write(body);
        return out.toByteArray();
    }

    /** A connection that the server has closed since the last exchange is replaced once. */
    private Answer exchange(byte[] request) throws IOException {
        if (socket != null) {
            try {
                sendAndAwait(request);
                return readAnswer();
            } catch (IOException why) {
                if (hasBegun || System.nanoTime() - deadlineNs > 0) {
                    throw why;
                }
                close();
            }
        }
        connect();
        sendAndAwait(request);
        return readAnswer();
    }

    private boolean hasBegun; // some of the answer has come

    private void sendAndAwait(byte[] request) throws IOException {
        hasBegun = false;
        Socket now = socket;
        if (now == null) {
            throw new IOException("the connection is closed");
        }
        now.setSoTimeout(leftMs());
        now.getOutputStream().write(request);
        input.mark(1);
        if (input.read() < 0) {
            throw new EOFException("the server has closed the connection");
        }
        input.reset();
        hasBegun = true;
    }

    private int leftMs() throws IOException {
        long left = (deadlineNs - System.nanoTime()) / 1000000;
        if (left <= 0) {
            throw new IOException("there is no answer in time");
        }
        return (int) left;
    }

    private void connect() throws IOException {
        InetAddress to = address;
        if (to == null) {
            resolve();
            to = address;
        }
        if (to == null) {
            throw new IOException("the name is not known yet");
        }
        Socket fresh = new Socket(Proxy.NO_PROXY);
        socket = fresh; // so that it can be aborted
        try {
            fresh.connect(new InetSocketAddress(to, settings.port), leftMs());
            fresh.setTcpNoDelay(true);
        } catch (IOException why) {
            address = null; // it may have changed
            throw why;
        }
        input = new BufferedInputStream(fresh.getInputStream(), HEAD_MAX);
    }

    /** Find the address. A thread of its own looks up a name, because that may take a minute. */
    private void resolve() throws IOException {
        if (settings.host.matches("[0-9.]+|.*:.*")) {
            address = InetAddress.getByName(settings.host);
        } else if (!isResolving) {
            isResolving = true;
            Agent.startThread("pythia-gate-name", this::lookUpName);
        }
    }

    private void lookUpName() {
        try {
            address = InetAddress.getByName(settings.host);
        } catch (IOException why) {
            Agent.sleep(TIMEOUT_MS); // before it may be tried again
        } finally {
            isResolving = false;
        }
    }

    // ---- answers ----

    private Answer readAnswer() throws IOException {
        int[] budget = {HEAD_MAX};
        String[] first = readLine(budget).split(" +", 3);
        if (first.length < 2 || !first[0].startsWith("HTTP/1.") || !first[1].matches("[0-9]{3}")) {
            throw new IOException("this is no HTTP");
        }
        Map<String, String> fields = new HashMap<>();
        String line;
        while (!(line = readLine(budget)).isEmpty()) {
            int colon = Math.max(line.indexOf(':'), 0);
            fields.put(line.substring(0, colon).trim().toLowerCase(Locale.ROOT),
                line.substring(colon + 1).trim());
        }
        Answer answer = new Answer();
        answer.status = Integer.parseInt(first[1]);
        answer.etag = fields.getOrDefault("etag", "");
        boolean isLast = first[0].equals("HTTP/1.0") || "close".equalsIgnoreCase(fields.get("connection"));
        if (answer.status == 304 || answer.status == 204) {
            answer.body = new byte[0];
        } else if ("chunked".equalsIgnoreCase(fields.get("transfer-encoding"))) {
            answer.body = readChunks();
        } else if (fields.containsKey("content-length")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            readBytes(lengthOf(fields.get("content-length"), 10), out);
            answer.body = out.toByteArray();
        } else {
            answer.body = readToEnd();
            isLast = true;
        }
        if (isLast) {
            close();
        }
        return answer;
    }

    private String readLine(int[] budget) throws IOException {
        StringBuilder line = new StringBuilder();
        int c;
        while ((c = input.read()) != '\n') {
            if (c < 0 || --budget[0] < 0) {
                throw new IOException("a line has no end, or the head is too large");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    private static int lengthOf(String text, int base) throws IOException {
        String digits = text.trim();
        if (!digits.matches("[0-9A-Fa-f]{1,15}")) {
            throw new IOException("this is no length");
        }
        try {
            long length = Long.parseLong(digits, base);
            if (length <= ANSWER_MAX) {
                return (int) length;
            }
        } catch (NumberFormatException why) {
            throw new IOException("this is no length");
        }
        throw new IOException("the answer is too large");
    }

    private void readBytes(int size, ByteArrayOutputStream out) throws IOException {
        byte[] piece = new byte[Math.min(size, HEAD_MAX)];
        for (int left = size; left > 0;) {
            int got = input.read(piece, 0, Math.min(left, piece.length));
            if (got < 0) {
                throw new EOFException("the answer is cut");
            }
            out.write(piece, 0, got);
            left -= got;
        }
    }

    private byte[] readChunks() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int size;
        while ((size = lengthOf(readLine(new int[] {HEAD_MAX}).split(";")[0], 16)) > 0) {
            if (out.size() + size > ANSWER_MAX) {
                throw new IOException("the answer is too large");
            }
            readBytes(size, out);
            readLine(new int[] {HEAD_MAX});
        }
        int[] budget = {HEAD_MAX};
        while (!readLine(budget).isEmpty()) {
            // fields after the body say nothing that is needed
        }
        return out.toByteArray();
    }

    private byte[] readToEnd() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] piece = new byte[HEAD_MAX];
        int got;
        while ((got = input.read(piece)) >= 0) {
            out.write(piece, 0, got);
            if (out.size() > ANSWER_MAX) {
                throw new IOException("the answer is too large");
            }
        }
        return out.toByteArray();
    }
}

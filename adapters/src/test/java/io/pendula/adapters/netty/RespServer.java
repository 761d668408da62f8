package io.pendula.adapters.netty;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * As much of a Redis server as a client needs: SET, GET and PING, in RESP 2. A GET of "silent" is never answered, one of
 * "hang up" ends the connection.
 */
final class RespServer implements AutoCloseable {
    private final ServerSocket listener;
    private final Map<String, String> values = new ConcurrentHashMap<>();
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    final AtomicInteger accepted = new AtomicInteger();

    RespServer() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start("resp-accept", this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = listener.accept();
                connections.add(connection);
                accepted.incrementAndGet();
                start("resp-connection", () -> serve(connection));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket connection) {
        try (connection) {
            InputStream in = new BufferedInputStream(connection.getInputStream());
            OutputStream out = connection.getOutputStream();
            for (String[] command = read(in); command != null; command = read(in)) {
                String answer = answer(command);
                if (answer == null) {
                    continue;
                }
                if (answer.isEmpty()) {
                    return;
                }
                out.write(answer.getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            // the client has gone, or the server is closed
        } finally {
            connections.remove(connection);
        }
    }

    /** Null for none, empty for the end of the connection. */
    private String answer(String[] command) {
        switch (command[0].toUpperCase()) {
            case "PING":
                return "+PONG\r\n";
            case "CLIENT", "SELECT":
                return "+OK\r\n";
            case "SET":
                values.put(command[1], command[2]);
                return "+OK\r\n";
            case "GET":
                switch (command[1]) {
                    case "silent":
                        return null;
                    case "hang up":
                        return "";
                    default:
                        String value = values.get(command[1]);
                        return value == null ? "$-1\r\n"
                                : "$" + value.getBytes(StandardCharsets.UTF_8).length + "\r\n" + value + "\r\n";
                }
            default:
                return "-ERR unknown command '" + command[0] + "'\r\n";
        }
    }

    /** An array of bulk strings; null at the end of the stream. */
    private static String[] read(InputStream in) throws IOException {
        String head = line(in);
        if (head == null) {
            return null;
        }
        String[] words = new String[number(head, '*')];
        for (int i = 0; i < words.length; i++) {
            byte[] bytes = in.readNBytes(number(line(in), '$'));
            words[i] = new String(bytes, StandardCharsets.UTF_8);
            line(in);
        }
        return words;
    }

    private static int number(String line, char kind) throws IOException {
        if (line == null || line.isEmpty() || line.charAt(0) != kind) {
            throw new IOException("expected " + kind + ", but read " + line);
        }
        return Integer.parseInt(line.substring(1));
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                return null;
            }
            if (b != '\r') {
                text.append((char) b);
            }
        }
        return text.toString();
    }

    void hangUp() throws IOException {
        for (Socket connection : connections) {
            connection.close();
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        hangUp();
    }
}

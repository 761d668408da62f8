package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.eclipse.paho.client.mqttv3.MqttAsyncClient;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.MqttException;
import org.eclipse.paho.client.mqttv3.ScheduledExecutorPingSender;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Paho's pings, and that it notices a broker that no longer answers them. */
class PahoTest {
    /** Paho sends a ping when the line has been silent for the time to keep alive, less 100 ms. */
    private static final long EARLIEST = 900;

    /** As much of MQTT 3.1.1 as a client needs that only stays connected. Answers so many pings of each connection. */
    private static final class Broker implements AutoCloseable {
        final Queue<Long> pings = new ConcurrentLinkedQueue<>();
        private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final ExecutorService threads = Executors.newCachedThreadPool();

        Broker(int answered) throws IOException {
            threads.submit(() -> {
                while (true) {
                    Socket socket = server.accept();
                    threads.submit(() -> serve(socket, answered));
                }
            });
        }

        private Void serve(Socket socket, int answered) throws IOException {
            try (socket; DataInputStream in = new DataInputStream(socket.getInputStream())) {
                for (int answers = 0;;) {
                    int type = in.readUnsignedByte() >> 4;
                    in.skipNBytes(in.readUnsignedByte()); // one byte of length will do for these clients
                    if (type == 1) { // CONNECT
                        socket.getOutputStream().write(new byte[] {0x20, 2, 0, 0});
                    } else if (type == 12) { // PINGREQ
                        pings.add(System.nanoTime());
                        if (answers++ < answered) {
                            socket.getOutputStream().write(new byte[] {(byte) 0xD0, 0});
                        }
                    }
                }
            }
        }

        MqttAsyncClient connect(String id, int keepAlive, ScheduledExecutorService executor) throws MqttException {
            String uri = "tcp://localhost:" + server.getLocalPort();
            MqttAsyncClient client = new MqttAsyncClient(uri, id, null, new ScheduledExecutorPingSender(executor));
            MqttConnectOptions options = new MqttConnectOptions();
            options.setKeepAliveInterval(keepAlive);
            client.connect(options).waitForCompletion(Patience.SECONDS * 1_000);
            return client;
        }

        @Override
        public void close() throws IOException {
            server.close();
            threads.shutdownNow();
        }
    }

    /** 50 connections that are kept alive for four seconds, by a ping each second. */
    static void keepAlive(ScheduledExecutorService executor) throws Exception {
        try (Broker broker = new Broker(Integer.MAX_VALUE)) {
            List<MqttAsyncClient> clients = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                clients.add(broker.connect("client-" + i, 1, executor));
            }
            Patience.until("four pings of each", () -> broker.pings.size() >= 200);
            for (MqttAsyncClient client : clients) {
                client.disconnect().waitForCompletion(Patience.SECONDS * 1_000);
                client.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void pings_keepTheConnection_untilOneHasNoAnswer(ExecutorKind kind) throws Exception {
        try (Subject subject = kind.open(1); Broker broker = new Broker(1)) {
            long start = System.nanoTime();
            MqttAsyncClient client = broker.connect("silent", 1, subject.executor);
            Patience.until("disconnected, as the second has no answer", () -> !client.isConnected());
            Patience.assertElapsed(3 * EARLIEST, start, System.nanoTime());
            assertEquals(2, broker.pings.size());
            Patience.assertElapsed(EARLIEST, start, broker.pings.remove());
            Patience.assertElapsed(2 * EARLIEST, start, broker.pings.remove());
            client.close();
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void disconnect_takesThePingBack(ExecutorKind kind) throws Exception {
        try (Subject subject = kind.open(1); Broker broker = new Broker(0)) {
            MqttAsyncClient client = broker.connect("brief", 60, subject.executor);
            client.disconnect().waitForCompletion(Patience.SECONDS * 1_000);
            client.close();
            subject.assertLeftRunning(0);
        }
    }
}

package io.pendula.clients;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.keyverifier.AcceptAllServerKeyVerifier;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.auth.password.AcceptAllPasswordAuthenticator;
import org.apache.sshd.server.keyprovider.SimpleGeneratorHostKeyProvider;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** MINA SSHD with both ends in this process and one executor for time-outs and heartbeats; it does not shut it down. */
class SshdTest {
    private static final long IDLE = 1_500;
    private static final long AUTH = 200;

    private static final class Ssh implements AutoCloseable {
        final SshServer server = SshServer.setUpDefaultServer();
        final SshClient client = SshClient.setUpDefaultClient();

        Ssh(ScheduledExecutorService executor) throws IOException {
            SimpleGeneratorHostKeyProvider key = new SimpleGeneratorHostKeyProvider();
            key.setAlgorithm("EC");
            key.setKeySize(256);
            server.setKeyPairProvider(key);
            server.setHost("localhost");
            server.setPasswordAuthenticator(AcceptAllPasswordAuthenticator.INSTANCE);
            server.setScheduledExecutorService(executor);
            server.start();
            client.setServerKeyVerifier(AcceptAllServerKeyVerifier.INSTANCE);
            client.setScheduledExecutorService(executor);
            client.start();
        }

        ClientSession connect() throws IOException {
            return client.connect("user", "localhost", server.getPort()).verify(Patience.SECONDS, TimeUnit.SECONDS)
                    .getSession();
        }

        ClientSession logIn(Duration heartbeat) throws IOException {
            CoreModuleProperties.HEARTBEAT_INTERVAL.set(client, heartbeat); // zero means none
            ClientSession session = connect();
            session.addPasswordIdentity("password");
            session.auth().verify(Patience.SECONDS, TimeUnit.SECONDS);
            return session;
        }

        @Override
        public void close() throws IOException {
            client.stop();
            server.stop();
        }
    }

    /** Ten sessions, with a heartbeat every 5 ms for two seconds: 4,000 of them, each encrypted and decrypted. */
    static void beat(ScheduledExecutorService executor) throws IOException {
        try (Ssh ssh = new Ssh(executor)) {
            for (int i = 0; i < 10; i++) {
                ssh.logIn(Duration.ofMillis(5));
            }
            Patience.get(executor.schedule(() -> "over", 2, TimeUnit.SECONDS));
        }
    }

    /** Returns the instant, as soon as the server has closed it. */
    private static long awaitClosed(ClientSession session) {
        session.waitFor(EnumSet.of(ClientSession.ClientSessionEvent.CLOSED), Duration.ofSeconds(Patience.SECONDS));
        assertTrue(session.isClosed());
        return System.nanoTime();
    }

    @ParameterizedTest
    @EnumSource
    void idleTimeout_endsASession_unlessItHasAHeartbeat(ExecutorKind kind) throws IOException {
        try (Subject subject = kind.open(2)) {
            try (Ssh ssh = new Ssh(subject.executor)) {
                CoreModuleProperties.IDLE_TIMEOUT.set(ssh.server, Duration.ofMillis(IDLE));
                ClientSession beating = ssh.logIn(Duration.ofMillis(50));
                long start = System.nanoTime();
                ClientSession idle = ssh.logIn(Duration.ZERO);
                Patience.assertElapsed(IDLE, start, awaitClosed(idle));
                assertTrue(beating.isOpen());
            }
            subject.assertLeftRunning(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void authTimeout_endsASessionThatDoesNotLogIn(ExecutorKind kind) throws IOException {
        try (Subject subject = kind.open(2)) {
            try (Ssh ssh = new Ssh(subject.executor)) {
                ClientSession in = ssh.logIn(Duration.ZERO);
                CoreModuleProperties.AUTH_TIMEOUT.set(ssh.server, Duration.ofMillis(AUTH));
                long start = System.nanoTime();
                ClientSession out = ssh.connect();
                Patience.assertElapsed(AUTH, start, awaitClosed(out));
                assertTrue(in.isOpen());
            }
            subject.assertLeftRunning(0);
        }
    }
}

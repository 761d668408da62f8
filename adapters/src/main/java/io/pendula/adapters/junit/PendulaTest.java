package io.pendula.adapters.junit;

import io.pendula.ManualClock;
import io.pendula.TimerScheduler;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives each test a {@link ManualClock} and a {@link TimerScheduler} on that clock, and fails a test that leaves a timer
 * behind or whose callbacks throw.
 *
 * <pre>{@code
 * @PendulaTest
 * class SessionTest {
 *     @Test
 *     void session_unused_expires(ManualClock clock, TimerScheduler timers) {
 *         Session session = new Session(timers, Duration.ofMinutes(30));
 *         clock.advance(Duration.ofMinutes(30));
 *         assertTrue(session.isExpired());
 *     }
 * }
 * }</pre>
 *
 * <p>Test methods, methods with {@code @BeforeEach} and {@code @AfterEach}, and constructors may have parameters of
 * these types. Within one test they are the same objects; other tests have other objects, even if they run in parallel.
 * They are not available for a whole class: not in {@code @BeforeAll}, nor in the constructor of a class with one
 * instance for all tests.
 *
 * <p>After the {@code @AfterEach} methods, the test fails
 * <ul>
 * <li>if a callback of the scheduler threw; its exception is the cause. Exceptions of futures do not count;
 * <li>if a timer, ticker or task of the scheduler is still pending. The message names up to ten. This is not checked if
 *     the test has failed already.
 * </ul>
 * Then the scheduler is closed. To allow exceptions or pending timers, set {@link #allowThrowing} or
 * {@link #allowPending} on the method or on the class. The annotation of a method replaces that of its class.
 *
 * <p>Needs JUnit 5.12 or newer, or JUnit 6.
 *
 * @since 0.1
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(PendulaExtension.class)
public @interface PendulaTest {
    /** {@return whether timers may be pending when a test ends} */
    boolean allowPending() default false;

    /** {@return whether callbacks may throw} */
    boolean allowThrowing() default false;
}

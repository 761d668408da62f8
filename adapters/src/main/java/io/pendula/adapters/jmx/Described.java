package io.pendula.adapters.jmx;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/**
 * Describes an attribute or operation of {@link TimerSchedulerMXBean}, for consoles. JMX puts it into the descriptor;
 * it is public because JMX must be able to read it.
 *
 * @since 0.1
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Described {
    /** {@return the description of the attribute or operation} */
    @DescriptorKey("description")
    String value();

    /** {@return the unit of the attribute, for example {@code ms}; empty if it has none} */
    @DescriptorKey("units")
    String unit() default "";
}

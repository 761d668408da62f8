package io.pendula.adapters.jmx;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/**
 * What a console shows beside an attribute or operation of {@link TimerSchedulerMXBean}. JMX puts it into the descriptor;
 * it is public, as JMX must be able to read it.
 *
 * @since 0.1
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Described {
    /** {@return what the attribute or operation tells} */
    @DescriptorKey("description")
    String value();

    /** {@return the unit of the attribute, as {@code ms}; empty if it has none} */
    @DescriptorKey("units")
    String unit() default "";
}

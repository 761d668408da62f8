package io.pendula.search;

import io.pendula.RewritingLoader;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.ClassNode;

/** Loads the library's classes once more, rewritten so that a search decides in which order threads go on. */
final class SearchLoader extends RewritingLoader {
    private static final String ENGINE = "io.pendula.search.";

    private final List<Fault> faults;
    private final Map<String, ClassNode> read = new HashMap<>();
    private final List<Class<?>> defined = new ArrayList<>();

    SearchLoader(Fault... faults) {
        setDefaultAssertionStatus(true);
        this.faults = Arrays.asList(faults);
    }

    Program program(String className, Object spec) {
        try {
            return (Program) loadClass(className).getConstructor(Object.class).newInstance(spec);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(className, e);
        }
    }

    @Override
    protected boolean isOwn(String name) {
        return !name.startsWith(ENGINE);
    }

    @Override
    protected byte[] rewritten(ClassNode node) {
        for (Fault f : faults) {
            f.plantIn(node);
        }
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        new Rewriter(this::ofTheLibrary).rewrite(node).accept(writer);
        return writer.toByteArray();
    }

    @Override
    protected void defined(Class<?> c) {
        defined.add(c);
    }

    /** As it was compiled; null if it is none of the library's. */
    private ClassNode ofTheLibrary(String internalName) {
        return internalName.startsWith("io/pendula/") ? read.computeIfAbsent(internalName, RewritingLoader::read) : null;
    }

    /** The library's own objects that outlive an execution, in a fixed order. */
    List<Object> statics() {
        List<Class<?>> classes = new ArrayList<>(defined);
        classes.sort(Comparator.comparing(Class::getName));
        List<Object> all = new ArrayList<>();
        for (Class<?> c : classes) {
            Field[] fields = c.getDeclaredFields();
            Arrays.sort(fields, Comparator.comparing(Field::getName));
            for (Field f : fields) {
                if (Modifier.isStatic(f.getModifiers()) && !f.getType().isPrimitive()) {
                    addValue(f, all);
                }
            }
        }
        return all;
    }

    private void addValue(Field f, List<Object> all) {
        try {
            f.setAccessible(true);
            Object value = f.get(null);
            if (value != null && value.getClass().getClassLoader() == this) {
                all.add(value);
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}

package io.pendula.search;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.ClassNode;

/** Loads the library's classes once more, rewritten so that a search decides in which order threads go on. */
final class SearchLoader extends ClassLoader {
    private static final String LIBRARY = "io.pendula.";
    private static final String ENGINE = "io.pendula.search.";

    private final List<Fault> faults;
    private final Map<String, ClassNode> read = new HashMap<>();
    private final List<Class<?>> defined = new ArrayList<>();

    SearchLoader(Fault... faults) {
        super(SearchLoader.class.getClassLoader());
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
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(LIBRARY) || name.startsWith(ENGINE)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            return c != null ? c : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        ClassNode node = read(name.replace('.', '/'));
        if (node == null) {
            throw new ClassNotFoundException(name);
        }
        for (Fault f : faults) {
            f.plantIn(node);
        }
        ClassNode rewritten = new Rewriter(this::read).rewrite(node);
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        rewritten.accept(writer);
        byte[] bytes = writer.toByteArray();
        Class<?> c = defineClass(name, bytes, 0, bytes.length);
        defined.add(c);
        return c;
    }

    /** As it was compiled, but for faults; null if it is none of the library's. */
    private ClassNode read(String internalName) {
        if (!internalName.startsWith("io/pendula/")) {
            return null;
        }
        return read.computeIfAbsent(internalName, n -> {
            try (InputStream in = getParent().getResourceAsStream(n + ".class")) {
                if (in == null) {
                    return null;
                }
                ClassNode node = new ClassNode();
                new ClassReader(in).accept(node, 0);
                return node;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
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

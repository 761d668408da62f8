package io.pendula.lines;

import java.io.IOException;
import java.io.InputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.ClassNode;

/**
 * Loads the library's classes once more, rewritten so that each access of a field or an array is counted; and, as they are,
 * those that count.
 */
final class LineLoader extends ClassLoader {
    private static final String LIBRARY = "io.pendula.";
    private static final String COUNTING = "io.pendula.lines.";

    LineLoader() {
        super(LineLoader.class.getClassLoader());
        setDefaultAssertionStatus(false); // what they read is not part of an operation
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(LIBRARY) || name.equals(LineLoader.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            return c != null ? c : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            ClassNode node = new ClassNode();
            new ClassReader(in).accept(node, 0);
            if (!name.startsWith(COUNTING)) {
                new LineRewriter(node).rewrite();
            }
            ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
            node.accept(writer);
            byte[] bytes = writer.toByteArray();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}

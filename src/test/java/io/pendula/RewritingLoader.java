package io.pendula;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;

/** Loads classes of the library once more, rewritten. */
public abstract class RewritingLoader extends ClassLoader {
    protected RewritingLoader() {
        super(RewritingLoader.class.getClassLoader());
    }

    /** As it was compiled; null if there is none. {@code internalName}: as in class files. */
    public static ClassNode read(String internalName) {
        try (InputStream in = RewritingLoader.class.getResourceAsStream("/" + internalName + ".class")) {
            if (in == null) {
                return null;
            }
            ClassNode node = new ClassNode();
            new ClassReader(in).accept(node, 0);
            return node;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether it is loaded once more; of classes of the library or its tests. */
    protected abstract boolean isOwn(String name);

    /** Its class file, rewritten. */
    protected abstract byte[] rewritten(ClassNode node);

    @Override
    protected final Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith("io.pendula.") || !isOwn(name)) {
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
        byte[] bytes = rewritten(node);
        Class<?> c = defineClass(name, bytes, 0, bytes.length, getClass().getProtectionDomain());
        defined(c);
        return c;
    }

    protected void defined(Class<?> c) {}
}

package io.pendula.lines;

import io.pendula.RewritingLoader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.ClassNode;

/**
 * Loads the library's classes once more, rewritten so that each access of a field or an array is counted; and, as they are,
 * those that count.
 */
final class LineLoader extends RewritingLoader {
    LineLoader() {
        setDefaultAssertionStatus(false); // what they read is not part of an operation
    }

    @Override
    protected boolean isOwn(String name) {
        return !name.equals(LineLoader.class.getName());
    }

    @Override
    protected byte[] rewritten(ClassNode node) {
        if (!node.name.startsWith("io/pendula/lines/")) {
            new LineRewriter(node).rewrite();
        }
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        node.accept(writer);
        return writer.toByteArray();
    }
}

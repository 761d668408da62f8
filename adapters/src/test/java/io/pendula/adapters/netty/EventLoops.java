package io.pendula.adapters.netty;

import io.netty.channel.EventLoopGroup;

/** Groups of event loops for sockets, made as the Netty on the class path wants it. */
public final class EventLoops {
    private EventLoops() {}

    public static EventLoopGroup group(int threads) {
        return areNew() ? New.group(threads) : Old.group(threads);
    }

    /** Whether they are those of Netty 4.2. */
    static boolean areNew() {
        try {
            Class.forName("io.netty.channel.IoHandlerFactory");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** 4.1. All tasks that there are run before it looks at its sockets. */
    @SuppressWarnings("deprecation") // by 4.2
    private static final class Old {
        private static EventLoopGroup group(int threads) {
            var group = new io.netty.channel.nio.NioEventLoopGroup(threads);
            group.setIoRatio(100);
            return group;
        }
    }

    /** 4.2. */
    private static final class New {
        private static EventLoopGroup group(int threads) {
            return new io.netty.channel.MultiThreadIoEventLoopGroup(threads,
                    io.netty.channel.nio.NioIoHandler.newFactory());
        }
    }
}

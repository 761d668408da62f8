package io.pendula.internal.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pendula.Fixtures;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is entered and not taken out is found, however much that is. */
class PostsTest {
    private final Posts posts = new Posts();

    private Set<TimerNode> found() {
        List<TimerNode> all = new ArrayList<>();
        posts.forEach(all::add);
        Set<TimerNode> distinct = new HashSet<>(all);
        assertEquals(all.size(), distinct.size());
        return distinct;
    }

    private List<TimerNode> timers(int n) {
        List<TimerNode> timers = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            timers.add(new TimerNode(() -> {}) {});
        }
        return timers;
    }

    /** A wakeup hook, say, may reset timers inside a reset. */
    @Test
    void enter_manyTimesByOneThread_allAreFoundUntilTheyLeave() {
        List<TimerNode> timers = timers(40);
        List<Integer> places = new ArrayList<>();
        for (TimerNode t : timers) {
            places.add(posts.enter(t));
        }
        assertEquals(new HashSet<>(timers), found());
        for (int i = 39; i >= 0; i--) {
            posts.leave(places.get(i), timers.get(i));
            assertEquals(new HashSet<>(timers.subList(0, i)), found());
        }
    }

    /** Thrice, so that what was taken out leaves its place to others. */
    @Test
    void takeIf_someOfManyOfOneThread_leavesTheOthers() {
        List<TimerNode> left = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            List<TimerNode> timers = timers(40);
            timers.forEach(posts::enter);
            Set<TimerNode> taken = new HashSet<>();
            for (int i = 0; i < 40; i++) {
                if (i % 3 == 0) {
                    left.add(timers.get(i));
                } else {
                    taken.add(timers.get(i));
                }
            }
            posts.takeIf(taken::contains);
            assertEquals(new HashSet<>(left), found());
        }
    }

    @Test
    void enter_moreThreadsThanPlaces_allAreFound() throws InterruptedException {
        List<TimerNode> timers = timers(40);
        int[] places = new int[40];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int n = i;
            threads.add(new Thread(() -> places[n] = posts.enter(timers.get(n))));
        }
        threads.forEach(Thread::start);
        for (Thread t : threads) {
            Fixtures.join(t);
        }
        assertEquals(new HashSet<>(timers), found());
        for (int i = 0; i < 40; i++) {
            posts.leave(places[i], timers.get(i));
        }
        assertEquals(Set.of(), found());
    }
}

/**
 * One queue and the timers in it. This package knows neither schedulers nor the threads that run them. Methods take the
 * time as an argument. They read a clock only for a ticker's next tick, a memory shortage, a close, statistics, and a wait
 * for the end of a run.
 * Begin with {@link io.pendula.internal.queue.TimerQueue}.
 */
package io.pendula.internal.queue;

/*
 * Overview
 *
 * The thread that arms a timer pushes it to the Inbox. The owner of the queue drains the inbox (InboxDrainer). It drops
 * timers that were stopped meanwhile, and files the others in the TimerHeap, a heap of blocks. New entries go to the
 * youngest block. When a timer is due, the owner or a helper claims it (DueTimers), runs it, and ends the run
 * (TimerQueue.endRun). Before the owner sleeps, it publishes at its WakeGate when it will check again. A thread that arms
 * an earlier timer calls the owner. A stop leaves a stale entry, and so does bringing a timer forward. The Compactor
 * makes the TimerHeap drop stale entries, block by block. On a close, the QueueCloser collects the armed timers.
 *
 * Ground rules
 *
 * 1. An armed timer that is not running is in one of four places. It is on its way to the inbox in the thread that
 *    armed it, in the inbox, in an InboxDrainer list, or in the TimerHeap. In the heap the key of its entry is its
 *    deadline (WAITING) or not later (MODIFIED_LATER). All other entries are stale. A stale entry is dropped when it
 *    reaches the top, or by a sweep. No operation on a timer scans all entries.
 * 2. A timer that is brought forward leaves its old entry behind, and may return to that entry's key. So each entry has
 *    a number, and the timer notes the number of its newest entry. That entry is live while the timer is filed. All other
 *    entries of the timer are stale.
 * 3. The thread that makes an entry stale counts it at that transition. A drain that counted later would count some
 *    entries twice.
 * 4. The heap grows before a word changes, so running out of memory leaves each timer as it was. A timer for which the
 *    heap has no room is parked. Other threads treat it as if it were in the inbox.
 * 5. No callback runs, and no thread is woken, while the lock is held.
 * 6. A thread that arms, stops or resets only tries the lock. There are two exceptions: a queue with a manual clock, and
 *    a closed queue. Owners, a close, and readers of statistics may wait for the lock. One hold sweeps at most two chunks
 *    of entries, or copies one block. It files all arrived timers, and a claim cleans all due entries before its timer.
 *    Only a close may take longer.
 *
 * Who may touch what
 *
 * field        written by                            read by                          mode
 * node.word    anyone, by CAS                        anyone                           volatile
 * node.next    its pusher before the push; drain     drain                            plain, ordered by the inbox's CAS
 * node.entry   lock holder                           lock holder                      plain
 * node.task    constructor; after their CAS cancel,  before their CAS claim, stop,    plain
 *              abort and the end of a task           reset
 * Inbox
 *   head       pushers (CAS); drain, close (swap)    anyone                           volatile
 *   depth      pushers, drain                        arming threads                   lazySet, a hint
 *   resetting  resets, around a change and its push  close                            volatile read-modify-write
 *   arrivals   pushers (CAS); drain (CAS)            pushers, workers; under the lock volatile
 *                                                    a loop and the StallWatch
 * WakeGate
 *   lookAt     poller, under the lock of Standby; a  arming threads, owner            volatile
 *              loop, under the queue's or without;
 *              arming threads (CAS to AWAKE; NEVER
 *              if the hook throws); close
 *   owner      who makes the queue; close            wakers, workers, monitor         volatile
 * Compactor
 *   counts     any thread that counts                any thread                       volatile read-modify-write
 *   bound, isUnderWay
 *              lock holder                           threads that make entries stale; volatile
 *                                                    the owner before it sleeps
 * HoldLock.scarce
 *              lock holder                           threads that arm or lock         volatile
 * InboxDrainer.unreported
 *              lock holder; owner (clears)           owner                            volatile
 * QueueCloser
 *   closed     close                                 resets, owners                   volatile
 * DueTimers.nextWhen
 *              lock holder                           workers                          lazySet, see WakeGate
 * TimerQueue.awaiters, RunAwaiter.next
 *              threads that wait, under the monitor  ends of runs                     volatile
 *              of the queue
 * TimerQueue.resets, Compactor.foldedStops
 *              any thread                            any thread                       classes of java.util.concurrent
 * all else     lock holder                           lock holder; some as a hint      plain
 *
 * docs/internals/memory-modes.md lists the hints, and justifies each access that is weaker than volatile.
 *
 * Locks: a queue's lock is the innermost lock, and no thread holds two of them. A thread enters its RunAwaiter under the
 * monitor of the TimerQueue, while it holds no queue's lock. WakeGate proves that no wake-up is lost. QueueCloser proves
 * that a close misses no armed timer.
 */

package io.pendula.internal.queue;

/**
 * Makes sure that the calling thread has some stack left. An application's thread that polls a loop, advances a clock
 * or helps to drain may be deep in its own calls; if its stack ended in the middle of a claim or of a change of the
 * heap, that would stay half done. A thread that lacks the stack gets its StackOverflowError here, before anything has
 * changed.
 */
public final class StackRoom {
    /*
     * A frame has room for all local variables of its method, and for the arguments of every call that the method may
     * make. So variables and a call that are hardly ever reached make the frames large, and cost next to nothing; to
     * write so many bytes at each visit would cost ten times as much. The call is made once in some hundred visits, so
     * that the compiler does not leave it out.
     */

    /** So many large frames: of about a kilobyte each, in compiled and in interpreted code. */
    private static final int FRAMES = 6;

    private StackRoom() {}

    /** Where it is called seldom: this always makes the call, and takes a microsecond. */
    public static void check() {
        check(0);
    }

    /** {@code turn}: any number that changes from call to call. */
    public static void check(int turn) {
        descend(FRAMES, turn);
    }

    private static long descend(int frames, int turn) {
        long sum = frames;
        if (turn * 0x9E3779B9 >>> 24 == 0) { // the product spreads turns of any stride
            long a0 = turn, a1 = 0, a2 = 0, a3 = 0, a4 = 0, a5 = 0, a6 = 0, a7 = 0, a8 = 0, a9 = 0, a10 = 0, a11 = 0,
            a12 = 0, a13 = 0, a14 = 0, a15 = 0, a16 = 0, a17 = 0, a18 = 0, a19 = 0, a20 = 0, a21 = 0, a22 = 0,
            a23 = 0, a24 = 0, a25 = 0, a26 = 0, a27 = 0, a28 = 0, a29 = 0, a30 = 0, a31 = 0, a32 = 0, a33 = 0,
            a34 = 0, a35 = 0, a36 = 0, a37 = 0, a38 = 0, a39 = 0, a40 = 0, a41 = 0, a42 = 0, a43 = 0, a44 = 0,
            a45 = 0, a46 = 0, a47 = 0, a48 = 0, a49 = 0, a50 = 0, a51 = 0, a52 = 0, a53 = 0, a54 = 0, a55 = 0,
            a56 = 0, a57 = 0, a58 = 0, a59 = 0, a60 = 0, a61 = 0, a62 = 0, a63 = 0, a64 = 0, a65 = 0, a66 = 0,
            a67 = 0, a68 = 0, a69 = 0, a70 = 0, a71 = 0, a72 = 0, a73 = 0, a74 = 0, a75 = 0, a76 = 0, a77 = 0,
            a78 = 0, a79 = 0;
            sum = large(1,
                    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
                    a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39,
                    a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58,
                    a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77,
                    a78, a79);
        }
        return frames == 0 ? sum : descend(frames - 1, turn) + sum;
    }

    /** Too large to be merged with its caller. */
    private static long large(int n,
            long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9, long a10,
            long a11, long a12, long a13, long a14, long a15, long a16, long a17, long a18, long a19, long a20,
            long a21, long a22, long a23, long a24, long a25, long a26, long a27, long a28, long a29, long a30,
            long a31, long a32, long a33, long a34, long a35, long a36, long a37, long a38, long a39, long a40,
            long a41, long a42, long a43, long a44, long a45, long a46, long a47, long a48, long a49, long a50,
            long a51, long a52, long a53, long a54, long a55, long a56, long a57, long a58, long a59, long a60,
            long a61, long a62, long a63, long a64, long a65, long a66, long a67, long a68, long a69, long a70,
            long a71, long a72, long a73, long a74, long a75, long a76, long a77, long a78, long a79) {
        return n == 0
                ? a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15 + a16 + a17 +
                a18 + a19 + a20 + a21 + a22 + a23 + a24 + a25 + a26 + a27 + a28 + a29 + a30 + a31 + a32 + a33 + a34 +
                a35 + a36 + a37 + a38 + a39 + a40 + a41 + a42 + a43 + a44 + a45 + a46 + a47 + a48 + a49 + a50 + a51 +
                a52 + a53 + a54 + a55 + a56 + a57 + a58 + a59 + a60 + a61 + a62 + a63 + a64 + a65 + a66 + a67 + a68 +
                a69 + a70 + a71 + a72 + a73 + a74 + a75 + a76 + a77 + a78 + a79
                : large(n - 1,
                a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21,
                a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41,
                a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61,
                a62, a63, a64, a65, a66, a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79);
    }
}

// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that share a pool, a queue, a monitor and a lock; garbage enough for collections; prints what came out.
 * An argument is how often all of it is done (1).
 */
public class Pool {
  static final int THREADS = 8;
  static final Object MONITOR = new Object();
  static final ReentrantLock LOCK = new ReentrantLock();
  static long byMonitor;
  static long byLock;

  static long work(int seed) {
    long sum = 0;
    List<byte[]> garbage = new ArrayList<>();
    for (int i = 0; i < 200; ++i) {
      garbage.add(new byte[10_000]);
      sum += seed * (long) i;
      synchronized (MONITOR) {
        ++byMonitor;
      }
      LOCK.lock();
      try {
        ++byLock;
      } finally {
        LOCK.unlock();
      }
    }
    return sum + garbage.size();
  }

  static long byPool() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    List<Future<Long>> answers = new ArrayList<>();
    for (int i = 0; i < 400; ++i) {
      int seed = i;
      answers.add(pool.submit(() -> work(seed)));
    }
    long sum = 0;
    for (Future<Long> one : answers) sum += one.get();
    pool.shutdown();
    return sum;
  }

  static long byQueue() throws Exception {
    BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
    long[] sums = new long[THREADS];
    Thread[] threads = new Thread[THREADS];
    for (int t = 0; t < THREADS; ++t) {
      int me = t;
      threads[t] = new Thread(() -> {
        try {
          for (int item = queue.take(); item >= 0; item = queue.take()) sums[me] += item;
        } catch (InterruptedException stop) {
          sums[me] = -1;
        }
      });
      threads[t].start();
    }
    for (int i = 0; i < 20_000; ++i) queue.put(i);
    for (int t = 0; t < THREADS; ++t) queue.put(-1);
    long sum = 0;
    for (int t = 0; t < THREADS; ++t) {
      threads[t].join();
      sum += sums[t];
    }
    return sum;
  }

  public static void main(String[] arguments) throws Exception {
    int times = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1;
    for (int i = 0; i < times; ++i) {
      System.out.println("pool " + byPool() + ", monitor " + byMonitor + ", lock " + byLock);
      System.out.println("queue " + byQueue());
    }
  }
}
